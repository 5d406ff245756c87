"""How much an answer shares with a reference that a person wrote: ROUGE, and the answer without what it cites.

It says how alike two texts are, never which is right. Knows nothing of models or methods.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from readagent_core.words import is_unspaced, terms

ROUGE = ("rouge1", "rouge2", "rougeL")
_EVIDENCE = re.compile(r"^\s*(?:\*\*)?(?:evidence|根拠)(?:\*\*)?\s*[:：].*", re.IGNORECASE | re.MULTILINE | re.DOTALL)
_CITED = re.compile(r"\s*\[\s*\d+(?:\s*[,、–-]\s*\d+)*\s*\]")


def prose(text: str) -> str:
    """An answer without what it cites: marks like [7] and the lines of evidence are no part of what is compared."""
    return _CITED.sub("", _EVIDENCE.sub("", text)).strip()


class _Terms:
    """ROUGE tokens for scripts that do not space words; the library's own drops all but a–z and digits."""

    def tokenize(self, text: str) -> list[str]:
        return terms(text)


@cache
def _scorer(unspaced: bool) -> Any:
    from rouge_score import rouge_scorer  # slow to import, and multiple choice never needs it

    if unspaced:
        return rouge_scorer.RougeScorer(list(ROUGE), tokenizer=_Terms())
    return rouge_scorer.RougeScorer(list(ROUGE), use_stemmer=True)


def rouge(answer: str, references: Sequence[str]) -> dict[str, float]:
    """ROUGE-1/2/L F from 0 to 1 (rouge-score, Porter stemmer); over several references the best of each."""
    if not references:
        return dict.fromkeys(ROUGE, 0.0)
    found = [
        {name: score.fmeasure for name, score in _scorer(is_unspaced(reference)).score(reference, answer).items()}
        for reference in references
    ]
    return {name: float(max(scores[name] for scores in found)) for name in ROUGE}
