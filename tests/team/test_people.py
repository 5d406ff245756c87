"""Who is admitted, which settings are a person's, and what the server lends: never its key, and only up to a budget."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from pages.parts.shared import cached
from readagent_core.cancel import CancelToken
from readagent_core.connecting import connecting, local_models
from readagent_core.errors import BudgetError, LimitError, SettingsError, SignInError
from readagent_core.incoming.opening import open_file
from readagent_core.models import connection
from readagent_core.prompts import Prompt
from readagent_core.secret import Secret
from readagent_core.settings import Settings, load_settings, load_team, save_settings
from readagent_core.team import audit
from readagent_core.team.people import accounts, admit, block, note_visit
from readagent_core.workspace import Workspace
from tests.fakes.server import FakeServer

TEAM = {
    "READAGENT_TEAM": "on",
    "READAGENT_TEAM_DOMAINS": "example.org @example.com",
    "READAGENT_TEAM_ADMINS": "a@example.org",
}
ANNA = {"iss": "https://id.org", "sub": "1", "email": "A@Example.org", "email_verified": True, "name": "Anna"}
KEY = "sk-of-the-server-0123456789"


@pytest.fixture
def team(monkeypatch: pytest.MonkeyPatch, own_home: Path):
    for name, value in TEAM.items():
        monkeypatch.setenv(name, value)
    own_home.mkdir(exist_ok=True)
    yield load_team()
    connection.close_all()


def person(team, home: Path, **claims: object):
    return admit({**ANNA, **claims}, team, home)


def test_off_unless_it_is_turned_on_with_domains() -> None:
    assert load_team({}) is None
    assert load_team({**TEAM, "READAGENT_TEAM": "off"}) is None
    with pytest.raises(SettingsError, match="READAGENT_TEAM_DOMAINS"):
        load_team({"READAGENT_TEAM": "on"})
    for wrong in ("much", "-1", "nan", "1 2"):
        with pytest.raises(SettingsError, match="READAGENT_TEAM_BUDGET"):
            load_team({**TEAM, "READAGENT_TEAM_BUDGET": wrong})
    with pytest.raises(SettingsError, match="not set up"):
        load_settings({}, person="0" * 24)


def test_who_is_admitted(team, own_home: Path) -> None:
    anna = person(team, own_home)
    assert (anna.email, anna.admin, len(anna.id)) == ("a@example.org", True, 24)
    assert person(team, own_home, email="new@example.com").id == anna.id  # an address may change
    assert person(team, own_home, sub="2").id != anna.id  # or come to somebody else
    assert person(team, own_home, iss="https://other.org").id != anna.id
    unsaid = {name: value for name, value in ANNA.items() if name != "email_verified"}
    assert not admit(unsaid, team, own_home).admin
    refused = ["a@elsewhere.org", "example.org", "a@example.org.evil.net", "a@sub.example.org", "@example.org", ""]
    for email in refused:
        with pytest.raises(SignInError, match="not admitted"):
            person(team, own_home, email=email)
    with pytest.raises(SignInError, match="verified"):
        person(team, own_home, email_verified=False)
    with pytest.raises(SignInError, match="who you are"):
        person(team, own_home, sub="")


def test_a_blocked_person_is_refused_until_admitted_again(team, own_home: Path) -> None:
    anna = person(team, own_home)
    note_visit(anna, own_home)
    block(anna.id, own_home, blocked=True)
    with pytest.raises(SignInError, match="blocked"):
        person(team, own_home)
    (account,) = accounts(own_home)
    assert (account.person, account.blocked, account.spent) == (anna, True, 0.0)
    assert account.bytes > 0
    block(anna.id, own_home, blocked=False)
    assert person(team, own_home) == anna


def calls(server: FakeServer) -> int:
    return sum(request.path.endswith("/chat/completions") for request in server.requests)


def settings_of(team, home: Path, sub: str = "1") -> Settings:
    return load_settings(person=person(team, home, sub=sub).id)


def test_a_person_has_the_servers_connection_or_all_of_their_own(team, own_home: Path, monkeypatch) -> None:
    assert settings_of(team, own_home).connected is False
    monkeypatch.setenv("READAGENT_BASE_URL", "https://models.example.org/v1")
    monkeypatch.setenv("READAGENT_MODEL", "of-the-server")
    monkeypatch.setenv("READAGENT_API_KEY", KEY)
    lent = settings_of(team, own_home)
    assert (lent.model, lent.server is not None, lent.home.parent) == ("of-the-server", True, own_home / "people")
    with pytest.raises(SettingsError):
        load_settings(person="../" + "0" * 21)
    workspace = Workspace(lent)
    for address in ("http://127.0.0.1:8501", "https://evil.example/v1", "http://169.254.169.254/v1", "localhost:11434"):
        for use in (connecting.use_model, connecting.start_model_test):
            with pytest.raises(SettingsError, match="one of the providers"):
                use(workspace, address=address, model="m", key=Secret("sk-own"))
    chosen = connecting.use_model(
        workspace, address="https://api.openai.com/v1", model="m", key=Secret(), place="settings"
    )
    assert (chosen.api_key.reveal(), chosen.server) == ("", None)
    assert settings_of(team, own_home).api_key.reveal() == ""  # the server's key never goes to another address
    connecting.use_built_in(workspace)
    assert settings_of(team, own_home).connected is False
    connecting.use_server_model(workspace)
    assert settings_of(team, own_home) == lent
    connecting.change_settings(workspace, {"budget_book": 1.0})
    assert workspace.settings.server is not None
    workspace.library.close()
    assert KEY not in "".join(path.read_text("latin-1") for path in own_home.rglob("*") if path.is_file())


def test_nobody_installs_uses_or_removes_a_model_on_the_servers_computer(team, own_home: Path) -> None:
    workspace = Workspace(settings_of(team, own_home))
    for act in (local_models.start_install, local_models.start_use, local_models.use, local_models.remove):
        with pytest.raises(SettingsError, match="who runs it chooses the model"):
            act(workspace, "qwen3.5-2b")


def test_the_servers_budget_holds_for_each_person_whatever_they_set(team, own_home: Path, monkeypatch) -> None:
    with FakeServer(lambda _: " ".join(f"word{n}" for n in range(40))) as server:
        monkeypatch.setenv("READAGENT_BASE_URL", server.url)
        monkeypatch.setenv("READAGENT_MODEL", "fake-model")
        monkeypatch.setenv("READAGENT_TEAM_BUDGET", "0.01")
        monkeypatch.setenv("READAGENT_TEAM_PRICE", "100 100")
        own = {"budget_month": 1_000_000, "prices": {"fake-model": [0, 0]}, "at_once": 500, "connections": 32}
        anna, ben = settings_of(team, own_home), settings_of(team, own_home, "2")
        save_settings(anna.home, own)
        anna = settings_of(team, own_home)
        models = connection.connect(anna), connection.connect(ben)

        def ask_often() -> None:
            for number in range(50):
                models[0].complete(Prompt("answer", f"Question {number}"), CancelToken())

        with pytest.raises(BudgetError, match="ask who runs this server"):
            ask_often()
        asked = calls(server)
        assert 0 < asked < 5
        models[1].complete(Prompt("answer", "Question 0"), CancelToken())  # his budget, and not her reply
        assert calls(server) == asked + 1
        for settings in (anna, ben):
            note_visit(person(team, own_home, sub="1" if settings is anna else "2"), own_home)
        spent = {account.person.id: account.spent for account in accounts(own_home)}
        assert spent[anna.person] > 0.01 > spent[ben.person] > 0
        workspace = Workspace(anna)
        assert workspace.connections == 8
        workspace.library.close()


def test_a_budget_without_a_price_is_refused(team, own_home: Path, monkeypatch) -> None:
    monkeypatch.setenv("READAGENT_BASE_URL", "https://models.example.org/v1")
    monkeypatch.setenv("READAGENT_MODEL", "unheard-of")
    monkeypatch.setenv("READAGENT_TEAM_BUDGET", "5")
    with pytest.raises(SettingsError, match="READAGENT_TEAM_PRICE"):
        connection.connect(settings_of(team, own_home))


def test_what_one_person_may_store_and_run(team, own_home: Path, monkeypatch) -> None:
    monkeypatch.setenv("READAGENT_TEAM_JOBS", "1")
    monkeypatch.setenv("READAGENT_TEAM_MEGABYTES", "1")
    anna, ben = (Workspace(settings_of(team, own_home, sub)) for sub in "12")
    with pytest.raises(LimitError, match="1 MB"):
        open_file(anna, b"word " * 220_000, "long.txt")
    assert anna.library.books() == []
    first = anna.jobs.start("first", lambda job: job.wait(20, "for the test"))
    with pytest.raises(LimitError, match="Wait until"):
        anna.jobs.start("second", lambda job: None)
    assert anna.jobs.start("first", lambda job: None) is first
    ben.jobs.start("second", lambda job: None).join(10)
    first.cancel()
    first.join(10)
    for workspace in (anna, ben):
        workspace.library.close()


def test_the_audit_log_has_ids_and_acts(own_home: Path) -> None:
    own_home.mkdir()
    audit.record(own_home, "1" * 24, "blocked", "2" * 24)
    audit.record(own_home, "", "refused")
    first, second = map(json.loads, (own_home / audit.FILE).read_text(encoding="utf-8").splitlines())
    assert (first["person"], first["act"], first["subject"]) == ("1" * 24, "blocked", "2" * 24)
    assert second["act"] == "refused"
    assert (own_home / audit.FILE).stat().st_mode & 0o077 == 0


def test_the_library_of_somebody_who_is_idle_is_closed_until_its_next_use(team, own_home, monkeypatch):
    monkeypatch.setattr(cached, "IDLE_SECONDS", 0.0)
    anna = admit(ANNA, team, own_home)
    of_anna = cached._workspace_of(anna)
    of_anna.library.books()
    (connection,) = of_anna.library._db._open
    cached._workspace_of(anna)
    assert connection.execute("SELECT 1").fetchone()
    cached._workspace_of(admit({**ANNA, "sub": "2"}, team, own_home))
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")
    assert cached._workspace_of(anna) is of_anna
    assert of_anna.library.books()
