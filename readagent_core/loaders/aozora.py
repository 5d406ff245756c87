"""Aozora Bunko's plain texts: title and author lines, furigana in 《》, editors' notes in ［＃…］, colophon at the end.

Furigana is taken out, so that a word is read once; headings are told by their notes.
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
    """Whether the file carries Aozora Bunko's notes."""
    head = [line for line in lines[:60] if line.strip()]
    return any("【テキスト中に現れる記号について】" in line for line in head) or (
        any("青空文庫" in line for line in lines[-40:]) and any(_COLOPHON.match(line) for line in lines[-60:])
    )


def read(lines: Sequence[str], builder: Builder) -> tuple[dict[str, str], list[str]]:
    """Title, author and language, and the lines of the text itself without furigana and notes."""
    rules = [i for i, line in enumerate(lines[:200]) if _RULE.match(line)]
    head_end = rules[0] if rules else next((i for i, line in enumerate(lines) if not line.strip()), 0)
    start = rules[1] + 1 if len(rules) > 1 else head_end
    end = next((i for i in range(len(lines) - 1, start, -1) if _COLOPHON.match(lines[i])), len(lines))
    head = [line.strip() for line in lines[:head_end] if line.strip()]
    facts = {"language": "ja"}
    if head:
        facts["title"] = _plain(head[0])
        facts["author"] = _plain(head[-1]) if len(head) > 1 else ""
    body = [_plain(line) for line in lines[start:end]]
    apart = sum(len(line) for line in [*lines[head_end:start], *lines[end:]])
    builder.notice("aozora", f"Aozora Bunko's notes ({apart:,} characters) and the furigana were set apart.", apart)
    return facts, body


def _plain(line: str) -> str:
    line = _UNKNOWN.sub(lambda m: chr(int(m.group(1), 16)) if m.group(1) else "〓", line)
    line = _NOTE.sub("", _RUBY.sub("", line))
    return line.replace("｜", "").strip("　 \t")
