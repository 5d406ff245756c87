"""Dictionaries of all variants are looked up by form and base form; a broken one is told and costs nothing else."""

from __future__ import annotations

import io
import itertools
import re
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from readagent_core.dictionaries.shelf import FOLDER, Dictionaries
from readagent_core.dictionaries.unpacking import unpack_dictionary
from readagent_core.errors import DamagedDictionaryError
from tests.dictionaries.making import make_dictd, make_stardict

WORDS = [(f"word{n:04}", f"What word {n} means. {'More of it. ' * 30}".encode()) for n in range(300)]
ENTRIES = [
    ("Haus", b"ein Geb\xc3\xa4ude"), ("Polish", b"of Poland"), ("be", b"to exist"), ("go", b"to move"),
    ("lantern", b"a lamp"),
    ("polish", b"to make bright"), ("running", b"the act of a runner"), ("\u98df\u3079\u308b", b"to eat"),
]  # fmt: skip


@pytest.fixture
def shelf(tmp_path: Path) -> Dictionaries:
    make_stardict(tmp_path / FOLDER / "a", ENTRIES, synonyms=[("lamp", 4)])
    found = Dictionaries(tmp_path)
    assert [(one.words, one.fault) for one in found.update()] == [(9, "")]
    return found


def test_every_variant_of_the_files(tmp_path: Path) -> None:
    variants = list(itertools.product(("m", ""), (False, True), (False, True), ("", "gzip", "dictzip")))
    for number, (types, wide, packed, text) in enumerate(variants):
        words = WORDS if types else [(word, b"m" + entry + b"\0") for word, entry in WORDS]
        make_stardict(
            tmp_path / FOLDER / str(number), words, title=f"Variant {number}", types=types, wide=wide,
            packed_index=packed, packed_text=text,
        )  # fmt: skip
    make_dictd(tmp_path / FOLDER / "dictd", WORDS)
    for path in (tmp_path / FOLDER / "0").iterdir():  # as from an old computer
        path.rename(path.with_name(path.stem + path.suffix.upper()))
    shelf = Dictionaries(tmp_path)
    found = shelf.update()
    assert [(one.words, one.fault) for one in found] == [(300, "")] * (len(variants) + 1)
    for one in found:  # each alone, because a look-up shows six at most
        alone = Dictionaries(tmp_path / "alone" / one.path.parent.name, [one.path.parent])
        alone.update()
        for number in (0, 7, 299):
            (entry,) = alone.look_up(f"Word{number:04}")
            assert entry.text.startswith(f"What word {number} means. More of it."), one.path


@pytest.mark.parametrize(
    ("word", "language", "heads"),
    [
        ("went", "en", ["go"]), ("goes", "en", ["go"]), ("is", "en", ["be"]), ("“Lanterns,”", "en-GB", ["lantern"]),
        ("lantern’s", "en", ["lantern"]), ("running", "en", ["running"]), ("Polish", "en", ["Polish", "polish"]),
        ("polished", "en", ["polish", "Polish"]), ("Häuser", "de", ["Haus"]), ("lamp", "en", ["lamp"]),
        ("食べました", "ja", ["食べる"]), ("nothing", "en", []), ("…", "en", []),
    ],
)  # fmt: skip
def test_forms_and_base_forms(shelf: Dictionaries, word: str, language: str, heads: list[str]) -> None:
    assert sorted(entry.word for entry in shelf.look_up(word, language)) == sorted(heads)


def test_mark_up_becomes_lines_of_text(tmp_path: Path) -> None:
    entry = b"t\xcb\x88lamp\0hA <b>lamp</b><br>with <script>alert(1)</script>a <i>case</i>"
    entry += b"<ul><li>one</li><li>two</li></ul>three\0"
    entry += b"W" + (3).to_bytes(4, "big") + b"RIF"
    make_stardict(tmp_path / FOLDER, [("lantern", entry)], types="")
    shelf = Dictionaries(tmp_path)
    shelf.update()
    assert [one.text for one in shelf.look_up("lantern")] == ["[ˈlamp]\nA lamp\nwith a case\none\ntwo\nthree"]


@pytest.mark.parametrize("end", [".idx", ".dict", ".ifo"])
def test_a_broken_dictionary_is_told_and_the_others_serve(tmp_path: Path, end: str) -> None:
    make_stardict(tmp_path / FOLDER / "good", ENTRIES, title="Good")
    make_stardict(tmp_path / FOLDER / "bad", ENTRIES, title="Bad")
    shelf = Dictionaries(tmp_path)
    shelf.update()
    path = tmp_path / FOLDER / "bad" / f"made{end}"
    path.write_bytes(path.read_bytes()[5:13])
    assert [entry.dictionary for entry in shelf.look_up("go")][-1] == "Good"  # before it is indexed again
    bad, good = sorted(shelf.update(), key=lambda one: not one.fault)
    assert bad.fault.endswith((".", "again.", "one."))
    assert (bad.words, good.words) == (0, 8)
    assert [entry.dictionary for entry in shelf.look_up("go")] == ["Good"]
    path.unlink()
    path.symlink_to("nowhere")
    assert [one.title for one in shelf.update() if not one.fault] == ["Good"]
    path.unlink()
    (tmp_path / "dictionaries.db").write_bytes(b"not a database" * 100)  # everything in it can be read again
    assert [entry.dictionary for entry in Dictionaries(tmp_path).look_up("go")] == []
    assert "Good" in [one.title for one in shelf.update() if not one.fault]


