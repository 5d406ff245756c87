"""Several pause points a prompt: pages are within bounds, spans are joined, few words are sent twice."""

from __future__ import annotations

import re
from itertools import repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.errors import CutOffError, ReplyError
from readagent_core.gisting import read
from readagent_core.gisting.pause_windows import Windows
from readagent_core.gisting.span_pagination import parse_pause_points, span_prompt, split_into_spans
from readagent_core.library import Library
from readagent_core.memory import check_coverage
from readagent_core.plan import GistingPlan
from tests.fakes.model import FakeModel
from tests.gisting.helpers import REPLIES, make_document, many_replier, random_document, read_with_stops

OFFERED = {5, 9, 14, 20}


def plan_for(pagination, **more):
    return GistingPlan(max_words=100, min_words=40, pagination=pagination, **more)


@pytest.mark.parametrize(("reply", "reasons"), [*REPLIES["pause points"], ("<" + "5" * 400 + ">", None)])
def test_replies_as_models_write_them(reply, reasons):
    if reasons is None:
        with pytest.raises(ReplyError):
            parse_pause_points(reply, OFFERED)
    else:
        found = parse_pause_points(reply, OFFERED)
        assert {str(n): r.rstrip(" *") for n, r in found.reasons.items()} == reasons


def test_gists_come_with_their_labels():
    reply = (
        "<5> because dusk\nGist: Ada climbs.\nShe finds a letter.\n"
        "<9> because dawn\n\nGist: Rowe rows.\n<14> because it ends"
    )
    found = parse_pause_points(reply, OFFERED)
    assert found.gists == {5: "Ada climbs.\nShe finds a letter.", 9: "Rowe rows."}
    assert found.reasons[14] == "it ends"


@given(st.text(alphabet="<>|0123456789 because\nGist:*-.", max_size=120))
def test_any_reply_gives_offered_labels_or_its_own_error(reply):
    try:
        found = parse_pause_points(reply, OFFERED)
    except ReplyError:
        return
    assert set(found.reasons) <= OFFERED
    assert list(found.reasons) == sorted(found.reasons)


def test_labels_carry_the_words_so_far():
    windows = Windows(make_document([30] * 60), plan_for("many"))
    (first, *_) = split_into_spans(windows, 0, 60, window=None)
    prompt = span_prompt(windows, first, with_gists=False)
    assert re.findall(r"<\d+ \| \d+>", prompt.fields["passage"])[:2] == ["<2 | 60>", "<3 | 90>"]


def check_pages(memory, plan):
    check_coverage(memory.document, memory.pages)
    for page in memory.pages:
        assert page.words <= plan.max_words
        assert page.words >= plan.min_words or page.ends in ("end", "section", "only")
    assert memory.complete


@settings(max_examples=36, derandomize=True)
@given(
    sizes=st.lists(st.integers(1, 110), min_size=1, max_size=150),
    pagination=st.sampled_from(["many", "one-pass"]),
    sloppy=st.sampled_from([0, 2, 5]),
    connections=st.sampled_from([1, 6]),
    crossing=st.booleans(),
    window=st.sampled_from([None, 300, 900]),
)
def test_pages_are_within_bounds_whatever_the_reply(sizes, pagination, sloppy, connections, crossing, window):
    plan = plan_for(pagination, cross_sections=crossing)
    document = make_document(sizes, sections=range(0, len(sizes), 37))
    model = FakeModel(many_replier(sloppy=sloppy), window=window)
    memory = read(document, model, plan, connections=connections)
    check_pages(memory, plan)
    once = [p for p in model.prompts if "passage" in p.fields and "first" not in p.fields]  # without the retries
    shown = sum(len(re.findall(r"\bw\d+x\d+", p.fields["passage"])) for p in once)
    assert shown <= 1.15 * document.words
    assert memory.pages == read(document, FakeModel(many_replier(sloppy=sloppy), window=window), plan).pages


def test_a_page_over_two_spans_ends_at_a_pause_point_of_the_second():
    memory = read(random_document(4, paragraphs=200, most=40), FakeModel(many_replier()), plan_for("many"))
    assert not any(page.fallback for page in memory.pages)


@pytest.mark.parametrize("pagination", ["many", "one-pass"])
def test_useless_replies_give_marked_fallbacks(pagination):
    def useless(prompt):
        return "No." if prompt.task.startswith("paginate") else many_replier()(prompt)

    plan = plan_for(pagination)
    memory = read(random_document(1, paragraphs=200, most=40), FakeModel(useless), plan)
    check_pages(memory, plan)
    assert all(p.fallback for p in memory.pages if p.ends == "pause")


def test_one_pass_sends_the_book_once():
    document = random_document(2, paragraphs=400, most=40)
    model = FakeModel(many_replier())
    memory = read(document, model, plan_for("one-pass"))
    words = sum(len(re.findall(r"\bw\d+x\d+", p.text)) for p in model.prompts)
    assert words <= 1.5 * document.words  # pages across two spans have gists of their own
    paged = sum(p.task == "paginate_gist" for p in model.prompts)
    assert len(model.prompts) - paged < len(memory.pages) / 3
    assert all(not g.fallback for g in memory.gists)


@pytest.mark.parametrize("fault", [" 9071", " and with Jonas", " more" * 60])
def test_a_faulty_gist_of_one_pass_is_made_on_its_own(fault):
    plain = many_replier()

    def faulty(prompt):
        text = plain(prompt)
        return re.sub(r"^(Gist: .*)$", rf"\1{fault}", text, flags=re.M) if prompt.task == "paginate_gist" else text

    model = FakeModel(faulty)
    memory = read(random_document(2, paragraphs=100, most=40), model, plan_for("one-pass"))
    assert sum(p.task == "gist" for p in model.prompts) >= len([g for g in memory.gists if not g.whole])
    assert not any(fault in gist.text for gist in memory.gists)


def test_the_complete_part_of_a_cut_off_reply_is_used():
    plain = many_replier()

    def cut(prompt):
        if prompt.task == "gist":
            return plain(prompt)
        text = plain(prompt)
        return CutOffError("cut", text[: len(text) * 2 // 3])

    document = random_document(3, paragraphs=120, most=40)
    memory = read(document, FakeModel(cut), plan_for("many"))
    check_pages(memory, plan_for("many"))
    assert any(not p.fallback for p in memory.pages)


@pytest.mark.parametrize(("pagination", "connections"), [("many", 1), ("many", 8), ("one-pass", 8)])
def test_a_resumed_reading_asks_nothing_twice(tmp_path, pagination, connections):
    library = Library(tmp_path)
    document = random_document(6, paragraphs=200, most=40, sections=[65, 66, 150])
    plan = plan_for(pagination, cross_sections=False)
    whole = read(document, FakeModel(many_replier(sloppy=4)), plan, connections=connections)
    memory, prompts = read_with_stops(
        document, plan, library, many_replier(sloppy=4), stops=repeat(9), connections=connections
    )
    assert (memory.pages, memory.gists) == (whole.pages, whole.gists)
    assert len(prompts) == len(set(prompts))
    library.close()
