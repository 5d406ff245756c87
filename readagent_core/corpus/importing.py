"""Brings the books of an output folder into a library, with their readings, so that the app shows them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from readagent_core.corpus.store import BOOKS, CorpusFolder
from readagent_core.document import Document
from readagent_core.errors import DamagedDocumentError, DocumentError
from readagent_core.incoming.opening import import_gisting
from readagent_core.jobs import Job
from readagent_core.memory import GistMemory
from readagent_core.workspace import Workspace


@dataclass(frozen=True)
class ImportReport:
    """``present``: books whose reading the library had. ``refused``: key and reason of those not imported."""

    imported: int = 0
    present: int = 0
    refused: tuple[tuple[str, str], ...] = ()


def start_import(workspace: Workspace, folder: CorpusFolder) -> Job:
    """Start the import as a job; its value is the ImportReport so far. What a cancelled job has imported remains."""
    return workspace.jobs.start("import corpus", lambda job: _import(workspace, folder, job))


def _import(workspace: Workspace, folder: CorpusFolder, job: Job) -> ImportReport:
    report, total = ImportReport(), len(folder.keys(BOOKS))
    for number, (key, data) in enumerate(folder.load_all(BOOKS)):
        job.publish(done=number, total=total, value=report)
        job.check()
        try:
            added = _add(workspace, *import_gisting(data))
        except DocumentError as error:
            report = replace(report, refused=(*report.refused, (key, str(error))))
            continue
        report = replace(report, imported=report.imported + added, present=report.present + (not added))
    job.publish(done=total, total=total)
    return report


def _add(workspace: Workspace, document: Document, memory: GistMemory) -> bool:
    """Add a book and its gisting; return False where the library has the gisting."""
    library = workspace.library
    book = library.add(document, source_name=document.title)
    wanted = (document.id, memory.plan.key, memory.model)
    if any(wanted == (r.document_id, r.plan.key, r.model) and r.pages for r in library.gistings(book.id)):
        return False
    if [p.text for p in library.document(book.id).paragraphs] != [p.text for p in document.paragraphs]:
        raise DamagedDocumentError("The library holds this book with its paragraphs divided in another way.")
    library.add_memory(book.id, memory)
    return True
