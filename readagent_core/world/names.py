"""Names in a text by rule, without a model: where they stand, and no claims about them.

Scripts with capital letters show names inside sentences; in others a title, a form of address or a verb of speaking
stands beside them. A name is known from the place where the text up to there is evidence enough, so that the names
known at a page never depend on later pages; only whether one is of a place does. Where a script gives no such sign
there are none (Thai, Lao, Khmer, Burmese).
"""

from __future__ import annotations

import calendar
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from readagent_core.document import Document
from readagent_core.words import collapse_whitespace, fold

ARTICLE = re.compile(
    r"^(?:(?:the|an?|le|la|les|der|die|das|den|dem|des|el|los|las|il|lo|gli)\s+|l['’])(?=\S)", re.IGNORECASE
)
INDEFINITE = re.compile(r"(?:an?|another|ein(?:e[nmrs]?)?|une?|uno|una|uma?)\s+", re.IGNORECASE)
OF_SOMEBODY = re.compile(  # who it is depends on where it stands
    r"(?:my|your|his|her|its|our|their|(?:mein|dein|sein|ihr|unser|euer)(?:e[nmrs]?)?|mon|ma|mes|sa|ses|leurs?|notre"
    r"|votre|mi|tu|su|mio|mia|suo|sua)\s+",
    re.IGNORECASE,
)
PAGE_OF_NAME = re.compile(r" \(p\. \d+\)$")  # tells two apart who are called alike
TITLE = re.compile(
    r"^(?:mr|mrs|ms|miss|mister|master|madam|madame|mme|mlle|monsieur|herr|frau|señor|señora|don|doña|signor|signora"
    r"|uncle|aunt|cousin|brother|sister|dr|doctor|captain|capt|constable|inspector|sergeant|colonel|major|general|lady"
    r"|lord|sir|dame|king|queen|prince|princess|count|countess|baron|father|mother|cllr|councillor|professor|prof|rev"
    r"|reverend|st|lawyer|squire|judge|deacon|parson|farmer)\.?\s+",
    re.IGNORECASE,
)
_COMMON_FIRST = re.compile(r"^[^\W\dA-Z]+\s+(?=[^\W\da-z])")
TITLE_FORMS = {"mister": "mr", "capt": "captain", "doctor": "dr", "rev": "reverend", "prof": "professor"} | {
    "cllr": "councillor",
    "madame": "mme",
}
CALLINGS = frozenset(["lawyer", "squire", "judge", "deacon", "parson", "farmer"])  # of one who is called 'Mr' too
MARRIED = "mrs"
_TWO_TITLES = re.compile(
    r"^(Mr|Herr|M|Señor|Lord|Sir)\.?\s+(?:and|&|und|y|et)\s+(Mrs|Frau|Mme|Señora|Lady|Miss)(\.?)\s+(.+)$"
)
_TWO_NAMES = re.compile(r"^(.+?)\s+(?:and|&|und|et|y|e)\s+(.+)$")
_OF_ANOTHER = re.compile(r"['’]s\s+|\s+of\s+")
_CALLING_BEFORE = re.compile(rf"\b({'|'.join(sorted(CALLINGS))})\s$")
_FIRM = re.compile(r"\b(?:sons?|daughters?|brothers|bros|co|company|partners|söhne|fils)\b", re.IGNORECASE)
HONORIFIC = re.compile(
    r"(?<=.)(?:さん|さま|様|氏|君|くん|ちゃん|先生|殿|夫人|先輩|(?<![副新前元旧])(?:駅長|部長|課長|社長|校長|院長|船長|会長)|씨|님|군|양|선생님?|先生|小姐|女士|太太)$"
)
KIN = frozenset("父母兄姉弟妹爺婆娘嫁")
_OWN_KIN = re.compile(f"^[おご](?=[{''.join(sorted(KIN))}]$)")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?")
_SENTENCE_START = re.compile(r"(?:^|[.!?…:;][\"'”’»)\]]*\s+|[\n\"'“”‘«»(\[*_—–¿¡-]\s*)$")

