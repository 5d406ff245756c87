"""``readagent model``: models on this computer, without the app."""

from __future__ import annotations

from typing import Annotated

import typer

from readagent_core.cli.options import Json
from readagent_core.cli.output import print_json, report_errors, say, say_aside, wait_for
from readagent_core.cli.shared import open_workspace
from readagent_core.jobs import JobState, Snapshot

app = typer.Typer(no_args_is_help=True, help="A model on this computer: list, install, use, remove.")
Name = Annotated[str, typer.Argument(help="A name from `readagent model list`.")]


@app.command(name="list")
def list_models(json: Json = False) -> None:
    """What can be installed, what is installed, and the models of other programs here."""
    with report_errors(as_json=json):
        from readagent_core.connecting.local_models import choices, computer
        from readagent_core.models.local import files

        workspace = open_workspace()
        here, found = computer(workspace.settings), files.find()
        offered = choices(workspace)
        if json:
            rows = [
                {
                    "name": choice.offer.name,
                    "title": choice.offer.title,
                    "licence": choice.offer.licence,
                    "bytes": choice.offer.bytes,
                    "memory": choice.needed,
                    "fit": choice.fit.name.lower(),
                    "installed": choice.installed,
                    "fetched": choice.fetched,
                    "minutes": round(choice.minutes),
                    "measured": choice.measured,
                }
                for choice in offered
            ]
            others = [{"name": model.name, "file": str(model.file), "bytes": model.bytes} for model in found]
            print_json({"offered": rows, "found": others, "memory": here.memory, "free": here.free})
            return
        say(f"{here.memory / 1e9:.0f} GB memory, {here.free / 1e9:.1f} free; {here.cores} cores")
        for choice in offered:
            offer = choice.offer
            state = "installed" if choice.installed else f"{offer.bytes / 1e9:.1f} GB"
            say(f"{offer.name}  {offer.title}, {offer.licence}, {state}, {choice.fit.value}")
            say(f"  {offer.says}")
        for model in found:
            say(f"{model.name}  {model.bytes / 1e9:.1f} GB, used where it lies")


@app.command()
def install(name: Name) -> None:
    """Fetch a model from its publisher, check it and use it. Ctrl-C pauses; the same command goes on."""
    with report_errors(as_json=False):
        from readagent_core.connecting.local_models import start_install

        wait_for(start_install(open_workspace(), name), _progress_line)
        say_aside(f"{name} is installed and in use.")


@app.command()
def use(name: Annotated[str, typer.Argument(help="A name from `readagent model list`, or a GGUF file.")]) -> None:
    """Use an installed model, one of another program, or a GGUF file of your own."""
    with report_errors(as_json=False):
        from readagent_core.connecting.local_models import use as use_model

        use_model(open_workspace(), name)
        say_aside(f"{name} is in use.")


@app.command()
def remove(name: Name) -> None:
    """Remove an installed model, or what came of one."""
    with report_errors(as_json=False):
        from readagent_core.connecting.local_models import remove as remove_model

        remove_model(open_workspace(), name)
        say_aside(f"{name} is removed.")


def _progress_line(snapshot: Snapshot) -> str:
    from readagent_core.connecting.local_models import Installing
    from readagent_core.models.local.download import Step

    now = snapshot.value
    if not isinstance(now, Installing) or now.progress is None:
        return "Trying it on a page" if snapshot.state == JobState.RUNNING else "Done"
    word = "Checking" if now.progress.step is Step.CHECK else "Fetching"
    return f"{word}: {now.progress.done / 1e9:.2f} of {now.progress.total / 1e9:.2f} GB"
