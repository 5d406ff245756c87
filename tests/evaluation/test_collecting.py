"""The search for rings of objects is made seldom during a run, and as before after it."""

from __future__ import annotations

import gc

import pytest

from readagent_core.evaluation import collecting


@pytest.fixture(autouse=True)
def as_it_was():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def test_seldom_while_a_run_lasts_and_as_before_after_it():
    gc.set_threshold(700, 11, 12)
    with collecting.seldom():
        assert gc.get_threshold() == (10_000, 11, 12)
        assert gc.get_freeze_count() > 1000
    assert gc.get_threshold() == (700, 11, 12)
    assert gc.get_freeze_count() == 0


def test_the_last_of_several_runs_puts_it_back_even_after_an_error():
    gc.set_threshold(700, 10, 10)
    first, second = collecting.seldom(), collecting.seldom()
    with first:
        with pytest.raises(ValueError, match="stopped"), second:
            raise ValueError("stopped")
        assert gc.get_threshold()[0] == 10_000
        assert gc.get_freeze_count() > 1000
    assert gc.get_threshold()[0] == 700


def test_who_searches_more_seldom_still_does():
    gc.set_threshold(50_000, 10, 10)
    with collecting.seldom():
        assert gc.get_threshold()[0] == 50_000
