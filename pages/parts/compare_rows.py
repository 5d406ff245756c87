"""What the comparison's component draws: one row of plain values a method. Decides nothing, knows no widget."""

from __future__ import annotations

from typing import Any

from readagent_core.methods import method
from readagent_core.study.comparing import Comparison, Entry
from readagent_core.study.comparing_told import parted, sent, spoken, topics_words, tree, verdict

CELLS = {"full": 2, "gist": 1}


def data_of(comparison: Comparison) -> dict[str, Any]:
    """Everything the component needs."""
    return {
        "pages": list(comparison.pages),
        "words": comparison.words,
        "language": comparison.language,
        "rows": [row(comparison, entry) for entry in comparison.entries],
    }


def row(comparison: Comparison, entry: Entry) -> dict[str, Any]:
    """One method's row; figures and map come with its answer."""
    known = method(entry.method)
    text, evidence = parted(entry.text)
    drawn: dict[str, Any] = {
        "method": entry.method,
        "title": known.title,
        "about": known.about,
        "state": entry.state,
        "running": entry.state in ("waiting", "running"),
        "doing": "Waiting for its turn" if entry.state == "waiting" else entry.doing,
        "text": text,
        "evidence": evidence,
        "error": entry.error,
        "notes": [],
        "verdict": verdict(comparison, entry),
    }
    answer = entry.answer
    if answer is None:
        return drawn
    full = [number for number, how in sorted(answer.seen.items()) if how == "full"]
    notes = list(answer.notes)
    if answer.cut_off:
        notes.insert(0, "The answer broke off here.")
    drawn |= {
        "cells": [CELLS.get(answer.seen.get(number, ""), 0) for number in range(1, len(comparison.pages) + 1)],
        "full": full,
        "spoken": spoken(full, len(comparison.pages)),
        "notes": notes,
        "figures": {
            "words": answer.memory_words,
            "cr": answer.compression_rate,
            "lookups": len(answer.looked_up),
            "seconds": entry.seconds,
            "sent": sent(answer),
        },
    }
    if "tree" in answer.extra:
        drawn["tree"] = tree(answer)
    if answer.extra.get("topics"):
        topics = answer.extra["topics"]
        drawn["topics"] = topics
        drawn["topicsSaid"] = topics_words(topics)
    return drawn
