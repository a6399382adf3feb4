"""Both boundaries: what may be written and what may be shown, as the settings say."""

from __future__ import annotations

from pathlib import Path

import pytest

from palace import Mempalace, RetrievalEnforcer, agent_tools
from palace.errors import PersonalDataRefusedError, SecretRefusedError
from palace.privacy import PrivacyFilter

KEY = "ghp_" + "a1B2c3D4e5" * 4
MAIL = "ann.lee@lakeside.io"


def test_secrets_are_refused_or_redacted_and_never_shown():
    assert "github-token" in PrivacyFilter().refusal(f"use {KEY}")
    with pytest.raises(SecretRefusedError) as caught:
        PrivacyFilter().written(f"use {KEY}")
    assert KEY not in str(caught.value)
    redacting = PrivacyFilter("redact")
    assert redacting.refusal(f"use {KEY}") == ""
    assert redacting.written(f"use {KEY}") == "use [secret removed: github-token]"
    assert KEY not in PrivacyFilter().shown(KEY)


def test_personal_data_is_off_redacted_or_blocked():
    said = f"Ann reads {MAIL}."
    assert PrivacyFilter().written(said) == PrivacyFilter().shown(said) == said
    redacting = PrivacyFilter(personal_data="redact")
    assert redacting.written(said) == "Ann reads [personal data removed: email]."
    blocking = PrivacyFilter(personal_data="block")
    with pytest.raises(PersonalDataRefusedError, match="email at line 1, column 11"):
        blocking.written(said)
    assert blocking.shown(said) == redacting.shown(said)
    # A text that is refused for one reason is not written for lack of the other.
    assert "secret" in blocking.refusal(f"{said} {KEY}")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with Mempalace.open(tmp_path / "p") as palace:
        palace.remember(f"The boat yard of Ann is reached at {MAIL}.", room="people")
    return tmp_path / "p"


QUESTION = "How is the boat yard of Ann reached?"


def told(root: Path, monkeypatch: pytest.MonkeyPatch, setting: str) -> str:
    """Everything a model or a person gets to see of that memory."""
    monkeypatch.setenv("PALACE_WRITE__PERSONAL_DATA", setting)
    with Mempalace.open(root) as palace:
        verdict = RetrievalEnforcer(palace).decide(f"{QUESTION} Write to bob@lakeside.io.")
        tools = {tool.name: tool for tool in agent_tools(palace, session_id="s")}
        found = next(name for name in tools if "search" in name)
        seen = [verdict.text, *(e.text for e in verdict.evidence)]
        seen += [str(tools[found].run({"query": QUESTION}))]
        seen += [str(palace.verdict()), palace.wake_up("s").text]
    assert any("boat yard" in text for text in seen[1:])
    return "\n".join(seen)


def test_nothing_personal_is_injected_or_kept_where_it_is_not_wanted(root, monkeypatch):
    assert MAIL in told(root, monkeypatch, "off")
    for setting in ("redact", "block"):
        seen = told(root, monkeypatch, setting)
        assert MAIL not in seen
        assert "bob@" not in seen
        assert "[personal data removed: email]" in seen


@pytest.mark.parametrize("setting", ["redact", "block"])
def test_nothing_personal_is_written_where_it_is_not_wanted(root, monkeypatch, setting):
    monkeypatch.setenv("PALACE_WRITE__PERSONAL_DATA", setting)
    with Mempalace.open(root) as palace:
        for write in (
            lambda text: palace.remember(text, room="new"),
            lambda text: palace.note(text, session_id="s"),
            palace.set_identity,
        ):
            if setting == "block":
                with pytest.raises(PersonalDataRefusedError):
                    write("Carol reads carol@lakeside.io.")
            else:
                write("Carol reads carol@lakeside.io.")
    files = [p for p in root.rglob("*") if p.is_file() and ".palace" not in p.parts]
    assert not any(b"carol@" in path.read_bytes() for path in files)


def test_what_was_looked_through_is_shown_the_same_again_and_by_its_own_setting():
    plain, personal = "The boat yard opens at nine.", f"Ask {MAIL} about the boat yard."
    secret = "The password is 'hunter-4711-Zq'; the yard opens at nine."
    for _ in range(3):
        assert PrivacyFilter().shown(plain) == plain
        assert PrivacyFilter().shown(personal) == personal
        assert "hunter-4711" not in PrivacyFilter().shown(secret)
        assert MAIL not in PrivacyFilter(personal_data="redact").shown(personal)
