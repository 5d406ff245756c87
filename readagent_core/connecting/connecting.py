"""Choose and test a model, and change the settings.

A key stays in memory unless the person asks for it to be stored (``key_places``). A choice made here holds until the
app ends; at the next start the environment and secrets.toml come first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from readagent_core import keyrings
from readagent_core.connecting import key_places
from readagent_core.connecting.checking.check import QUICK_STEPS, STEPS, Check, CheckState, check_model
from readagent_core.connecting.checking.suitable_options import suitable_options
from readagent_core.connecting.key_places import MEMORY
from readagent_core.errors import MissingError, ModelError, SettingsError, UnreachableError
from readagent_core.jobs import Job
from readagent_core.models.connection import make_server, note_end, relearn
from readagent_core.models.cost.prices import Price
from readagent_core.models.server.openai_server import OPENAI
from readagent_core.models.server.probe import PRESETS, Preset
from readagent_core.secret import Secret
from readagent_core.settings import Settings, load_settings
from readagent_core.settings.saved import ModelOptions, options_as_saved, save_settings
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

TEST_KEY = "test model"
FIGURES_BY_HAND = 2  # of a price set by hand; one from a server has its date too
CONNECTION = ("base_url", "api_key", "model", "server")


@dataclass(frozen=True)
class Candidate:
    """A model that may be tested, at one address with one key: the subject of its test's job."""

    address: str
    model: str
    key: Secret


@dataclass(frozen=True)
class ModelTest:
    """What a test has found out so far. ``where``: the server's address. ``quick``: its short form."""

    model: str
    where: str
    checks: tuple[Check, ...] = ()
    quick: bool = False

    @property
    def options(self) -> ModelOptions:
        """The settings that suit it, once the test has ended."""
        return suitable_options(self.checks)


def preset_of(address: str) -> Preset | None:
    """The provider an address belongs to; None for one of the person's own."""
    plain = _plain(address)
    return next((p for p in PRESETS if _plain(p.address) == plain), None)


def complete_address(text: str) -> str:
    """The whole address for what a person typed: 'localhost:1234' → 'http://localhost:1234/v1'.

    Raises SettingsError for what cannot be one.
    """
    text = text.strip()
    if text.endswith("://"):
        text = ""
    text = text.rstrip("/")
    for ending in ("/chat/completions", "/models", "/embeddings"):
        text = text.removesuffix(ending)
    if any(c.isspace() for c in text):
        raise SettingsError(f"“{text}” is no address: it has a space. One looks like http://localhost:1234/v1.")
    if not text:
        raise SettingsError("Enter the address of the server, for example http://localhost:1234/v1.")
    if "://" not in text:
        local = text.split(":")[0].split("/")[0] in ("localhost", "127.0.0.1", "0.0.0.0")
        text = f"{'http' if local or text.split('/')[0].count('.') == 3 else 'https'}://{text}"
    scheme, rest = text.split("://", 1)
    if scheme not in ("http", "https") or not rest.split("/")[0]:
        raise SettingsError("The address must begin with http:// or https://, for example http://localhost:1234/v1.")
    return text if "/" in rest else f"{text}/v1"


def address_for(workspace: Workspace, text: str) -> str:
    """The whole address for what a person typed; on a server for several people only one of a known provider's.

    Anything else would be reached from that server: its own ports and network. Raises SettingsError.
    """
    if workspace.settings.team is None:
        return complete_address(text)
    preset = preset_of(text)
    if preset is None or preset.local:
        raise SettingsError("On this server a model of your own must be one of the providers in the list.")
    return preset.address


def is_in_use(workspace: Workspace, text: str) -> bool:
    """Whether what a person typed is the address of the server in use: OpenAI's, where none is set."""
    used = workspace.settings.base_url
    try:
        return address_for(workspace, text) == (address_for(workspace, used) if used else OPENAI)
    except SettingsError:
        return False