# in what tells of an edition, not of the story
_IMPRINT = re.compile(r"©|\bcopyright\b|\ball rights reserved\b|\bproject gutenberg\b", re.IGNORECASE)
# of verse every line begins with a capital: no name goes on from one to the next
_VERSES = re.compile(r"(?:[^\w\n]*(?![a-zß-ÿ])\w.*\n)+.*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LINKING = _words("de del della di da do dos du la le von van der den zu of af av bin ibn al el y e")
_CALENDAR = (calendar.day_name, calendar.month_name, calendar.day_abbr, calendar.month_abbr, ("sept",))
_NO_NAMES = _words("i i'm i'll i've i'd o oh ah god christmas easter english french latin").union(
    name.lower() for names in _CALENDAR for name in names
)
# ideas that authors write like persons, and what they name otherwise: names only beside other words ('Fifth Avenue')
_IDEAS = _words(
    "nature heaven hell fate fortune providence destiny death life love time space eternity history science art truth "
    "justice reason liberty bible gospel scripture first second third fourth fifth sixth seventh eighth ninth tenth "
    "eleventh twelfth"
)
_ENGLISH_BEFORE = re.compile(r"\ban?$", re.IGNORECASE)  # 'a Quaker', 'a Mexican hat'
_GERMAN_BEFORE = re.compile(
    r"\b(?:[dkms]?ein|ihr|unser|euer|d(?:er|ie|as|en|em|es)|zu[rm]|[ibv][mn]s?|vom|\w+e[nrsm]?)$"
)
_PLACE_BEFORE = re.compile(  # the first group before places and hardly anybody, the others before persons too
    r"\b(?:(in|at|near|across|through(?:out)?|into|outside|around|à|en|bei|desde|в|на)|from|to|towards|of|nach|aus|a|из)"
    r"\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_PLACE_END = re.compile(
    r"(?:駅|町|村|島|山|川|市|県|海|城|省|国|國|街|路|역|시|산|강)$"
    r"|\b(?:Library|Lake|River|Street|Square|Station|Hall|Avenue|County|Range|Ridge|Falls|Park|Gardens|Bridge|Road"
    r"|Church|University|Islands?|Mountains?|Hill|Bay|\w*[Hh]ouse|Memorial|Inn|Straße|Platz)$"
)
_INSIDE_WEIGHT = 3  # of 'in' before a name; one of 'to'
_TITLE_WORD = re.compile(TITLE.pattern[:-3] + "$", re.IGNORECASE)
# a full stop after any other word ends a sentence; what has no vowel is shortened: 'Mrs', 'St', 'T'
_SHORTENED = re.compile(
    r"[^aeiouyà-ÿ]+|[a-z]|mme|mlle|capt|prof|rev|hon|gen|col|lieut|maj|gov|sen|messrs|esq|co|chas|jas|geo|thos",
    re.IGNORECASE,
)
_HAN, _KANA = r"\u3400-\u4dbf\u4e00-\u9fff々", r"\u30a1-\u30fa\u30fc"
_JAPANESE_WORDS = re.compile(
    rf"[{_HAN}][\u3041-\u3096]+[{_HAN}]|^[こそあ]の"
)  # 'X の Y', an adjective or verb before a noun
_STOP = _words(
    "彼 彼女 私 僕 俺 母 父 兄 姉 弟 妹 男 女 誰 皆 客 奥 神 嫁 娘 息子 祖父 祖母 老人 少年 少女 二人 三人 自分 子供 "
    "医者 人 記者 新聞 先生 他 她 我 你 老 小 大家 有人 那人 于是 接着 只好 然后 忽然 又 便 也 都 不"
)
# what stands beside a name, by script; each pattern has the name as its only group
_SIGNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![{_HAN}お御])([{_HAN}]{{1,4}}|[{_KANA}]{{2,}}(?:・[{_KANA}]+)*)(?:さん|さま|様|氏|君|くん|ちゃん|先生|殿)",
        rf"」と、?([{_HAN}]{{1,4}}|[{_KANA}]{{2,}})[はが]",
        rf"(?<![{_HAN}])([{_HAN}]{{1,4}}|[{_KANA}]{{2,}})[はが][^。、「」\n]{{0,8}}?(?:言[っうい]|云っ|答え|笑[っうい]|うなず|頷|尋ね|たずね|き[いく]|聞[いく]|見|黙|振り返|立ち|首を|頭を)",
        rf"([{_KANA}]{{2,}}・[{_KANA}]+)",
        rf"(?:^|[。！？，；」』”\s])([{_HAN}]{{2,3}}?)(?:[笑冷哭怒忙便又]{{0,2}})(?:说|說|道|问道|問道|喊|叫道)(?=[：，:「“『])",
        r"(?<![가-힣])([가-힣]{2,4}?)(?:씨|님)(?=[은는이가을를의도와과,. ])",
        r"(?<![가-힣])([가-힣]{2,4}?)(?:은|는|이|가) [^.\n]{0,12}?(?:말했|물었|대답했|웃었)",
        r"(?:السيد|السيدة|الدكتور|الأستاذ|الشيخ|الملك|الأمير|يا|قال|قالت|سأل|أجاب)\s+([\u0621-\u064a]{3,})",
        r"(?:מר|גברת|רבי|אמר|אמרה|שאל|שאלה|ענה|ענתה)\s+([\u05d0-\u05ea]{3,})",
        r"(?:श्री|श्रीमती|डॉ\.?)\s+([\u0900-\u0963]{2,})",
        r"([\u0900-\u0963]{3,})\s+(?:ने|जी)(?=\s)",
    )
)


