"""Nobody reaches another project's or session's memories, and no prompt names where to fetch from."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from palace import (
    Mempalace,
    Message,
    PalaceError,
    RetrievalEnforcer,
    Turn,
    UnsafeNameError,
    agent_tools,
)
from palace.fetch.gitea import GiteaFetcher
from palace.fetch.github import GitHubFetcher
from palace.text.moments import utc_now

SECRET_WORD = "zanzibar"
OWN, OTHER = "garden", "bank"
CRAFTED = [
    "bank", "Bank", "BANK", "bank ", " bank", "ｂａｎｋ", "bаnk", "bank\u200b", "ba\u00adnk", "project:bank",
    "session:bank", "bank' OR '1'='1", "bank\" OR scope = \"global", "%", "*", "bank*", "global", "../bank",
    "bank/", "garden,bank", "garden bank", "garden:bank", "NEAR(bank)", "bank\x00", "garden\nbank", "b" * 600,
]  # fmt: skip
REACHING = [
    "What is the code word of the bank?", f"{SECRET_WORD}", f"{SECRET_WORD}*", f'"{SECRET_WORD}"',
    f"body:{SECRET_WORD}", f"scope:project:bank {SECRET_WORD}", f"{SECRET_WORD} OR code", f"code AND {SECRET_WORD}",
    f"NEAR(code {SECRET_WORD})", "[[vault/codes]]", "#vault", "rooms/vault/codes.md", "When did we set the code word?",
    "'; SELECT data FROM memories; --", "{body context} : code", "ｃｏｄｅ ｗｏｒｄ", "cоde wоrd of the bаnk",
    "Which code word did project:bank set?", "status:inactive code word", "code word -garden",
]  # fmt: skip


@pytest.fixture(scope="module")
def palace(tmp_path_factory: pytest.TempPathFactory):
    with Mempalace.open(tmp_path_factory.mktemp("shared")) as palace:
        for where in ({"project": OTHER}, {"session_id": OTHER}):
            palace.remember(
                f"We set the code word of the bank to {SECRET_WORD} on 2026-03-04. #vault",
                room="vault",
                drawer="codes",
                tags=["vault"],
                on_conflict="keep",
                **where,
            )
        palace.remember("See [[vault/codes]] and #vault for the code word.", room="hall")
        palace.note(f"The code word is {SECRET_WORD}.", session_id=OTHER)
        yield palace


def seen(palace: Mempalace, prompt: str, **who: str | None) -> str:
    """Everything that asking, searching and the agent's tools say to somebody."""
    verdict = RetrievalEnforcer(palace).decide(prompt, **who)
    hits = palace.search(prompt, top_k=50, **who)
    plays = palace.search(prompt, top_k=50, layer="L4", **who)
    said = [
        verdict.text,
        *(e.text for e in verdict.evidence),
        *(h.memory.text for h in (*hits, *plays)),
    ]
    said += [e.text for report in verdict.walk for e in report.evidence]
    tools = {tool.name: tool for tool in agent_tools(palace, **who)}
    said.append(str(tools["palace_search"](query=prompt)))
    return "\n".join(said).replace(prompt, "")


@pytest.mark.parametrize("prompt", REACHING)
def test_no_question_reaches_another_scope(palace, prompt):
    for who in ({}, {"project": OWN}, {"session_id": OWN}, {"session_id": OWN, "project": OWN}):
        assert SECRET_WORD not in seen(palace, prompt, **who)
    assert SECRET_WORD in seen(palace, "What is the code word of the bank?", project=OTHER)


@pytest.mark.parametrize("name", [name for name in CRAFTED if name != OTHER])
def test_no_crafted_name_is_taken_for_another(palace, name):
    for who in ({"project": name}, {"session_id": name}):
        with suppress(PalaceError):
            assert SECRET_WORD not in seen(palace, "What is the code word of the bank?", **who)
            assert SECRET_WORD not in palace.wake_up(name, project=None).text
            assert all(SECRET_WORD not in entry.text for entry in palace.notes(name))


def test_tools_show_and_change_only_what_their_scope_may_see(palace):
    [hidden, _] = palace.memories(room="vault")
    tools = {tool.name: tool for tool in agent_tools(palace, session_id=OWN, project=OWN)}
    for name, arguments in (
        ("palace_read", {"memory_id": hidden.id}),
        ("palace_read", {"room": "vault"}),
        ("palace_read", {"room": "vault", "drawer": "codes"}),
        ("palace_forget", {"memory_id": hidden.id, "reason": "because"}),
        ("palace_correct", {"memory_id": hidden.id, "text": "The code word is another."}),
    ):
        assert SECRET_WORD not in str(tools[name](**arguments)), name
    assert palace.get(hidden.id).status == "active"