def use_model(
    workspace: Workspace,
    *,
    address: str,
    model: str,
    key: Secret,
    place: str = MEMORY,
    price: Price | None = None,
    failed: ModelError | None = None,
) -> Settings:
    """Use this model from now on, here and at the next start. Raises SettingsError.

    ``key``: empty where none is needed. ``place``: where to store it, one of ``key_places.places``; a key
    stored anywhere else is removed; where the keyring does not let it be removed, SettingsError is raised after the
    model is in use. ``price``: as the server lists it; saved with its day, unless one was set by hand. ``failed``: why
    the server did not list its models for this key, which is then the model's trouble until it answers.
    """
    address, model = address_for(workspace, address), model.strip()
    if not model:
        raise SettingsError("Choose a model, or type its name as the server knows it.")
    changes: dict[str, Any] = {"base_url": address, "model": model}
    if price is not None and len(workspace.settings.saved.prices.get(model, ())) != FIGURES_BY_HAND:
        changes["prices"] = {model: [price.read, price.written, price.as_of, price.reused]}
    place, old = key_places.save(workspace, address, key, place, changes)
    fresh = _load(workspace)
    origin = {name: MEMORY if _is_overridden(fresh, name) else "settings" for name in CONNECTION}
    if not _is_overridden(fresh, "api_key"):
        origin["api_key"] = place
    trouble = "" if key or _is_overridden(fresh, "api_key") else fresh.key_trouble
    chosen = replace(fresh, base_url=address, model=model, api_key=key, origin=origin, key_trouble=trouble, server=None)
    relearn(address, model, workspace.home)
    if failed is not None:
        note_end(address, model, key, failed)
    workspace.reconnect(chosen)
    if old:
        keyrings.remove(workspace.home, old)
    return chosen


def note_listing(
    workspace: Workspace, address: str, key: Secret, error: ModelError | None, *, before: Exception | None = None
) -> None:
    """Keep for the model in use that its server did not list its models for its key; None: that it did.

    ``before``: why it did not when it was asked the last time. A server may list its models for any key, so a list ends
    no other trouble with the key than that one.
    """
    settings = workspace.settings
    if settings.connected and (settings.base_url, settings.api_key) == (address, key):
        known = workspace.model.trouble
        if error is not None or isinstance(known, UnreachableError) or (known is not None and known is before):
            note_end(address, settings.model, key, error)


def use_built_in(workspace: Workspace) -> Settings:
    """Use the built-in reader. The address is remembered for the next time; a stored key is removed.

    Raises SettingsError where the keyring does not let it be removed; the built-in reader is in use all the same.
    """
    lent = False if workspace.settings.team else None  # else the server's model would be used
    _, old = key_places.save(workspace, "", Secret(), MEMORY, {"model": None, "server_model": lent})
    fresh = _load(workspace)
    origin = {name: MEMORY if _is_overridden(fresh, name) else "" for name in CONNECTION}
    chosen = replace(fresh, base_url="", model="", api_key=Secret(), origin=origin, key_trouble="", server=None)
    workspace.reconnect(chosen)
    if old:
        keyrings.remove(workspace.home, old)
    return chosen


def use_server_model(workspace: Workspace) -> Settings:
    """Use the connection that the server lends. A stored key and model of the person's own are removed."""
    changes = {"model": None, "base_url": None, "server_model": None}
    key_places.save(workspace, "", Secret(), MEMORY, changes)
    workspace.reconnect(_load(workspace))
    return workspace.settings


def forget_learnt_limits(workspace: Workspace) -> None:
    """Forget the limits that were learnt of the model in use: the server is asked for its window again."""
    settings = workspace.settings
    relearn(settings.base_url, settings.model, (settings.server or settings).home)
    workspace.reconnect(settings)


def change_settings(workspace: Workspace, changes: Mapping[str, Any]) -> Settings:
    """Save other settings (limits, prices, budget, cache); the model in use stays. Raises SettingsError."""
    save_settings(workspace.home, changes)
    fresh = _load(workspace)
    now = workspace.settings
    held = {name: getattr(now, name) for name in CONNECTION}
    chosen = replace(fresh, **held, origin=now.origin, key_trouble=now.key_trouble)
    workspace.reconnect(chosen)
    return chosen


