"""Asks methods the same questions about the same gists, keeps the replay of every answer, and counts the right ones.

A person has the files: exported readings (one, or several that are asked together) and questions as a JSON list of
{"question", "answer", "kind"}; or rows of LiteraryQA (rows.jsonl with a folder texts), InfiniteBench En.MC or another
benchmark that docs/methods.md names, whose texts are then read first. The model is the settings' (READAGENT_BASE_URL,
READAGENT_MODEL).

    python -m bench.arena ask OUT --readings a.json [b.json …] --questions q.json --methods recall read-agent-p:3
    python -m bench.arena ask OUT --dataset rows.jsonl --documents 2 --methods recall search-agent --words 5000
    python -m bench.arena judge OUT          # writes OUT/verdicts.json with the answers that have no verdict yet
    python -m bench.arena report OUT         # the table, paired differences with intervals, a page for every answer

``ask`` keeps each answer's events in OUT/METHOD/NUMBER.json and asks nothing twice; readings that it makes are kept in
OUT/readings. ``--words`` bounds the words sent for a question alike for all methods. ``judge`` puts answer and key side
by side, in no order that tells the method; whoever judges sets "right" to true or false. An option is judged by itself.
``report`` counts, and writes OUT/METHOD/NUMBER.html with all prompts and replies of an answer, and OUT/replays.html.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import readagent_core as ra
from bench.zoom import Store
from readagent_core.answering.ask import ask
from readagent_core.answering.base import Answered, AskSettings, Event, ModelCall, Question
from readagent_core.answering.event_json import event_from_dict, event_to_dict
from readagent_core.answering.resources import Resources
from readagent_core.answering.shelf import AskedShelf
from readagent_core.cancel import CancelToken
from readagent_core.evaluation.arms import parse
from readagent_core.evaluation.datasets import Dataset, open_dataset
from readagent_core.evaluation.scores import mcnemar, randomization, share
from readagent_core.export.memory import export_memory
from readagent_core.incoming.opening import import_gisting
from readagent_core.memory import GistMemory

_HEAD = (
    "<!doctype html><meta charset=utf-8><title>Replays</title><style>body{font:15px system-ui;max-width:70em;"
    "margin:auto}pre{white-space:pre-wrap;background:#8881;padding:.6em}</style>"
)


def memories(paths: Sequence[Path]) -> list[GistMemory]:
    return [import_gisting(path.read_bytes())[1] for path in paths]


@dataclass(frozen=True)
class Asked:
    """A question with its ``number`` in the run, and the ``books`` that it is about. ``row``: what is kept with it."""

    number: int
    books: Sequence[GistMemory]
    row: Mapping[str, Any]


def own_questions(readings: Sequence[Path], questions: Path, first: int, last: int) -> list[Asked]:
    """Return questions ``first`` to ``last`` of a file, all about the books of the ``readings``."""
    books, rows = memories(readings), json.loads(questions.read_text())[first:last]
    return [Asked(number, books, row) for number, row in enumerate(rows)]


def benchmark_questions(dataset: Dataset, out: Path) -> list[Asked]:
    """Return the questions of a benchmark. A text that was not read before is read now, and kept in OUT/readings."""
    model, asked = ra.get_model(), []
    (out / "readings").mkdir(parents=True, exist_ok=True)
    for case in dataset.cases():
        kept = out / "readings" / f"{case.document.id[:16]}.json"
        if not kept.exists():
            memory = ra.read(case.document, model, preset=case.preset, library=None)
            kept.write_bytes(export_memory(memory, "json"))
        books = memories([kept])
        for item in case.items:
            options = item.question.options
            answer = options[item.gold] if item.gold is not None else " / ".join(item.references)
            row = {"question": item.question.text, "answer": answer, "kind": case.title, "options": list(options)}
            row |= {"gold": item.gold} if item.gold is not None else {}
            asked.append(Asked(len(asked), books, row))
    return asked


def ask_all(out: Path, questions: Sequence[Asked], arm: str, at_once: int, words: int | None = None) -> None:
    """Ask every question without a stored answer by the method ``arm``, several at once, in at most ``words`` each."""
    model = ra.get_model()
    chosen = parse(arm, AskSettings())
    chosen = replace(chosen, words=words) if words else chosen
    arm = f"{arm}:question_words={words}" if words else arm
    folder = out / arm.replace(":", "_")
    folder.mkdir(parents=True, exist_ok=True)
    stores: dict[tuple[str, ...], Store] = defaultdict(Store)  # gists of parts are made once for all questions

    def one(asked: Asked) -> None:
        number, books, row = asked.number, asked.books, asked.row
        file = folder / f"{number:03}.json"
        if file.exists():
            return
        store = stores[tuple(book.document.id for book in books)]
        resources = Resources(artifacts=store, connections=at_once)
        question = Question(row["question"], tuple(row.get("options", ())))
        about = AskedShelf(books) if len(books) > 1 else books[0]
        settings = chosen.settings_within_words()
        named: dict[str, Any] = {"method": chosen.method, "settings": settings, "resources": resources}
        events = list(ask(question, about, model, CancelToken(), **named))
        stored = {"arm": arm, **row, "events": [event_to_dict(event) for event in events]}
        file.write_text(json.dumps(stored, ensure_ascii=False))
        print(arm, number, f"{words_sent(events):,} words", flush=True)

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, questions))


def answers(out: Path) -> Iterator[tuple[str, str, dict[str, Any], list[Event]]]:
    """Yield (arm, number, stored answer, its events) of every answer."""
    for file in sorted(file for file in out.glob("*/*.json") if file.parent.name != "readings"):
        stored = json.loads(file.read_text())
        yield stored["arm"], file.stem, stored, [event_from_dict(event) for event in stored["events"]]


def words_sent(events: Sequence[Event]) -> int:
    """Return the words of every call of an answer, also of those that made gists of parts for it."""
    used = next(event.answer.usage for event in reversed(events) if isinstance(event, Answered))
    return used.words_in + used.saved_words_in


def text_of(events: Sequence[Event]) -> str:
    return next((event.answer.text for event in reversed(events) if isinstance(event, Answered)), "")


def _key(stored: Mapping[str, Any], text: str) -> str:
    return hashlib.sha256(f"{stored['question']}\n{text}".encode()).hexdigest()[:16]


def judge(out: Path) -> None:
    """Write OUT/verdicts.json: what is judged already, and every other answer with "right": null, in mixed order."""
    file = out / "verdicts.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    for _, _, stored, events in answers(out):
        text = text_of(events)
        chosen = next((event.answer.option for event in reversed(events) if isinstance(event, Answered)), None)
        right = None if stored.get("gold") is None else chosen == stored["gold"]
        row = {"question": stored["question"], "key": stored["answer"], "said": text, "right": right}
        known.setdefault(_key(stored, text), row)
    ordered = dict(sorted(known.items(), key=lambda row: (row[1]["right"] is not None, row[1]["question"], row[0])))
    file.write_text(json.dumps(ordered, ensure_ascii=False, indent=1))
    print(f"{sum(row['right'] is None for row in known.values())} of {len(known)} answers have no verdict")


def report(out: Path) -> None:
    """Print the table and the differences from the first method, and write OUT/replays.html."""
    verdicts = json.loads((out / "verdicts.json").read_text())
    found: dict[str, dict[str, dict[str, Any]]] = {}
    pages: list[str] = []
    for arm, number, stored, events in answers(out):
        key = _key(stored, text_of(events))
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
        page = Path(arm.replace(":", "_"), f"{number}.html")
        (out / page).write_text(f"{_HEAD}<h3>{head}</h3><p>Key: {escape(str(stored['answer']))}</p>{told}")
        pages.append(f"<li><a href='{escape(str(page))}'>{head}</a></li>")
    (out / "replays.html").write_text(f"{_HEAD}<ul>{''.join(sorted(pages))}</ul>")
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
    parser.add_argument("--dataset", type=Path, help="rows of a benchmark, in place of readings and questions")
    parser.add_argument("--documents", type=int, help="of the benchmark, the first so many texts")
    parser.add_argument("--words", type=int, help="most words sent for a question, alike for all methods")
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
        if given.dataset:
            dataset = open_dataset(given.dataset, documents=given.documents)
            asked = benchmark_questions(dataset, given.out)[given.first : given.last]
        elif given.readings and given.questions:
            asked = own_questions(given.readings, given.questions, given.first, given.last)
        else:
            parser.error("name --readings and --questions, or a --dataset")
        for method in given.methods:
            ask_all(given.out, asked, method, given.at_once, given.words)


if __name__ == "__main__":
    main()
