"""Upkeep of the library in the background: texts are indexed for search, and old removed books deleted for good."""

from __future__ import annotations

import time

from readagent_core.jobs import Job, Jobs
from readagent_core.library import Library

DAYS_TO_RESTORE = 30  # for which a removed book can be restored


def start_upkeep(library: Library, jobs: Jobs) -> Job:
    """The job that deletes what was removed long ago, then indexes the texts that cannot be searched yet."""

    def work(job: Job) -> None:
        library.delete_removed(before=time.time() - DAYS_TO_RESTORE * 86_400)
        for done, _ in enumerate(library.index_texts(), 1):
            job.publish(done=done)
            job.wait(0.01, "")  # lets the screens have the interpreter

    return jobs.start("upkeep", work)
