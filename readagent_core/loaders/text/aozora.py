"""Parses Aozora Bunko's plain texts: title and author lines, furigana in 《》, editors' notes in ［＃…］, colophon.

Furigana and notes are removed, so that each word occurs once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from readagent_core.loaders.base import Builder

_RULE = re.compile(r"^-{20,}$")
_RUBY = re.compile(r"《[^》\n]{1,60}》")
_NOTE = re.compile(r"［＃[^］\n]{0,200}］")
_UNKNOWN = re.compile(r"※［＃[^］\n]*?(?:U\+([0-9A-Fa-f]{4,5}))?[^］\n]*］")
_COLOPHON = re.compile(r"^底本[：:]")


def is_aozora(lines: Sequence[str]) -> bool:
    """Returns whether the file has Aozora Bunko's notes."""
    head = [line for line in lines[:60] if line.strip()]
    return any("【テキスト中に現れる記号について】" in line for line in head) or (
        any("青空文庫" in line for line in lines[-40:]) and any(_COLOPHON.match(line) for line in lines[-60:])
    )


def parse_aozora(lines: Sequence[str], builder: Builder) -> tuple[dict[str, str], list[str]]:
    """Returns title, author and language, and the lines of the text without furigana and notes."""
    rules = [i for i, line in enumerate(lines[:200]) if _RULE.match(line)]
    head_end = rules[0] if rules else next((i for i, line in enumerate(lines) if not line.strip()), 0)
    start = rules[1] + 1 if len(rules) > 1 else head_end
    end = next((i for i in range(len(lines) - 1, start, -1) if _COLOPHON.match(lines[i])), len(lines))
    head = [line.strip() for line in lines[:head_end] if line.strip()]
    facts = {"language": "ja"}
    if head:
        facts["title"] = _strip_notes(head[0])
        facts["author"] = _strip_notes(head[-1]) if len(head) > 1 else ""
    body = [_strip_notes(line) for line in lines[start:end]]
    apart = sum(len(line) for line in [*lines[head_end:start], *lines[end:]])
    builder.add_notice("aozora", f"Aozora Bunko's notes ({apart:,} characters) and the furigana were left out.", apart)
    return facts, body


def _strip_notes(line: str) -> str:
    line = _UNKNOWN.sub(lambda m: chr(int(m.group(1), 16)) if m.group(1) else "〓", line)
    line = _NOTE.sub("", _RUBY.sub("", line))
    return line.replace("｜", "").strip("　 \t")