@pytest.mark.parametrize(
    "packed",
    [
        b"\x1f\x8b\x08\x08" + b"a name without an end",
        b"\x1f\x8b\x08\x04" + bytes(6) + struct.pack("<H2sHHHHH", 12, b"RA", 8, 1, 0, 1, 9) + b"a piece of no size",
    ],
)
def test_a_damaged_packed_text_is_told(tmp_path: Path, packed: bytes) -> None:
    make_stardict(tmp_path / FOLDER, ENTRIES, packed_text="dictzip")
    (tmp_path / FOLDER / "made.dict.dz").write_bytes(packed)
    assert [one.fault for one in Dictionaries(tmp_path).update()] == [
        "made.dict.dz cannot be unpacked. Get the dictionary again."
    ]


def test_an_index_that_points_past_every_text_is_told(tmp_path: Path) -> None:
    make_dictd(tmp_path / FOLDER, ENTRIES)
    (tmp_path / FOLDER / "dictd.index").write_text(f"go\t{'/' * 40}\tB\n", encoding="utf-8")
    (one,) = Dictionaries(tmp_path).update()
    assert one.fault == "dictd.index points past the end of any text. Get the dictionary again."


def test_a_text_that_was_cut_at_its_end_is_told(tmp_path: Path) -> None:
    make_stardict(tmp_path / FOLDER, ENTRIES, title="Cut")
    path = tmp_path / FOLDER / "made.dict"
    path.write_bytes(path.read_bytes()[:-1])
    (one,) = Dictionaries(tmp_path).update()
    assert (one.words, one.fault) == (0, "The text of Cut is shorter than its index says. Get it again.")


@pytest.mark.parametrize("kind", ["zip", "gz", "xz", ""])
def test_a_dictionary_is_taken_from_the_archive_it_comes_in(tmp_path, kind):
    made = make_stardict(tmp_path / "made", [("lamp", b"It gives light.")], packed_text="dictzip")
    packed, home = io.BytesIO(), tmp_path / "home"
    if kind == "zip":
        with zipfile.ZipFile(packed, "w") as archive:
            for path in made.iterdir():
                archive.write(path, f"deep/{path.name}")
            archive.writestr("deep/readme.sh", "rm")
    else:
        with tarfile.open(fileobj=packed, mode=f"w:{kind}") as archive:
            for path in made.iterdir():
                archive.add(path, f"../../{path.name}")  # only the bare name counts
            link = tarfile.TarInfo("x.idx")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(link)
    unpack_dictionary(packed.getvalue(), "../made.stardict.tar", home / FOLDER)
    assert sorted(path.name for path in home.rglob("*") if path.is_file()) == ["made.dict.dz", "made.idx", "made.ifo"]
    dictionaries = Dictionaries(home)
    dictionaries.update()
    assert [entry.text for entry in dictionaries.look_up("lamp")] == ["It gives light."]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "made"]


@pytest.mark.parametrize("data", [b"", b"PK", b"a letter", b"\x1f\x8b no gzip", b"\xfd7zXZ no xz"])
def test_what_is_no_archive_with_a_dictionary_is_explained(tmp_path, data):
    with pytest.raises(DamagedDictionaryError, match=r"Nothing was|copy it again"):
        unpack_dictionary(data, "letter.zip", tmp_path / "home")
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(("lacking", "named"), [("made.idx", "made.idx"), ("made.dict", "made.dict")])
def test_an_archive_that_lacks_a_file_of_the_dictionary_is_not_taken(tmp_path, lacking, named):
    make_stardict(tmp_path / "made", ENTRIES)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in (tmp_path / "made").rglob("*"):
            if path.is_file() and path.name != lacking:
                archive.write(path, path.name)
    with pytest.raises(DamagedDictionaryError, match=f"there is no {re.escape(named)}.*Nothing was added"):
        unpack_dictionary(packed.getvalue(), "made.zip", tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_a_tar_file_that_claims_more_than_it_holds_is_not_unpacked(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("huge.ifo")
        member.pax_headers = {"GNU.sparse.size": str(1 << 34), "GNU.sparse.map": "0,1"}
        member.size = 1
        archive.addfile(member, io.BytesIO(b"x"))
    with pytest.raises(DamagedDictionaryError, match="No dictionary is in"):
        unpack_dictionary(packed.getvalue(), "huge.tar", tmp_path)


def test_a_removed_dictionary_takes_its_own_files_and_no_others(tmp_path: Path) -> None:
    made = make_stardict(tmp_path / FOLDER / "a", ENTRIES)
    make_stardict(made, ENTRIES, name="made.later", title="Later")
    shelf = Dictionaries(tmp_path, [make_dictd(tmp_path / "other", WORDS)])
    first, later, other = shelf.update()
    assert [shelf.owns(one) for one in (first, later, other)] == [True, True, False]
    shelf.remove(next(one for one in (first, later) if one.title == "A made one"))
    assert [one.title for one in shelf.all()] == ["Later", "dictd"]
    assert {path.stem for path in made.iterdir()} == {"made.later"}
    shelf.remove(shelf.all()[0])
    assert not made.exists()
    assert shelf.update() == [other]