_LONG_WORD, _LEAST_TITLED = re.compile(r"[^\W\d_]{4,}"), 4
_LOWER_WORD = re.compile(r"\b[a-zà-öø-ÿ]+\b")
_LEAST_LOWER, _COMMON = 4, 3  # times that a word stands without a capital, and for each time with one, to be common
_MORE_OFTEN = 2  # a single word is a name if it has a capital more than so many times as often as it has none


class EntityKind(StrEnum):
    """What a name names."""

    PERSON = "person"
    PLACE = "place"
    THING = "thing"
    GROUP = "group"


@dataclass(frozen=True)
class FoundName:
    """A name found by rule, known from ``paragraph`` on."""

    name: str
    kind: EntityKind
    paragraph: int


@lru_cache(maxsize=20_000)
def name_key(name: str) -> str:
    """Return what two spellings of one name have in common: letter case, accents, articles and honorifics are ignored.

    '' for what has no letter. Titles stay: 'Mr Harrow' and 'Mrs Harrow' are two.
    """
    bare = name_without_honorific(name)
    return fold(bare).replace("’", "'").replace(".", "").replace("-", " ") if any(map(str.isalpha, bare)) else ""


def name_without_honorific(name: str) -> str:
    """Return a name without quotation marks, article and honorific; 'お父さん' is '父'."""
    plain = collapse_whitespace(name).strip(" \"'“”‘’「」『』*_.,;:")
    return _OWN_KIN.sub("", HONORIFIC.sub("", ARTICLE.sub("", plain, count=1)))


def split_persons(name: str) -> tuple[str, ...]:
    """Return the persons whom one name of a note names: 'John and Mary Grey' are 'John' and 'Mary Grey'.

    Each as the text calls them, so that a surname is not added; a firm, or two descriptions, are not split.
    """
    name = collapse_whitespace(name)
    if couple := _TWO_TITLES.match(name):
        title, other, dot, rest = couple.groups()
        return f"{title}{dot} {rest}", f"{other}{dot} {rest}"
    pair = _TWO_NAMES.match(name)
    if not pair or _FIRM.search(name) or any(is_description(part) or not part[0].isupper() for part in pair.groups()):
        return (name,)
    return pair.group(1), pair.group(2)


@lru_cache(maxsize=20_000)
def is_description(name: str) -> bool:
    """Whether a name has common words in it ('the keeper', 'young Tom', '若い助手'), or is one character of others."""
    core = ARTICLE.sub("", name.strip())
    if not _is_cased(core):
        return len(core) == 1 or bool(_JAPANESE_WORDS.search(core))
    words = [word for word in re.findall(r"[^\W\d_]+", core) if word not in _LINKING and len(word) > 1]
    return core[:1].islower() or any(word[0].islower() for word in words)


def has_name(name: str) -> bool:
    """Whether somebody is called by a name, also with one common word before it: 'old Mrs. Skeff', 'farmer Grey'."""
    return not is_description(name) or not is_description(_COMMON_FIRST.sub("", ARTICLE.sub("", name.strip())))


