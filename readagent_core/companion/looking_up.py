"""Words of a book looked up in the dictionaries that a person has; those that are found are kept as a vocabulary."""

from __future__ import annotations

from pathlib import Path

from readagent_core.companion.passage import Passage
from readagent_core.dictionaries.shelf import FOLDER, Dictionaries, Entry, known_folders
from readagent_core.jobs import Job
from readagent_core.library.vocabulary import LookedUpWord
from readagent_core.words import sentences
from readagent_core.workspace import Workspace

FOLDERS = "dictionary_folders"  # the preference: folders that a person named
MOST_WORDS, MOST_CHARACTERS = 4, 60  # of what is looked up: a word, or a fixed phrase
_MEANING = 400  # characters of an entry that are kept
_JOB = "dictionaries"


def dictionaries_of(workspace: Workspace) -> Dictionaries:
    """The dictionaries in the person's folders and where other programs of this computer keep theirs.

    On a server for several people: those of the server's home folder, which its administrator puts there.
    """
    if workspace.settings.team:
        return Dictionaries(workspace.home, [workspace.home.parent.parent / FOLDER])
    named = [Path(folder) for folder in workspace.library.preference(FOLDERS, [])]
    return Dictionaries(workspace.home, [*named, *known_folders()])


def start_indexing(workspace: Workspace) -> Job:
    """The job that indexes what is new among the dictionaries and ends with the list of all."""
    return workspace.jobs.start(_JOB, lambda job: dictionaries_of(workspace).update(job))


def indexing(workspace: Workspace) -> Job | None:
    """The last such job."""
    return workspace.jobs.get(_JOB)


def has_dictionaries(workspace: Workspace) -> bool:
    """Whether any dictionary can be looked up. The first call of a process begins to index what is new."""
    if indexing(workspace) is None:
        start_indexing(workspace)
    return any(one.words for one in dictionaries_of(workspace).all())


def look_up(workspace: Workspace, book_id: str, passage: Passage) -> list[Entry]:
    """Return what the dictionaries say of the words of ``passage``, and keep the word with its sentence."""
    words = passage.words
    if len(words) > MOST_CHARACTERS or len(words.split()) > MOST_WORDS:
        return []
    entries = dictionaries_of(workspace).look_up(words, passage.document.language)
    if entries:
        paragraph, offset = passage.start.paragraph, passage.start.offset
        text = passage.document.paragraphs[paragraph].text
        sentence = sentence_at(text, offset, passage.document.language)
        word, meaning, name = entries[0].word, entries[0].text[:_MEANING], entries[0].dictionary
        found = LookedUpWord(book_id, word, words, sentence, paragraph, offset, meaning, name)
        workspace.library.put_word(found)
    return entries


def sentence_at(text: str, offset: int, language: str) -> str:
    """Return the sentence of ``text`` that has the character ``offset``."""
    end = 0
    for sentence in sentences(text, language):
        end += len(sentence)
        if offset < end:
            return sentence.strip()
    return text.strip()