TELLING = [
    "No, the code word of the bank is parrot.", "Remember that the code word of the bank is parrot.",
    "Forget the code word of the bank.", "Actually I prefer green tea in the morning.",
    "Please forget that.", "No, that is wrong: it is parrot.", "Undo that.", "Tell guests the password.",
    "Which memories did you use for the last answer?", "What did I ask you before?", "What tea do I prefer?",
]  # fmt: skip
FIELDS = ("memory_id", "entry_id", "entry", "id", "query", "target", "note_id")


@pytest.fixture
def vault(tmp_path: Path):
    """A palace with what another project and another session hold, in every newer form."""
    with Mempalace.open(tmp_path) as palace:
        for where in ({"project": OTHER}, {"session_id": OTHER}):
            for kind, text in (
                ("fact", f"The code word of the bank is {SECRET_WORD}."),
                ("preference", f"I prefer {SECRET_WORD} tea in the morning."),
                ("negative", f"Never say {SECRET_WORD} to guests."),
            ):
                palace.remember(
                    text,
                    room="vault",
                    kind=kind,
                    key=f"key_{kind}",
                    triggers=["code word", "guests", "tea"],
                    on_conflict="keep",
                    **where,
                )
            RetrievalEnforcer(palace).decide("What is the code word of the bank?", **where)
        palace.note(f"The code word is {SECRET_WORD}.", session_id=OTHER)
        yield palace


def hidden_of(palace: Mempalace) -> list[str]:
    return [m.id for m in palace.memories(include_inactive=True) if SECRET_WORD in m.text]


@pytest.mark.parametrize(
    "who", [{"project": OWN}, {"session_id": OWN}, {"session_id": OWN, "project": OWN}]
)
def test_nothing_told_reaches_or_changes_another_scope(vault, who):
    hidden = hidden_of(vault)
    said: list[object] = []
    for prompt in TELLING:
        said.append(vault.heard(Turn(prompt, **who)))
        said.append(RetrievalEnforcer(vault).decide(prompt, **who))
        said.append(vault.search(prompt, as_of=utc_now(), **who))
    for how in ("ask", "keep", "supersede"):
        text = f"The code word of the bank is parrot {how}."
        said.append(vault.remember(text, room="vault", on_conflict=how, **who))
        said.append(vault.remember(text, key="key_fact", on_conflict=how, **who))
    session, project = who.get("session_id", OWN), who.get("project", "")
    history = [Message("user", "What is the code word?"), Message("assistant", "No idea.")] * 12
    said += [
        vault.correct_last("The code word of the bank is parrot.", session),
        vault.wake_up(session, project or None),
        vault.session_wake_up(session, project or None),
        vault.compress_if_needed(history, session, project=project, force=True),
        vault.on_session_end(session, history, project=project),
        vault.finish_task("code word", done="none", session_id=session, project=project),
    ]
    assert SECRET_WORD not in repr(said)
    assert {vault.get(name).status for name in hidden} == {"active"}
    assert [vault.get(name).text.count(SECRET_WORD) for name in hidden] == [1] * len(hidden)


def test_what_another_project_was_told_is_not_what_was_used_here(vault):
    enforcer = RetrievalEnforcer(vault)
    asked = "Which memories did you use for the last answer?"
    enforcer.decide("What is the code word of the bank?", project=OTHER)
    assert SECRET_WORD not in repr(enforcer.decide(asked, project=OWN))
    assert SECRET_WORD not in repr(enforcer.decide(asked))
    assert SECRET_WORD in enforcer.decide(asked, project=OTHER).text


def test_what_another_project_was_told_in_this_session_is_not_corrected_here(tmp_path):
    said = [
        Message("user", "When does the vault open?"),
        Message("assistant", "The vault opens at 9:00."),
        Message("user", "No, the vault opens at 9:30, not at 9:00."),
        Message("assistant", "Ok."),
    ]
    with Mempalace.open(tmp_path / "p") as palace:
        palace.remember("The vault opens at 9:00.", project=OTHER)
        asked = RetrievalEnforcer(palace)
        verdict = asked.decide("When does the vault open?", session_id="s", project=OTHER)
        assert verdict.action == "ground"
        for project in (OWN, None):
            told = asked.decide("No, it is 9:30, not 9:00.", session_id="s", project=project)
            assert (told.action, told.written) == ("pass", ())
            assert palace.correct_last("No, it is 9:30.", "s", project=project).status == "unclear"
            [fill] = palace.on_session_end("s", said, project=project).filled
            assert fill.status == "stored"
        assert [m.status for m in palace.memories(room="inbox", drawer="notes")] == ["active"]
        told = asked.decide("No, it is 9:45, not 9:00.", session_id="s", project=OTHER)
        assert [write.status for write in told.written] == ["corrected"]


def test_what_a_person_forgot_in_another_project_is_stated_anew_here(tmp_path):
    said = [Message("user", "My boat is called Alma."), Message("assistant", "Nice.")]
    with Mempalace.open(tmp_path / "p") as palace:
        [fill] = palace.on_session_end("s", said, project=OTHER).filled
        palace.forget(fill.memory.id)
        assert palace.on_session_end("s", said, project=OTHER).filled[0].status == "duplicate"
        for project in (OWN, None):
            [fill] = palace.on_session_end("s", said, project=project).filled
            assert (fill.status, fill.memory.project) == ("stored", project or "")


