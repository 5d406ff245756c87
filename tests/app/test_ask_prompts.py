"""The dialog with the prompts of a step."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def of_the_reader() -> None:
    from pages.ask import show_prompts
    from readagent_core.answering.base import ModelCall
    from readagent_core.answering.replay import ANSWER, Step
    from readagent_core.usage import Usage

    call = ModelCall("answer", "prompt", "So.", Usage(calls=1, words_in=2714, words_out=9))
    show_prompts([Step(ANSWER, "Answer", calls=(call,))], 0, by_reader=True)


def test_of_the_built_in_reader_nothing_is_said_to_be_sent():
    at = AppTest.from_function(of_the_reader, default_timeout=60).run()
    assert not at.exception
    said = [caption.value for caption in at.caption]
    assert "The prompt that a model would get; the built-in reader got it here, nothing was sent." in said
    assert not [line for line in said if line.startswith("Sent")]
