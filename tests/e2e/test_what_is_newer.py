"""What is newer than a memory that answers: a note of the session, an artifact that is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from palace import Mempalace, RetrievalEnforcer, Verdict

Ask = Callable[..., Verdict]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    site.mkdir()
    (site / "plan.md").write_text("# Plan\n\nRelease 2.5.0 is planned for 2026-12-09.\n")
    (site / "site.log").write_text(
        "2026-11-28 09:00:00 INFO start\n"
        "2026-11-28 10:00:00 ERROR no connection\n"
        "2026-11-28 11:00:00 INFO deploy FAILED, no quota\n"
    )
    return site


@pytest.fixture
def palace(tmp_path: Path, site: Path) -> Iterator[Mempalace]:
    config = tmp_path / "mempalace.yaml"
    config.write_text(
        f"artifacts:\n  files:\n    roots: ['{site}']\n  logs:\n    paths: ['{site}/site.log']\n"
    )
    with Mempalace.open(tmp_path / "palace", config=config) as palace:
        yield palace


@pytest.fixture
def ask(palace: Mempalace) -> Ask:
    return RetrievalEnforcer(palace).decide


def texts(verdict: Verdict) -> list[tuple[str, str]]:
    return [(e.layer, e.text) for e in verdict.evidence]


def test_what_was_noted_in_the_session_stands_before_what_it_contradicts(
    palace: Mempalace, ask: Ask
) -> None:
    palace.remember("The tunnel listens on port 5432.", room="infra")
    palace.note("The tunnel listens on port 5433 now.", session_id="monday")
    asked = "Which port does the tunnel listen on?"
    new, old = ask(asked, session_id="monday").evidence
    assert (new.layer, new.text) == ("L2", "The tunnel listens on port 5433 now.")
    assert (old.layer, old.stale) == ("L1", True)
    assert texts(ask(asked, session_id="tuesday")) == [("L1", "The tunnel listens on port 5432.")]


def test_of_two_notes_the_later_one_holds(palace: Mempalace, ask: Ask) -> None:
    for number in (3, 9):
        palace.note(f"The build agent is runner-{number}.", session_id="monday")
    verdict = ask("What is the build agent?", session_id="monday")
    assert [e.text[-2:] for e in verdict.evidence] == ["9.", "3."]


def test_a_file_or_log_that_is_named_is_read_though_a_memory_answers(
    palace: Mempalace, ask: Ask
) -> None:
    palace.remember("Release 2.5.0 is planned for 2026-12-02.", room="releases")
    palace.remember("The site log showed no errors in October.", room="ops")
    live, copy = ask("When did we plan release 2.5.0, see plan.md?").evidence
    assert (live.layer, "2026-12-09" in live.text) == ("L3", True)
    assert (copy.layer, "2026-12-02" in copy.text) == ("L1", True)
    assert texts(ask("When is release 2.5.0 planned?")) == [("L1", copy.text)]
    # This memory tells of the log itself: it is history, or a copy.
    memory, log = ask("What errors are in site.log?").evidence
    assert (memory.layer, log.layer) == ("L1", "L3")
    assert log.text.splitlines()[1:] == [
        "2026-11-28 10:00:00 ERROR no connection",
        "2026-11-28 11:00:00 INFO deploy FAILED, no quota",
    ]


def test_an_empty_file_is_told_as_empty(ask: Ask, site: Path) -> None:
    (site / "todo.md").write_text("\n")
    verdict = ask("What is in todo.md?")
    assert (verdict.action, verdict.evidence[0].text.split(",")[0]) == ("ground", "todo.md (1 byte")
