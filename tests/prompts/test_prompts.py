"""Every language has every template with the same variables; wrong variables raise."""

from __future__ import annotations

from pathlib import Path

import pytest

from readagent_core import prompts

FOLDER = Path(prompts.__file__).parent
NAMES = sorted(path.stem for path in (FOLDER / "en").glob("*.txt"))


@pytest.mark.parametrize("name", NAMES)
def test_every_language_has_it_with_the_same_variables(name):
    english = set(prompts.template(name, "en").get_identifiers())
    for language in prompts.LANGUAGES:
        chosen = prompts.template(name, language)
        assert chosen.is_valid()
        assert set(chosen.get_identifiers()) == english, f"{language}/{name}"


def test_no_language_has_a_template_of_its_own():
    for language in prompts.LANGUAGES:
        assert sorted(path.stem for path in (FOLDER / language).glob("*.txt")) == NAMES


def test_rendering_is_strict():
    with pytest.raises(ValueError, match=r"missing \['page'"):
        prompts.render("gist", "en", target="50", instructions="")
    with pytest.raises(ValueError, match=r"unused \['more'\]"):
        prompts.render("gist", "en", target="50", instructions="", page="x", more="y")


def test_values_are_not_templates():
    prompt = prompts.render("gist", "en", target="50", instructions="", page="It cost $5 and $target.")
    assert "It cost $5 and $target." in prompt.text


def test_the_documents_language_is_used_where_there_are_templates():
    assert prompts.render("gist", "ja-JP", target="50", instructions="", page="雪").language == "ja"
    assert prompts.render("gist", "fr", target="50", instructions="", page="neige").language == "en"


@pytest.mark.parametrize("name", [n for n in NAMES if "memory" in prompts.template(n, "en").get_identifiers()])
@pytest.mark.parametrize("language", prompts.LANGUAGES)
def test_the_memory_comes_before_the_question(name, language):
    text = prompts.template(name, language).template
    if "$question" in text:
        assert text.index("$memory") < text.index("$question")


def test_a_follow_up_comes_after_the_prompt():
    prompt = prompts.render("choose_text", "en", title="T", cut="", quote="", text="x", question="q", options="(A) a")
    again = prompt.with_follow_up("choose.again", letters="A")
    assert again.text.startswith(prompt.text)
    assert again.fields["letters"] == "A"
    assert again.task == "choose_text"
