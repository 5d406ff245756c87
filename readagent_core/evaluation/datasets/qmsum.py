"""QMSum: meetings with questions and requests for summaries (Zhong et al. 2021), as its authors publish it.

One JSON object for each meeting (``meeting_transcripts[{speaker, content}]``, ``general_query_list``,
``specific_query_list[{query, answer}]``): in one file, a folder of files, or a file of lines.
SCROLLS' layout is read by ``scrolls.py``. A turn is a paragraph: 'Speaker: words'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from readagent_core.answering.base import Question
from readagent_core.evaluation.datasets import base
from readagent_core.evaluation.datasets.base import Case, Item, Source


def recognise(row: Mapping[str, Any]) -> bool:
    return "meeting_transcripts" in row


def cases(path: Path) -> Iterator[Case]:
    for place, name, row in _meetings(path):
        turns = base.require(row, "meeting_transcripts", list, place)
        items: list[Item] = []
        for kind in ("general_query_list", "specific_query_list"):
            queries = base.objects(base.require(row, kind, list, place), f"{place}, {kind}", "query and answer")
            for number, (here, asked) in enumerate(queries, start=1):
                question = Question(base.require(asked, "query", str, here).strip())
                answer = base.require(asked, "answer", str, here).strip()
                items.append(Item(f"{name}-{kind[0]}{number}", question, references=(answer,)))
        yield Case(name, tuple(items), _source(turns, name, place), "meeting", place)


def _meetings(path: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    if path.is_dir():
        for file in sorted(path.glob("*.json")):
            yield from _meetings(file)
        return
    if path.suffix == ".jsonl":
        for number, (place, row) in enumerate(base.json_lines(path), start=1):
            yield place, f"{path.stem} {number}", row
        return
    row = base.json_file(path)
    if not isinstance(row, dict):
        raise base.error_at(path.name, "one meeting, a JSON object, was expected.")
    yield path.name, path.stem, row


def _source(turns: list[Any], name: str, place: str) -> Source:
    pieces = []
    for here, turn in base.objects(turns, f"{place}, turn", "speaker and content"):
        said = " ".join(base.require(turn, "content", str, here).split())
        if said:
            pieces.append(f"{base.require(turn, 'speaker', str, here).strip()}: {said}")
    if not pieces:
        raise base.error_at(place, "nobody says anything in this meeting.")
    return base.text_source("\n\n".join(pieces), name)
