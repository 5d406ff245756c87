"""``readagent check-model``: the test of Settings on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from readagent_core.cli.options import Json
from readagent_core.cli.output import print_json, report_errors, say, say_aside, wait_for
from readagent_core.cli.shared import open_workspace
from readagent_core.errors import SettingsError

if TYPE_CHECKING:
    from readagent_core.jobs import Snapshot

_MARKS = {"good": "✓", "weak": "!", "failed": "✗", "unknown": "?"}


def check_model(
    save: Annotated[bool, typer.Option("--save", help="Save the settings that suit the model.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A dozen prompts in place of about forty.")] = False,
    json: Json = False,
) -> None:
    """Test the chosen model with every kind of prompt, and say which settings suit it."""
    with report_errors(as_json=json):
        from readagent_core.connecting import connecting
        from readagent_core.models.server.openai_server import OPENAI

        workspace = open_workspace()
        settings = workspace.settings
        if not settings.connected:
            raise SettingsError(
                "No language model is connected. Connect one in Settings of `readagent app`, or set "
                "READAGENT_BASE_URL and READAGENT_MODEL."
            )
        job = connecting.start_model_test(
            workspace,
            address=settings.base_url or OPENAI,
            model=settings.model,
            key=settings.api_key,
            quick=quick,
        )
        wait_for(job, _progress_line)
        tested = job.snapshot.value
        assert isinstance(tested, connecting.ModelTest)
        options, outcome = tested.options, connecting.outcome_of(tested.checks)
        if save:
            connecting.save_model_options(workspace, settings.model, options)
        if json:
            print_json(
                {
                    "model": tested.model,
                    "where": tested.where,
                    "outcome": outcome,
                    "checks": [check.to_dict() for check in tested.checks],
                    "suited": options.to_dict(),
                    "why": list(options.why),
                    "saved": save,
                }
            )
            return
        say(f"{connecting.verdict_of(tested)}: {tested.model} at {tested.where}")
        for check in tested.checks:
            say(f"{_MARKS[check.state]} {check.name}: {check.figure}")
            if check.advice:
                say(f"  {check.advice}")
        say()
        if not options.why:
            say("The usual settings suit it.")
        for line in options.why:
            say(f"Suits it: {line}")
        if save:
            say_aside(f"Saved for {settings.model}.")
        elif options.why:
            say("Save these settings with --save.")


def _progress_line(snapshot: Snapshot) -> str:
    return f"Testing: {snapshot.done} of {snapshot.total or '…'} parts"
