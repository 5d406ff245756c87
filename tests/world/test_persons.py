"""Of the persons that a careful reader lists in a sample, its recorded notes have at least 95 %, each once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from readagent_core import loaders
from readagent_core.incoming.samples import FOLDER, read_recording, recorded_memory, recorded_world
from readagent_core.world.as_of import World
from readagent_core.world.names import name_key
from readagent_core.world.notes import NoteReader
from readagent_core.world.same_names import new_people, parse_same_names, same_names_prompt
from tests.recordings import make_memory

LISTED = json.loads((Path(__file__).parents[1] / "data" / "persons.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", LISTED)
def test_persons_found_and_double(name: str) -> None:
    document = loaders.load((FOLDER / f"{name}.md").read_bytes(), f"{name}.md")
    memory = recorded_memory(document, read_recording(name))
    known = recorded_world(read_recording(name), memory).as_of(len(memory.pages))
    people = (*known.people, *known.met_once)
    names_of = [{name_key(called) for called in (p.name, *(other.name for other in p.also))} for p in people]
    found = [[i for i, names in enumerate(names_of) if names & set(map(name_key, listed))] for listed in LISTED[name]]
    missing = [listed[0] for listed, ids in zip(LISTED[name], found, strict=True) if not ids]
    double = [listed[0] for listed, ids in zip(LISTED[name], found, strict=True) if len(ids) > 1]
    assert len(missing) <= len(found) * 0.05, missing
    assert len(double) <= len(found) * 0.05, double
    mixed = [people[i].name for i in range(len(people)) if sum(i in ids for ids in found) > 1]
    listed_nowhere = [people[i].name for i in range(len(people)) if not any(i in ids for ids in found)]
    assert (mixed, listed_nowhere) == ([], [])  # nobody is two, and there is nobody else


def test_what_a_page_shows_of_a_name_that_is_longer_later_holds_and_offices_are_shown_beside_descriptions() -> None:
    texts = [
        "Ann Lee was postmaster, harbour-master and clerk of the quay. She means to school T. next year.",
        "Ann Lee sat by the sea. Ann Lee wrote a letter. Ann Lee sold her boat.",
        "“Tilda Vane is T.,” she said. The postmaster never burned it.",
    ]
    memory = make_memory(texts, ["Gist."] * 3)
    lines = {
        1: [
            'person Ann Lee | is | postmaster and clerk of the quay | "postmaster, harbour-master and clerk"',
            'person T. | is | to go to school | "means to school T."',
        ],
        2: [
            f'person Ann Lee | is | {says} | "{words}"'
            for says, words in (
                ("by the sea", "sat by the sea"),
                ("a writer", "wrote a letter"),
                ("a seller", "sold her"),
            )
        ],
        3: [
            'person Tilda Vane | is | T. | "Tilda Vane is T."',
            'person Tilda | is | called so | "Tilda Vane is T."',
            'person The postmaster | does | burns no letter | "never burned it"',
        ],
    }
    reader = NoteReader(memory.document)
    world = World(memory, {p.number: reader.read(p, "\n".join(lines[p.number])) for p in memory.pages})
    people, _ = new_people(world, 0, 3)
    prompt = same_names_prompt(world, 0, 3)
    assert prompt is not None
    assert "postmaster and clerk of the quay [page 1]" in prompt.text
    number = {person.name: i for i, person in enumerate(people, start=1)}
    link, *_ = parse_same_names(world, 0, 3, f"{number['T.']} = {number['Tilda Vane']} | page 1")
    assert link.paragraph == 2  # where both names are known
    assert World(memory, world.notes, links=[link]).as_of(3).entity("T.") == World(
        memory, world.notes, links=[link]
    ).as_of(3).entity("Tilda")