def name_worth(name: str) -> tuple[bool, bool, bool, int]:
    """Return how well a name serves to show somebody by: best without common words, an article or the page that tells
    two of one description apart; then the longest.
    """
    return not is_description(name), not ARTICLE.match(name), not PAGE_OF_NAME.search(name), len(name)


def _is_cased(text: str) -> bool:
    return text.lower() != text.upper()


@lru_cache(maxsize=4)
def find_names(document: Document) -> tuple[FoundName, ...]:
    """Return the names in ``document`` by rule, in the order in which they become known.

    A book of 100,000 words takes half a second, so the result is kept for the next call.
    """
    found = _Evidence(document.language[:2])
    for index, paragraph in enumerate(document.paragraphs):
        if not _IMPRINT.search(paragraph.text):
            found.read(index, paragraph.text)
    return tuple(found.with_places())


class _Evidence:
    """The evidence for names in the paragraphs read so far. ``names``: those known, by their key."""

    def __init__(self, language: str) -> None:
        self.names: dict[str, FoundName] = {}
        self._german = language == "de"
        self._common_before = {"de": _GERMAN_BEFORE, "en": _ENGLISH_BEFORE}.get(language)
        self._seen: Counter[str] = Counter()
        self._against: Counter[str] = Counter()
        self._times: Counter[str] = Counter()
        self._inside: Counter[str] = Counter()  # times after 'in', and
        self._towards: Counter[str] = Counter()  # after 'to'
        self._titled: set[str] = set()  # surnames after a title,
        self._first_names: set[str] = set()  # and what stands before one of these in a name
        self._lower: Counter[str] = Counter()  # words that stand in the text without a capital
        self._edges: Counter[str] = Counter()  # first and last words of names
        self._surnames: set[str] = set()

    def read(self, index: int, text: str) -> None:
        self._lower.update(_LOWER_WORD.findall(text))
        long = _LONG_WORD.findall(text)
        # in a title nearly every word has a capital, so that one says nothing
        titled = len(long) >= _LEAST_TITLED and sum(map(str.islower, long)) * 5 <= len(long)
        for whole, name, before in _capitalised(text):
            name = self._without_common_words(name)
            if name and (calling := _CALLING_BEFORE.search(before)):
                name = f"{calling.group(1)} {name}"  # 'lawyer Royall' is not Royall alone
            if name_key(whole) in self._seen:
                name = whole.removeprefix("The ")  # the first word of a sentence, too, belongs to a name seen before
            for part, ahead in self._apart(name, before) if name else ():
                self._weigh(index, part, ahead, 2 if " " in part and not titled else 1)
        if not text.isascii():
            for sign in _SIGNS:
                for match in sign.finditer(text):
                    if match.group(1) not in _STOP:
                        self._weigh(index, match.group(1), text[: match.start(1)], 2 if sign is _SIGNS[0] else 1)

    def _apart(self, name: str, before: str) -> Iterator[tuple[str, str]]:
        """Yield a name with the text before it; where it is of one known already, that one, and after 'of' the other.

        'Anna Fry of Rye' is 'Anna Fry' and 'Rye', and 'Anna’s Tales' 'Anna', once she is known.
        """
        for between in _OF_ANOTHER.finditer(name):
            known, of = name[: between.start()], between.group().strip() == "of"
            if (" " in known or not of) and name_key(known) in self.names:
                yield known, before
                if of:
                    yield name[between.end() :], before + name[: between.end()]
                return
        yield name, before

    def _without_common_words(self, name: str) -> str:
        """Return a name without common words at its ends: 'Is Mrs. Scully' is 'Mrs. Scully', 'The' is ''."""
        words = name.split()
        while words and self._is_common(words[0]):
            del words[0]
        while words and self._is_common(words[-1]):
            del words[-1]
        return "" if len(words) == 1 and _TITLE_WORD.match(words[0]) else " ".join(words)

    def _is_common(self, word: str) -> bool:
        word = word.rstrip(".").lower()
        self._edges[word] += 1
        return self._lower[word] >= max(_LEAST_LOWER, _COMMON * self._edges[word]) and not _TITLE_WORD.match(word)

    def _weigh(self, index: int, name: str, before: str, weight: int) -> None:
        key = name_key(name)
        if not key or key in _NO_NAMES or key in _IDEAS:
            return
        if self._common_before and weight == 1 and self._common_before.search(before[-20:].rstrip()):
            self._against[key] += 1
            return
        self._seen[key] += weight
        self._times[key] += 1
        if placed := _PLACE_BEFORE.search(before[-16:]):
            (self._inside if placed.group(1) else self._towards)[key] += 1
        enough = 4 if self._german and weight == 1 else 2
        enough = max(enough, self._lower[key] * _MORE_OFTEN + 1)  # 'Editor' where 'editor' stands too
        if key not in self.names and self._seen[key] >= enough and self._against[key] * 4 <= self._seen[key]:
            of_family = key.removesuffix("s") in self._surnames and key.endswith("s")  # 'the Frys'
            self.names[key] = FoundName(name, EntityKind.GROUP if of_family else EntityKind.PERSON, index)
        if weight == 2:
            self._surnames.add(key.split()[-1])
        if TITLE.match(name):
            self._titled.add(key.split()[-1])
            self._surnames.add(key.split()[-1])

    def with_places(self) -> Iterator[FoundName]:
        """Yield the names. The words before a name in the whole book show whether it is of a place."""
        self._first_names = {key.split()[0] for key in self.names if " " in key and key.split()[-1] in self._titled}
        for key, found in self.names.items():
            is_place = found.kind == EntityKind.PERSON and self._is_place(key, found.name)
            yield replace(found, kind=EntityKind.PLACE) if is_place else found

    def _is_place(self, key: str, name: str) -> bool:
        """Whether the head of a name is one of places, or the words before it are, and no title or family says else."""
        if TITLE.match(name) or key in self._titled:
            return False
        if _PLACE_END.search(name.split(" of ")[0]):
            return True
        inside, family = self._inside[key], self.names.get(f"{key.split()[-1]}s")
        if family and family.kind == EntityKind.GROUP:
            return False
        if inside == 1 and key in self._first_names:
            return False
        return inside > 0 and (_INSIDE_WEIGHT * inside + self._towards[key]) * 4 > self._times[key] * 3