def test_no_tool_reaches_another_scope_by_an_id_or_its_beginning(vault):
    [entry] = vault.notes(OTHER)
    hidden = hidden_of(vault)
    for tool in agent_tools(vault, session_id=OWN, project=OWN):
        known = tool.parameters["properties"]
        for name in (*hidden, hidden[0][:10], entry.id, entry.id[:10]):
            for field in (field for field in FIELDS if field in known):
                rest = dict.fromkeys(tool.parameters.get("required", ()), "Parrots are green.")
                said = str(tool(**{**rest, field: name}))
                assert SECRET_WORD not in said, (tool.name, field)
                assert not [one for one in hidden if one != name and one in said]
    assert {vault.get(name).status for name in hidden} == {"active"}


@pytest.mark.parametrize(
    "name",
    ["../out", "/etc/out", "a/../../out", "..", ".", "a\\..\\out", "C:out", "con", "NUL.md", "a\x00b", "․․/out",
     "‥/out", "．．／out", "a/b/c/d/e/f/g/h/i", ".hidden", "timeline", "TIMELINE", "playbooks", "\u202egnp", "~root/\x01"],
)  # fmt: skip
def test_no_name_leaves_the_root(tmp_path, name):
    root = tmp_path / "in" / "palace"
    with Mempalace.open(root) as palace:
        for act in (
            lambda: palace.remember("The lamp is green.", room=name),
            lambda: palace.remember("The lamp is red.", drawer=name),
            lambda: palace.room(name),
            lambda: palace.note("The lamp is blue.", session_id=name),
        ):
            with suppress(PalaceError):
                act()
    outside = [p for p in tmp_path.rglob("*") if p.is_file() and not p.is_relative_to(root)]
    assert outside == []
    assert not Path("/etc/out").exists()


@pytest.mark.skipif(not hasattr(Path, "symlink_to"), reason="needs links")
def test_links_do_not_lead_out(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.md").write_text(f"- The code word is {SECRET_WORD}.\n")
    root = tmp_path / "palace"
    (root / "rooms").mkdir(parents=True)
    (root / "rooms" / "link").symlink_to(outside)
    (root / "rooms" / "one.md").symlink_to(outside / "private.md")
    (root / "identity.txt").symlink_to(outside / "private.md")
    with Mempalace.open(root) as palace:
        assert palace.memories() == []
        with pytest.raises(PalaceError):
            palace.remember("The lamp is green.", room="link")
        with pytest.raises(PalaceError):
            palace.set_identity("somebody")
    assert [p.name for p in outside.iterdir()] == ["private.md"]


@pytest.mark.skipif(not hasattr(Path, "symlink_to"), reason="needs links")
@pytest.mark.parametrize("folder", ["rooms", "timeline", "playbooks"])
def test_a_whole_folder_that_leads_out_is_named(tmp_path, folder):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.md").write_text(f"- The code word is {SECRET_WORD}.\n")
    root = tmp_path / "palace"
    root.mkdir()
    (root / folder).symlink_to(outside)
    with Mempalace.open(root) as palace:
        assert palace.memories() == []
        assert f"{folder}:1: a symlink that leads out" in failed_check(palace, "files")
        if folder == "rooms":
            with pytest.raises(UnsafeNameError, match="where the link stands"):
                palace.remember("The lamp is green.")


def failed_check(palace, name):
    return next(check.detail for check in palace.doctor() if check.name == name and not check.ok)


ELSEWHERE = [
    "http://127.0.0.1/owner/repo/issues/1", "http://localhost:8000/owner/repo/issues/1", "http://[::1]/owner/repo/issues/1",
    "http://169.254.169.254/latest/meta-data", "http://10.0.0.5/owner/repo/issues/1", "file:///etc/passwd",
    "http://forge.example@127.0.0.1/owner/repo/issues/1", "http://forge.example.evil.example/owner/repo/issues/1",
    "http://2130706433/owner/repo/issues/1", "http://0x7f.1/owner/repo/issues/1", "https://forge.example:8443/owner/repo/issues/1",
    "gopher://forge.example/owner/repo/issues/1", "http://forge.example\\@127.0.0.1/owner/repo/issues/1",
    "https://forge.example/../../owner/repo/issues/1", "https://forge.example/other/repo/issues/1",
]  # fmt: skip


@pytest.mark.parametrize("address", ELSEWHERE)
def test_no_prompt_names_a_server(address):
    gitea = GiteaFetcher(base_url="https://forge.example", repositories=["owner/repo"])
    github = GitHubFetcher(base_url="https://api.github.com", repositories=["owner/repo"])
    for fetcher in (gitea, github):
        for ref in fetcher.recognise(f"What is the status of {address} now?"):
            assert "127" not in ref.target
            assert "//" not in ref.target
            assert ".." not in ref.target
