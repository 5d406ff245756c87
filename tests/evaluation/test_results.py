"""Arms are written short and come back, and what is kept of a run survives a kill."""

from __future__ import annotations

import json
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from readagent_core.answering.base import AskSettings, Question
from readagent_core.answering.registry import all_methods, method
from readagent_core.cancel import CancelToken
from readagent_core.document import Document
from readagent_core.errors import DiskFullError, SettingsError
from readagent_core.evaluation.arms import Arm, parse
from readagent_core.evaluation.results import JsonLines, Result
from readagent_core.memory import GistMemory
from readagent_core.plan import GistingPlan
from readagent_core.usage import Usage
from tests.evaluation.made import P3, chosen
from tests.fakes.model import FakeModel

ENGINE = Path(__file__).resolve().parents[2] / "readagent_core"

# --- arms ---------------------------------------------------------------------------------------


def test_arms_are_written_short_and_come_back():
    base = AskSettings(look_ups=3)
    assert parse("read-agent-p", base).settings.look_ups == 3
    assert parse("read-agent-p:5", base).key == "read-agent-p:5"
    arm = parse("memwalker:keep=ends:context_words=6000:plan.pagination=uniform:siblings=2", base)
    assert (arm.settings.keep, arm.settings.context_words) == ("ends", 6000)
    assert (arm.plan, arm.settings.extra) == ({"pagination": "uniform"}, {"siblings": 2})
    assert Arm.from_dict(json.loads(json.dumps(arm.to_dict()))) == arm
    keys = {parse(text, base).key for text in ("gist-mem", "gist-mem:4", "gist-mem:plan.max_words=500")}
    assert len(keys) == 3


def test_every_setting_that_a_method_reads_can_be_written():
    sources = "".join(p.read_text() for f in ("methods", "answering") for p in (ENGINE / f).glob("*.py"))
    declared = {name for method in all_methods().values() for name in method.options}
    assert set(re.findall(r'run\.option\(\s*"(\w+)"', sources)) <= declared
    written = {int: "2", float: "2", bool: "true", str: "after"}
    for own in all_methods().values():
        for name, kind in own.options.items():
            extra = parse(f"{own.name}:{name}={written[kind]}", AskSettings()).settings.extra
            assert own.fits(name, extra[name])


def test_an_own_setting_of_another_type_or_method_is_refused_by_name():
    for text in ("zoom:words=many", "bm25:fill=3", "zoom:siblings=2"):
        with pytest.raises(SettingsError, match=text.partition(":")[2]):
            parse(text, AskSettings())
    asked = (Question("Why?"), GistMemory(Document("T", ()), GistingPlan(), (), ()), FakeModel([]))
    with pytest.raises(SettingsError, match="'words' of zoom must be a whole number, not 'many'"):
        list(method("zoom").run(*asked, AskSettings(extra={"words": "many"}), CancelToken()))


@pytest.mark.parametrize(
    "text",
    [
        "read-agent-p:many",
        "read-agent-p:-1",
        "full-text:keep=some",
        "gist-mem:context_words=x",
        "zoom:word=2000",
        "zoom:words=few",
    ],
)
def test_bad_arms_are_told(text):
    with pytest.raises(SettingsError, match="not understood"):
        parse(text, AskSettings())
    with pytest.raises(SettingsError, match="no method 'nothing'"):
        parse("nothing", AskSettings())


# --- lines --------------------------------------------------------------------------------------


def test_results_come_back_as_they_went(tmp_path):
    lines = JsonLines(tmp_path / "results.jsonl")
    kept = chosen(P3, 1, True, answer="雪\n\u2028", usage=Usage(calls=2, cost=0.5), extra={"stray": True}, hard=True)
    lines.append(kept.to_dict())
    assert [Result.from_dict(line) for line in lines] == [kept]


def test_a_line_broken_by_a_kill_is_cut_off(tmp_path):
    path = tmp_path / "results.jsonl"
    for broken in (b'{"a": 1}\n{"a": 2}\n{"a": 3', b'{"a": 1}\n{"a": 2}\n' + b"x" * 200_000):
        path.write_bytes(broken)
        assert len(list(JsonLines(path, repair=False))) == 2
        assert path.stat().st_size == len(broken)
        lines = JsonLines(path)
        lines.append({"a": 4})
        assert [line["a"] for line in lines] == [1, 2, 4]
    path.write_bytes(b"nothing whole")
    assert list(JsonLines(path)) == []
    assert path.stat().st_size == 0


def test_many_threads_write_whole_lines(tmp_path):
    lines = JsonLines(tmp_path / "results.jsonl")
    with ThreadPoolExecutor(8) as pool:
        places = list(pool.map(lambda n: lines.append({"n": n, "text": "x" * (n % 500)}), range(400)))
    assert [lines.read_at(place)["n"] for place in places] == list(range(400))


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    lines = JsonLines(tmp_path / "none" / "results.jsonl")
    with pytest.raises(DiskFullError, match="cannot be written"):
        lines.append({"a": 1})
    (tmp_path / "none").mkdir()
    lines.append({"a": 2})
    assert list(lines) == [{"a": 2}]


def test_a_line_that_a_full_disk_cut_is_taken_back(tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "results.jsonl"
    lines = JsonLines(path)
    lines.append({"a": 1})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 100, hard))  # as a disk with 100 bytes left
    try:
        with pytest.raises(DiskFullError):
            lines.append({"a": "x" * 1000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    lines.append({"a": 2})
    assert path.read_bytes() == b'{"a":1}\n{"a":2}\n'