def _capitalised(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield every run of capitalised words, what of it is surely a name, and the text before it.

    The first word of a sentence is not surely a part of a name, unless it is a title.
    """
    run: list[re.Match[str]] = []
    gaps = (" ",) if _VERSES.fullmatch(text) else (" ", "\n")
    for word in (*_WORD.finditer(text), None):
        near = word is not None and (not run or text[run[-1].end() : word.start()] in gaps)
        spelled = word.group().rstrip(".") if word else ""
        if word and near and _is_name_word(spelled):
            if run and run[-1].group().endswith(".") and not _SHORTENED.fullmatch(run[-1].group()[:-1]):
                yield from _named(text, run)  # the end of a sentence
                run = []
            run.append(word)
            continue
        if word and near and run and spelled in _LINKING:
            run.append(word)
            continue
        yield from _named(text, run)
        run = [word] if word and _is_name_word(spelled) else []


def _is_name_word(word: str) -> bool:
    return word[0].isupper() and (len(word) == 1 or not word.isupper()) and word.lower() not in _NO_NAMES


def _named(text: str, run: list[re.Match[str]]) -> Iterator[tuple[str, str, str]]:
    while run and not run[-1].group()[0].isupper():
        run = run[:-1]
    if not run:
        return
    titled = bool(_TITLE_WORD.match(run[0].group()))
    sure = run
    if not titled and _SENTENCE_START.search(text[max(0, run[0].start() - 6) : run[0].start()]):
        sure = run[1:]
        while sure and not sure[0].group()[0].isupper():
            sure = sure[1:]
    if len(sure) == 1 and (len(sure[0].group().rstrip(".")) < 2 or bool(_TITLE_WORD.match(sure[0].group()))):
        sure = []
    yield _joined(text, run), _joined(text, sure), text[: run[0].start()]


def _joined(text: str, run: list[re.Match[str]]) -> str:
    if not run:
        return ""
    end = run[-1].end() - run[-1].group().endswith(".")
    return collapse_whitespace(re.sub(r"['’]s$", "", text[run[0].start() : end]))
