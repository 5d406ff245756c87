"""The screens list a method of another installed package among ours, and ask by it."""

from __future__ import annotations

from readagent_core.evaluation.starting import list_experiments
from tests.app.test_ask import opened as opened
from tests.app.test_ask import put
from tests.app.test_evaluate import SCREEN, finish, small
from tests.methods.test_from_another_package import installed as installed

NAME, TITLE = "first-and-last", "First and last page"


def test_ask_and_compare_list_it_and_a_question_goes_to_it(installed, app, opened):
    at, _, _ = opened
    at.sidebar.toggle(key="ask_every_method").set_value(True).run()
    assert TITLE in at.sidebar.selectbox(key="ask_method").options
    at.sidebar.selectbox(key="ask_method").set_value(NAME).run()
    exchange = put(at, "Why did Ambrose Vane put out Harrow Light?")
    assert exchange.method == NAME
    at = app("pages/compare.py")
    assert at.checkbox(key=f"compare_{NAME}").label == TITLE
    assert not at.exception


def test_evaluate_lists_it_and_runs_it(installed, app, own_home):
    at = app(SCREEN)
    assert TITLE in at.multiselect(key="evaluate_methods").options
    at = small(at, NAME)
    at.button(key="evaluate_start").click().run()
    at = finish(at)
    assert not at.exception
    (stored,) = list_experiments(own_home)
    assert [arm["method"] for arm in stored.record["experiment"]["arms"]] == [NAME]