def override_notice(settings: Settings) -> str:
    """A line for people where the environment or secrets.toml will decide at the next start; else ''."""
    fresh = load_settings(person=settings.person)
    names = [name for name in CONNECTION if _is_overridden(fresh, name) and settings.origin.get(name) == MEMORY]
    if not names:
        return ""
    place = "secrets.toml" if fresh.origin.get(names[0]) == "secrets" else "the environment"
    return f"{place[0].upper()}{place[1:]} names a model too. It will be used again when the app next starts."


def candidate(workspace: Workspace, *, address: str, model: str, key: Secret) -> Candidate | None:
    """What a person chose, as a test has it for its subject; None for what cannot be an address."""
    try:
        return Candidate(address_for(workspace, address), model.strip(), key)
    except SettingsError:
        return None


def start_model_test(workspace: Workspace, *, address: str, model: str, key: Secret, quick: bool = False) -> Job:
    """Test a model in the background; the job's subject is a Candidate, and it publishes a ModelTest.

    ``quick``: with a dozen prompts. Raises SettingsError.
    """
    address, model = address_for(workspace, address), model.strip()
    if not model:
        raise MissingError("Choose a model first, then test it.")
    window = workspace.settings.saved.window_of(model)

    def work(job: Job) -> ModelTest:
        settings = replace(workspace.settings, api_key=key)
        server = make_server(settings, model, where=address, window=window)
        result, steps = ModelTest(server.name, address, quick=quick), QUICK_STEPS if quick else STEPS
        job.publish(value=result, total=steps)
        try:
            for check in check_model(server, job, quick=quick):
                result = replace(result, checks=(*result.checks, check))
                job.publish(value=result, done=len(result.checks))
            note_end(address, server.name, key, None)
        except ModelError as error:
            note_end(address, server.name, key, error)
            raise
        finally:
            server.close()
        return result

    running = workspace.jobs.get(TEST_KEY)
    if running is not None and running.running:
        running.cancel()
        running.join(5)
    workspace.jobs.forget(TEST_KEY)
    return workspace.jobs.start(TEST_KEY, work, subject=Candidate(address, model, key))


def save_model_options(workspace: Workspace, model: str, options: ModelOptions) -> Settings:
    """Save the settings that suit ``model`` in place of those saved for it before. Raises SettingsError."""
    return change_settings(workspace, options_as_saved(workspace.settings.saved, model, options))


_OPTIONAL = ("pauses", "steps", "tree", "notes", "refuse")  # other methods, and what citations show a reader
VERDICTS = {
    CheckState.GOOD: "The test passed",
    CheckState.WEAK: "The test passed, with limits",
    CheckState.FAILED: "This model will struggle",
}


def outcome_of(checks: tuple[Check, ...]) -> CheckState:
    """The test's outcome, a key of ``VERDICTS``: FAILED where reading and answering cannot work well."""
    if any(check.state == CheckState.FAILED and check.id not in _OPTIONAL for check in checks):
        return CheckState.FAILED
    limits = any(check.state in (CheckState.WEAK, CheckState.FAILED) for check in checks)
    return CheckState.WEAK if limits else CheckState.GOOD


def verdict_of(test: ModelTest) -> str:
    """How a test ended, in words. The quick form has one task of each kind, too few to foretell anything by."""
    outcome = outcome_of(test.checks)
    if test.quick and outcome == CheckState.FAILED:
        return f"{count_of(sum(check.state == outcome for check in test.checks), 'short task')} failed"
    return VERDICTS[outcome]


def _load(workspace: Workspace) -> Settings:
    """The settings as they would be at the next start."""
    return load_settings(person=workspace.settings.person)


def _is_overridden(fresh: Settings, name: str) -> bool:
    return fresh.origin.get(name) in ("environment", "secrets")


def _plain(address: str) -> str:
    return address.strip().rstrip("/").lower().replace("127.0.0.1", "localhost").removesuffix("/v1")
