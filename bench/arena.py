"""Asks methods the same questions about the same gists, keeps the replay of every answer, and counts the right ones.

A person has the files: exported readings (one, or several that are asked together), and questions as a JSON list of
{"question", "answer", "kind"}. The model is the settings' (READAGENT_BASE_URL, READAGENT_MODEL).

    python -m bench.arena ask OUT --readings a.json [b.json …] --questions q.json --methods recall read-agent-p:3
    python -m bench.arena judge OUT          # writes OUT/verdicts.json with the answers that have no verdict yet
    python -m bench.arena report OUT         # the table, paired differences with intervals, OUT/replays.html

``ask`` keeps each answer's events in OUT/METHOD/NUMBER.json and asks nothing twice. ``judge`` puts answer and key side
by side; whoever judges sets "right" to true or false and does not see which method answered. ``report`` counts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from typing import Any

import readagent_core as ra
from bench.zoom import Store
from readagent_core.answering.ask import ask
from readagent_core.answering.base import (
    Answered,
    AskSettings,
    Event,
    ModelCall,
    Question,
    event_from_dict,
    event_to_dict,
)
from readagent_core.answering.resources import Resources
from readagent_core.answering.shelf import AskedShelf
from readagent_core.cancel import CancelToken
from readagent_core.evaluation.arms import parse
from readagent_core.evaluation.scores import mcnemar, randomization, share
from readagent_core.incoming.opening import import_gisting
from readagent_core.memory import GistMemory


def memories(paths: Sequence[Path]) -> list[GistMemory]:
    return [import_gisting(path.read_bytes())[1] for path in paths]


def ask_all(out: Path, books: Sequence[GistMemory], rows: Sequence[Mapping[str, Any]], arm: str, at_once: int) -> None:
    """Ask every question that has no stored answer by the method ``arm``, several at once."""
    model = ra.get_model()
    chosen = parse(arm, AskSettings())
    folder = out / arm.replace(":", "_")
    folder.mkdir(parents=True, exist_ok=True)
    resources = Resources(artifacts=Store(), connections=at_once)  # gists of parts are made once for all questions

    def one(number: int) -> None:
        file = folder / f"{number:03}.json"
        if file.exists():
            return
        row = rows[number]
        question = Question(row["question"], tuple(row.get("options", ())))
        about = AskedShelf(books) if len(books) > 1 else books[0]
        settings = chosen.settings_within_words()
        named: dict[str, Any] = {"method": chosen.method, "settings": settings, "resources": resources}
        events = list(ask(question, about, model, CancelToken(), **named))
        stored = {"arm": arm, **row, "events": [event_to_dict(event) for event in events]}
        file.write_text(json.dumps(stored, ensure_ascii=False))
        print(arm, number, f"{words_sent(events):,} words", flush=True)

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, range(len(rows))))


def answers(out: Path) -> Iterator[tuple[str, str, dict[str, Any], list[Event]]]:
    """Yield (arm, number, stored answer, its events) of every answer."""
    for file in sorted(out.glob("*/*.json")):
        stored = json.loads(file.read_text())
        yield stored["arm"], file.stem, stored, [event_from_dict(event) for event in stored["events"]]


def words_sent(events: Sequence[Event]) -> int:
    """Return the words of every call of an answer, also of those that made gists of parts for it."""
    used = next(event.answer.usage for event in reversed(events) if isinstance(event, Answered))
    return used.words_in + used.saved_words_in


def text_of(events: Sequence[Event]) -> str:
    return next((event.answer.text for event in reversed(events) if isinstance(event, Answered)), "")


def judge(out: Path) -> None:
    """Write OUT/verdicts.json: what is judged already, and every other answer with "right": null, in mixed order."""
    file = out / "verdicts.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    for _, _, stored, events in answers(out):
        text = text_of(events)
        key = hashlib.sha256(f"{stored['question']}\n{text}".encode()).hexdigest()[:16]
        known.setdefault(key, {"question": stored["question"], "key": stored["answer"], "said": text, "right": None})
    ordered = dict(sorted(known.items(), key=lambda row: (row[1]["right"] is not None, row[1]["question"], row[0])))
    file.write_text(json.dumps(ordered, ensure_ascii=False, indent=1))
    print(f"{sum(row['right'] is None for row in known.values())} of {len(known)} answers have no verdict")


def report(out: Path) -> None:
    """Print the table and the differences from the first method, and write OUT/replays.html."""
    verdicts = json.loads((out / "verdicts.json").read_text())
    found: dict[str, dict[str, dict[str, Any]]] = {}
    pages: list[str] = []
    for arm, number, stored, events in answers(out):
        text = text_of(events)
        key = hashlib.sha256(f"{stored['question']}\n{text}".encode()).hexdigest()[:16]
        calls = [event for event in events if isinstance(event, ModelCall)]
        answered = next(event.answer for event in reversed(events) if isinstance(event, Answered))
        found.setdefault(arm, {})[number] = {
            "kind": stored.get("kind", ""),
            "right": bool(verdicts[key]["right"]),
            "words": words_sent(events),
            "new": answered.usage.words_new,
            "calls": len(calls),
        }
        told = "".join(
            f"<h4>{escape(call.task)}, {call.usage.words_in + call.usage.saved_words_in:,} words</h4>"
            f"<details><summary>prompt</summary><pre>{escape(call.prompt)}</pre></details><pre>{escape(call.reply)}</pre>"
            for call in calls
        )
        right = "right" if verdicts[key]["right"] else "wrong"
        head = f"{number} · {escape(arm)} · {right} · {escape(stored['question'])}"
        pages.append(f"<details><summary>{head}</summary><p>Key: {escape(stored['answer'])}</p>{told}</details>")
    style = (
        "body{font:15px system-ui;max-width:70em;margin:auto}pre{white-space:pre-wrap;background:#8881;padding:.6em}"
    )
    head = f"<!doctype html><meta charset=utf-8><title>Replays</title><style>{style}</style>"
    (out / "replays.html").write_text(head + "".join(sorted(pages)))
    print(f"{'method':34} {'right':>9} {'95 %':>13} {'words':>8} {'new':>7} {'calls':>6} {'median':>6}")
    for arm, rows in found.items():
        hits = share(sum(row["right"] for row in rows.values()), len(rows))
        values = {name: [row[name] for row in rows.values()] for name in ("words", "new", "calls")}
        print(
            f"{arm:34} {hits.hits:3} of {hits.total:2} {hits.low:5.2f} – {hits.high:4.2f} "
            f"{statistics.fmean(values['words']):8,.0f} {statistics.fmean(values['new']):7,.0f} "
            f"{statistics.fmean(values['calls']):6.2f} {statistics.median(values['calls']):6}"
        )
        for kind in dict.fromkeys(row["kind"] for row in rows.values()):
            inside = [row for row in rows.values() if row["kind"] == kind]
            mean = statistics.fmean(row["words"] for row in inside)
            print(f"    {kind:30} {sum(row['right'] for row in inside):3} of {len(inside):2} {'':13} {mean:8,.0f}")
    first, *others = found
    for arm in others:
        both = sorted(found[first].keys() & found[arm].keys())
        if both:
            one, two = ([bool(found[name][n]["right"]) for n in both] for name in (first, arm))
            d = mcnemar(one, two)
            words = randomization(*([float(found[name][n]["words"]) for n in both] for name in (first, arm)))
            more = f"; words {words.value:+,.0f} ({words.low:+,.0f} to {words.high:+,.0f})" if words else ""
            told = f"{d.value:+.2f} ({d.low:+.2f} to {d.high:+.2f}), p = {d.p:.2f}{more}"
            print(f"{arm} against {first}, {d.n} questions: {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["ask", "judge", "report"])
    parser.add_argument("out", type=Path)
    parser.add_argument("--readings", type=Path, nargs="+", default=[])
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--methods", nargs="+", default=["recall"])
    parser.add_argument("--first", type=int, default=0, help="the first question, from 0")
    parser.add_argument("--last", type=int, default=10**6, help="the question after the last")
    parser.add_argument("--at-once", type=int, default=12)
    given = parser.parse_args()
    if given.verb == "judge":
        judge(given.out)
    elif given.verb == "report":
        report(given.out)
    else:
        rows = json.loads(given.questions.read_text())[given.first : given.last]
        for method in given.methods:
            ask_all(given.out, memories(given.readings), rows, method, given.at_once)


if __name__ == "__main__":
    main()
