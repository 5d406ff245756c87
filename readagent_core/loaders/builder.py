"""The builder that collects headings, paragraphs and figures, and applies the rules for documents.

Headings become sections, the title page and the table of contents are removed from the text with a notice, and
characters that cannot be shown are removed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from readagent_core.document import Cover, Document, Figure, Notice, Paragraph, Section, Span, SpanKind
from readagent_core.errors import EmptyDocumentError, TooLargeError
from readagent_core.loaders import contents
from readagent_core.loaders.base import DEFAULT, SCENE_BREAK, Limits, squeeze_spaces, strip_unprintable
from readagent_core.loaders.marks import Marks
from readagent_core.loaders.readable import choose_language, find_doubtful
from readagent_core.loaders.titles import is_same_heading, join_title_page, remove_title
from readagent_core.words import count_of, split_unbroken

_UNKNOWN = re.compile("[\ufffd\ue000-\uf8ff]")  # not decoded, or of a font of its own
_LOST_BREAK = re.compile(r"(?<=[a-z.!?…][.!?…\"'”’)])[ \u00a0]{6,}(?=[\"'“‘(]?[A-Z])")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-\w+)*")
_INITIAL = re.compile(r"[\"'“‘«„]?([^\W\d_])")
_CONTINUES = re.compile(r"[a-zà-öø-ÿ'’]|[A-ZÀ-Þ]{2,}\b|[A-ZÀ-Þ]['’]")
_SHORT = 12  # characters; a shorter text is a cell or a label, no paragraph that a drop cap begins
_WORD_START, _WORDS = re.compile(r"[^\s.,;:!?]+"), "AIOÀÉÔYEU"  # the latter: letters that are words
_KEPT = {  # how the report of a file counts what it kept: the noun, and what follows it
    SpanKind.NOTE: ("reference", " to notes, each with its place"),
    SpanKind.LINK: ("link", ""),
    SpanKind.RUBY: ("reading", " of characters (ruby), beside the text"),
    SpanKind.FORMULA: ("formula", ", as a line of text and as mathematics"),
}
_OF_THE_WHOLE = ("mended", "other-format", "order-guessed")  # doubts about the whole text, which is opened at its start
MOST_PLACES = 5  # of one notice that can be opened


class Note(NamedTuple):
    """A paragraph of a footnote or endnote. ``anchors``: the keys by which it is referred to."""

    text: str
    place: str = ""
    anchors: Sequence[str] = ()


_LONGEST_HEADING = 600  # characters


class Builder:
    """Collects the parts of a document in order. ``place``: where the next paragraphs are in the source.

    ``marks``: those in the texts that it is given, from which it makes spans; their targets are found in ``build``.
    ``judged``: whether its text can be read was seen page by page.
    """

    def __init__(self) -> None:
        self.paragraphs: list[Paragraph] = []
        self.sections: list[Section] = []
        self.notices: list[Notice] = []
        self.figures: list[Figure] = []
        self.place = ""
        self.judged = False
        self.marks = Marks()
        self._carried = ""  # marks of notes in a heading, for the next paragraph
        self._anchors: dict[str, int] = {}  # the number of the paragraph at each, or of the next one
        self._doubts: dict[str, list[int]] = defaultdict(list)  # by code: the paragraph at each, or the next one
        self._rule = False
        self._caption: int | None = None  # the last paragraph, where it is a caption above its picture

    def add_paragraph(
        self,
        text: str,
        place: str | None = None,
        *,
        exact: bool = False,
        caption: bool = False,
        confidence: float | None = None,
        note: bool = False,
        anchors: Iterable[str] = (),
    ) -> None:
        """Adds a paragraph. ``exact``: with its spaces as they are, for program code and aligned columns.

        ``caption``: of the picture that was added just before, else of the one that is added next. ``confidence``: of
        a text that was recognised in a picture of its page. ``note``: it is part of a note. ``anchors``: keys by which
        it is referred to."""
        text = strip_unprintable(text).strip("\n ")
        spaced = not exact and ("      " in text or "\u00a0" in text)
        *before, text = _LOST_BREAK.split(text) if spaced else [text]
        for part in before:
            self.add_paragraph(part, place, confidence=confidence, note=note, anchors=anchors)
            self.mark_doubt("lost-breaks")
        if text.strip():
            text, spans = self.marks.resolve(self._carried + (text if exact else squeeze_spaces(text)))
            self._carried = ""
            opens = not self.paragraphs or (self.sections and self.sections[-1].start == len(self.paragraphs))
            if self._rule and not opens:
                self.paragraphs.append(Paragraph(SCENE_BREAK, self.paragraphs[-1].place))
            self._rule = False
            place = self.place if place is None else place
            first = len(self.paragraphs)
            self.add_anchors(anchors)
            whole = Paragraph(text, place, False, confidence, note, spans)
            self.paragraphs += whole.split(split_unbroken(text))
            self._caption = first if caption and not self._give_caption(first) else None

    def add_anchors(self, keys: Iterable[str]) -> None:
        """Notes that references to ``keys`` lead to the paragraph that is added next."""
        for key in keys:
            self._anchors.setdefault(key, len(self.paragraphs))

    def add_figure(self, figure: Figure) -> None:
        """Adds a picture: below the heading that was just added, else after the last paragraph."""
        at = len(self.paragraphs)
        opens = not at or (bool(self.sections) and self.sections[-1].start == at)
        caption = self._caption if self._caption == at - 1 else None
        self._caption = None
        self.figures.append(replace(figure, paragraph=at if opens else at - 1, after=not opens, caption=caption))

    def _give_caption(self, paragraph: int) -> bool:
        """Makes ``paragraph`` the caption of a picture right before it. Returns whether there is such a picture."""
        last = self.figures[-1] if self.figures else None
        if last is None or last.caption is not None or last.paragraph + last.after != paragraph:
            return False
        self.figures[-1] = replace(last, paragraph=paragraph, after=False, caption=paragraph)
        return True

    def add_scene_break(self) -> None:
        """Adds a scene break before the next paragraph, unless a heading comes before or after it."""
        self._rule = True

    def add_heading(self, title: str, level: int = 1) -> None:
        """Adds a heading; a text in its style that is too long for one is a paragraph."""
        if len(title) > _LONGEST_HEADING:
            self.add_paragraph(title)
            return
        self._carried += self.marks.notes_in(title)
        title = " ".join(self.marks.resolve(strip_unprintable(title))[0].split())
        last = self.sections[-1] if self.sections else None
        if last and last.start == len(self.paragraphs) and is_same_heading(last.title, title):
            # the same title from the table of contents and from the text; one of the two may have a number
            self.sections[-1] = replace(last, title=max(last.title, title, key=len))
        elif title:
            self.sections.append(Section(title, len(self.paragraphs), max(1, level)))

    def add_notes(self, notes: Sequence[Note], title: str = "") -> None:
        """Adds a last section with footnotes and endnotes; nothing where there are none."""
        if notes:
            self.add_heading(title or "Notes")
        for note in notes:
            self.add_paragraph(note.text, note.place, note=True, anchors=note.anchors)

    def add_notice(self, code: str, message: str, count: int = 1) -> None:
        self.notices.append(Notice(code, message, count))

    def mark_doubt(self, code: str) -> None:
        """Notes that the place of what the notice ``code`` tells is here, before the paragraph that is added next."""
        self._doubts[code].append(len(self.paragraphs))

    def note_hidden(self, words: int) -> None:
        """Adds the notice that so many words were left out because a reader would not see them; none for 0."""
        if words:
            self.add_notice("hidden", f"{words:,} hidden words, for example white on white, were left out.", words)

    def build(
        self,
        *,
        title: str,
        format: str,
        name: str = "",
        author: str = "",
        language: str = "",
        cover: Cover | None = None,
        limits: Limits = DEFAULT,
    ) -> Document:
        """Returns the document. Raises EmptyDocumentError without a paragraph, TooLargeError over the word limit.

        ``name``: the title where there is none; what repeats it stays in the text. ``language``: as the file says it;
        where that is no language tag, the language is detected."""
        initials = self._join_initials()
        before = list(self.paragraphs)
        self.paragraphs = [paragraph for at, paragraph in enumerate(before) if at not in initials]
        self.sections = [replace(s, start=s.start - sum(at < s.start for at in initials)) for s in self.sections]
        self.paragraphs, self.sections = remove_title(self.paragraphs, self.sections, title, author)
        self._turn_last_headings_into_text()
        self._remove_contents()
        self.paragraphs, self.sections = join_title_page(self.paragraphs, self.sections, author)
        if not self.paragraphs:
            raise EmptyDocumentError("There is no text in this file. Nothing was added; open another file.")
        following = self._following(before)
        figures = self._moved_figures(before, following)  # before ``_find_targets`` replaces the paragraphs
        self._doubts = defaultdict(list, {code: [following[n] for n in at] for code, at in self._doubts.items()})
        self._find_targets(following)
        language = language.strip().replace("_", "-")
        language = language if _LANGUAGE.fullmatch(language) else ""
        language = choose_language(language, "\n".join(p.text for p in self.paragraphs[:400])[:60_000])
        self._note_doubts(language)
        document = Document(
            title=" ".join(strip_unprintable(title or name).split()) or "Untitled",
            paragraphs=tuple(self.paragraphs),
            sections=tuple(_normalise_levels(self.sections)),
            author=" ".join(strip_unprintable(author).split()),
            language=language,
            format=format,
            warnings=tuple(replace(notice, places=self._places(notice.code)) for notice in self.notices),
            cover=cover,
            figures=figures,
        )
        if document.words > limits.words:
            raise TooLargeError(
                f"This text has {document.words:,} words; at most {limits.words:,} can be opened at once. "
                "Split it into parts, for example one file a volume, and open those."
            )
        return document

    def _following(self, before: Sequence[Paragraph]) -> list[int]:
        """Returns where each of the paragraphs ``before`` some were removed or added is, or the next that is left."""
        now = {id(paragraph): at for at, paragraph in enumerate(self.paragraphs)}
        following = [len(self.paragraphs)]
        for paragraph in reversed(before):
            following.append(now.get(id(paragraph), following[-1]))
        return following[::-1]

    def _moved_figures(self, before: Sequence[Paragraph], following: Sequence[int]) -> tuple[Figure, ...]:
        now = {id(paragraph): at for at, paragraph in enumerate(self.paragraphs)}
        found = []
        for figure in self.figures:
            at, after = following[figure.paragraph], figure.after
            if after and id(before[figure.paragraph]) not in now:
                after = False
            if at == len(self.paragraphs):
                at, after = at - 1, True
            caption = None if figure.caption is None else now.get(id(before[figure.caption]))
            found.append(replace(figure, paragraph=at, after=after, caption=caption))
        return tuple(found)

    def _find_targets(self, following: Sequence[int]) -> None:
        """Gives the spans the paragraphs that they lead to, and counts them; those that lead nowhere are left out."""
        keys, last = self.marks.targets, len(self.paragraphs) - 1
        lost = 0

        def find(number: int) -> int | None:
            nonlocal lost
            key = keys[number]
            at = self._anchors.get(key, self._anchors.get(f"{key.partition('#')[0]}#"))
            lost += at is None
            return None if at is None else min(following[at], last)

        counts = dict.fromkeys(SpanKind, 0)
        for index, paragraph in enumerate(self.paragraphs):
            if paragraph.spans:
                found = lost
                moved = paragraph.with_targets(find)
                self._doubts["references-lost"] += [index] * (lost > found)
                spans = tuple(s for s in moved.spans if not _is_way_back(s, index, note=paragraph.note))
                self.paragraphs[index] = replace(moved, spans=spans)
                for span in spans:
                    counts[span.kind] += 1
        for kind, what in _KEPT.items():
            if counts[kind]:
                self.add_notice(f"kept-{kind}", f"{count_of(counts[kind], what[0])}{what[1]}.", counts[kind])
        if lost:
            message = f"{count_of(lost, 'reference')} within the text led to a place that is not in it."
            self.add_notice("references-lost", message, lost)

    def _join_initials(self) -> set[int]:
        """Joins each letter that is a paragraph of its own, as a drop cap often is, with the text below it.

        Returns the paragraphs of these letters, which are part of the next ones now."""
        starts = {section.start for section in self.sections}
        words: Counter[str] = Counter()
        joined: set[int] = set()
        for at in range(len(self.paragraphs) - 1, 0, -1):
            letter, below = self.paragraphs[at - 1], self.paragraphs[at]
            found = _INITIAL.fullmatch(letter.text)
            if not found or not found.group(1).isupper() or at in starts or letter.note:
                continue
            if not _CONTINUES.match(below.text) or len(below.text) < _SHORT or " " not in below.text:
                continue
            word = _WORD_START.match(below.text)
            alone = False
            if found.group(1) in _WORDS and word:
                words = words or Counter(word for p in self.paragraphs for word in p.text.lower().split())
                rest = word.group().lower()
                alone = words[rest] - 1 > words[found.group(1).lower() + rest]
            self.paragraphs[at] = replace(letter, text=letter.text + " " * alone).joined(below)
            joined.add(at - 1)
        return joined

    def _turn_last_headings_into_text(self) -> None:
        """Turns headings at the end without text into paragraphs, because sections without text are not shown."""
        last = [s for s in self.sections if s.start >= len(self.paragraphs)]
        self.sections = self.sections[: len(self.sections) - len(last)]
        self.paragraphs += [Paragraph(section.title, self.place) for section in last]

    def _remove_contents(self) -> None:
        """Removes the printed table of contents, which the sections repeat."""
        self.paragraphs, self.sections, entries = contents.remove_contents(self.paragraphs, self.sections)
        if entries:
            message = f"The table of contents ({entries:,} entries) was left out: each of them is in the book again."
            self.add_notice("contents", message, entries)

    def _note_doubts(self, language: str) -> None:
        """Adds the notices of text that may be wrong: breaks that were guessed, lost characters, unreadable letters."""
        breaks = len(self._doubts["lost-breaks"])
        if breaks:
            began = f"{count_of(breaks, 'paragraph')} began"
            self.add_notice("lost-breaks", f"{began} in mid-line, after many spaces, so a break was put there.", breaks)
        lost = [len(_UNKNOWN.findall(paragraph.text)) for paragraph in self.paragraphs]
        self._doubts["undecodable"] = [index for index, count in enumerate(lost) if count]
        if total := sum(lost):
            message = f"{count_of(total, 'unknown character')} in the text, shown as \ufffd or as an empty box."
            self.add_notice("undecodable", message, total)
        self._doubts["encoding"] = [index for index, p in enumerate(self.paragraphs) if not p.text.isascii()]
        unreadable, misread = find_doubtful([p.text for p in self.paragraphs], language, judged=self.judged)
        told = {
            "text-unreadable": (unreadable, "of letters that form no words of any language"),
            "text-misread": (misread, "with many words that are misspelt in a way nobody does"),
        }
        for code, (places, what) in told.items():
            self._doubts[code] = places
            if places:
                message = (
                    f"{count_of(len(places), 'passage')} {what}, as after poor text recognition or in the wrong "
                    "encoding. Get another edition, or open the original file."
                )
                self.add_notice(code, message, len(places))

    def _places(self, code: str) -> tuple[int, ...]:
        """Returns the first paragraphs where the notice ``code`` applies."""
        places = [0] if code in _OF_THE_WHOLE else self._doubts[code]
        return tuple(dict.fromkeys(min(place, len(self.paragraphs) - 1) for place in places))[:MOST_PLACES]


def _normalise_levels(sections: list[Section]) -> list[Section]:
    """Returns the sections with levels that start at 1 and have no gaps."""
    held: list[int] = []
    flat: list[Section] = []
    for section in sections:
        while held and held[-1] >= section.level:
            held.pop()
        held.append(section.level)
        flat.append(Section(section.title, section.start, len(held)))
    return flat


def _is_way_back(span: Span, paragraph: int, *, note: bool) -> bool:
    """Returns whether a reference to a note is the one from the note back to the text, or to its own paragraph."""
    if span.kind != SpanKind.NOTE or span.target is None:
        return False
    return span.target == paragraph or (span.target < paragraph and (note or span.start == 0))
