"""Reading plans: the choices that make one gisting of a book different from another.

``GistingPlan.key`` is the same for two plans exactly when their prompts are the same; connections and speed are not
part of it. The presets are the papers' (docs/methods.md, 'Episode pagination').
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any

from readagent_core.errors import SettingsError

PAGINATIONS = ("pause", "many", "one-pass", "uniform")
GIST_SHARE = 1 / 6.5  # without a target a strong model keeps 28 % of the words, and then looks up nothing
PRESETS: dict[str, tuple[int, int]] = {  # max_words, min_words
    "article": (600, 280),  # QuALITY
    "meeting": (600, 280),  # QMSum
    "book": (3000, 500),  # NarrativeQA, Gutenberg
    "script": (1000, 600),  # NarrativeQA, movies
}


@dataclass(frozen=True)
class GistingPlan:
    """The plan of a gisting.

    ``pagination``: 'pause' (one pause point a prompt, as in the paper), 'many' (several a prompt), 'one-pass' (several,
    with their gists) or 'uniform' (cut by rule). ``preceding``: show the preceding page before the window.
    ``cross_sections``: False makes every section start a pause point. ``gist_share``: length of a gist as a share of
    its page. ``purpose``: a question or task that gists are made for (conditional gisting). ``instructions``: text
    added to the gisting prompt.
    """

    preset: str = "article"
    max_words: int = 600
    min_words: int = 280
    pagination: str = "pause"
    preceding: bool = False
    cross_sections: bool = True
    gist_share: float = GIST_SHARE
    purpose: str = ""
    instructions: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.min_words <= self.max_words:
            raise SettingsError(
                f"A page needs at least 1 word and min_words cannot be over max_words "
                f"(got {self.min_words} and {self.max_words}). Choose, for example, 280 and 600."
            )
        if not 0 < self.gist_share < 1:
            raise SettingsError(f"The gist's share of a page must lie between 0 and 1 (got {self.gist_share}).")
        if self.pagination not in PAGINATIONS:
            raise SettingsError(f"Unknown pagination {self.pagination!r}. Choose one of: {', '.join(PAGINATIONS)}.")

    @classmethod
    def from_preset(cls, name: str, **changes: Any) -> GistingPlan:
        """Return the plan of a preset ('article', 'meeting', 'book', 'script') with ``changes`` (None: unchanged)."""
        if name not in PRESETS:
            raise SettingsError(f"Unknown preset {name!r}. Choose one of: {', '.join(PRESETS)}.")
        max_words, min_words = PRESETS[name]
        plan = cls(preset=name, max_words=max_words, min_words=min_words)
        return replace(plan, **{k: v for k, v in changes.items() if v is not None})

    @cached_property
    def key(self) -> str:
        """A hash of everything that changes a prompt."""
        chosen = asdict(self)
        del chosen["preset"]  # it only sets the numbers, and `asks_chapters`
        chosen["asks_chapters"] = self.asks_chapters
        chosen["memory_words"] = None  # a choice that plans had once: the keys of stored ones stay
        return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def asks_chapters(self) -> bool:
        """Whether the pagination prompt also asks for chapter and section starts (books)."""
        return self.preset == "book"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GistingPlan:
        known = {f.name for f in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})
