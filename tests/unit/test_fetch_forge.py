"""Gitea and GitHub fetchers against a local server that speaks their JSON."""

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest

from palace.errors import ConfigError, FetchDeniedError, FetchError, FetchNotFoundError
from palace.fetch.gitea import GiteaFetcher
from palace.fetch.github import GitHubFetcher
from palace.ports import ArtifactRef
from tests.e2e.fake_forge import (
    FakeForge,
    comment,
    contents,
    gitea_issue,
    gitea_pull,
    github_issue,
    github_pull,
    replies,
)

NOW = datetime(2026, 3, 14, 9, 30, tzinfo=timezone.utc)
REPO = "own/tool"


@pytest.fixture
def gitea_server() -> Iterator[FakeForge]:
    with FakeForge(prefix="/api/v1") as server:
        yield server


@pytest.fixture
def github_server() -> Iterator[FakeForge]:
    with FakeForge() as server:
        yield server


def gitea(server: FakeForge, **keywords: object) -> GiteaFetcher:
    defaults = {"base_url": server.url, "repositories": [REPO], "now": lambda: NOW}
    return GiteaFetcher(**{**defaults, **keywords})


def github(server: FakeForge, **keywords: object) -> GitHubFetcher:
    defaults = {"base_url": server.url, "repositories": [REPO], "now": lambda: NOW}
    return GitHubFetcher(**{**defaults, **keywords})


def ref(kind: str, target: str, host: str = "gitea", **options: str) -> ArtifactRef:
    return ArtifactRef(kind, host, target, options)


def offline(**keywords: object) -> GiteaFetcher:
    defaults = {"base_url": "https://git.example.org", "repositories": [REPO]}
    return GiteaFetcher(**{**defaults, **keywords})


# Recognising


def targets(fetcher: GiteaFetcher | GitHubFetcher, prompt: str) -> list[str]:
    return [ref.target for ref in fetcher.recognise(prompt)]


def test_a_bare_number_needs_the_only_repository_of_the_only_forge() -> None:
    prompt = "what is the status of #12?"
    assert targets(offline(), prompt) == ["own/tool#12"]
    assert targets(offline(repositories=[]), prompt) == []
    assert targets(offline(repositories=[REPO, "own/other"]), prompt) == []
    assert targets(offline(elsewhere=["a/b"]), prompt) == []
    assert targets(offline(elsewhere=()), prompt) == ["own/tool#12"]


def test_a_named_repository_makes_a_number_clear() -> None:
    fetcher = offline(repositories=[REPO, "own/other"], elsewhere=["a/b"])
    assert targets(fetcher, "issue 3 in tool") == ["own/tool#3"]
    assert targets(fetcher, "other PR 4") == ["own/other#4"]
    assert targets(fetcher, "Other#5") == ["own/other#5"]
    assert targets(fetcher, "OWN/Tool#6") == ["own/tool#6"]


def test_a_number_of_another_repository_is_not_taken_for_ours() -> None:
    assert targets(offline(), "issue 3 in some-service") == []
    assert targets(offline(), "issue 3 of repo website") == []
    assert targets(offline(), "C#12, F#4 and website#3") == []
    assert targets(offline(), "issue 3 in production") == ["own/tool#3"]
    assert targets(offline(repositories=["a/tool", "b/tool"]), "tool#3") == []


def test_an_explicit_reference_is_recognised_and_denied() -> None:
    fetcher = offline()
    [found] = fetcher.recognise("is foreign/thing#7 open?")
    with pytest.raises(FetchDeniedError, match="foreign/thing") as error:
        fetcher.fetch(found)
    assert "artifacts.gitea.repositories" in error.value.hint
    assert targets(offline(elsewhere=["foreign/thing"]), "foreign/thing#7") == []


def test_files_of_repositories() -> None:
    fetcher = offline()
    assert targets(fetcher, "src/app.py in own/tool") == ["own/tool:src/app.py"]
    assert targets(fetcher, "src/app.py in tool") == ["own/tool:src/app.py"]
    assert targets(fetcher, "src/app.py in lib/other") == []
    [found] = fetcher.recognise("https://git.example.org/own/tool/src/branch/dev/a.md")
    assert (found.kind, found.target, dict(found.options)) == (
        "repo_file",
        "own/tool:a.md",
        {"ref": "dev"},
    )


def test_each_artifact_once_and_not_too_many() -> None:
    fetcher = offline()
    assert [r.kind for r in fetcher.recognise("#45, I mean PR 45, own/tool#45")] == ["pull"]
    assert len(fetcher.recognise(" ".join(f"#{n}" for n in range(1, 60)))) == 8


def test_addresses_of_github() -> None:
    fetcher = GitHubFetcher(base_url="https://api.github.com", repositories=[REPO])
    [found] = fetcher.recognise("https://github.com/own/tool/pull/5/files")
    assert (found.kind, found.host, found.target) == ("pull", "github", "own/tool#5")
    enterprise = GitHubFetcher(repositories=[REPO], base_url="https://ghe.example.org/api/v3")
    assert targets(enterprise, "https://ghe.example.org/own/tool/issues/5") == ["own/tool#5"]


@pytest.mark.parametrize("name", ["own", "own/tool/x", "../tool", "own/..", "own/to ol", "ö/x", ""])
def test_wrong_repositories_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="repositories"):
        offline(repositories=[name])


# Fetching issues


def test_gitea_issue(gitea_server: FakeForge) -> None:
    gitea_server.documents[f"/repos/{REPO}/issues/12"] = gitea_issue(REPO, 12, comments=7)
    gitea_server.documents[f"/repos/{REPO}/issues/12/comments"] = [comment(n) for n in range(1, 8)]
    artifact = gitea(gitea_server, token="t0ken").fetch(ref("issue", "own/tool#12"))
    assert artifact.text.split("\n") == [
        'own/tool#12 "Printer jams on Mondays" is open (as of 2026-03-14 09:30 UTC)',
        "type: issue",
        "author: alice",
        "labels: bug, urgent",
        "assignees: bob",
        "milestone: spring",
        "created: 2026-03-01 09:00 UTC",
        "updated: 2026-03-02 11:30 UTC",
        "",
        "The tray opens.",
        "Then it stops.",
        "",
        "comments: 7 in all, the last 5:",
        *[
            f"- carol, 2026-03-03 12:0{n}:00 UTC: comment number {n}".replace(":00 ", " ")
            for n in range(3, 8)
        ],
    ]
    assert artifact.ref == "gitea:own/tool#12"
    assert artifact.title == 'own/tool#12 "Printer jams on Mondays" is open'
    assert artifact.url == f"{gitea_server.url}/own/tool/issues/12"
    assert (artifact.fetched_at, artifact.truncated) == (NOW, False)
    assert gitea_server.seen[0].headers["authorization"] == "token t0ken"


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"state": "closed", "closed_at": "2026-03-04T10:00:00Z"}, "closed"),
        ({"state": "closed", "pull_request": {"merged": True, "merged_at": None}}, "merged"),
        ({"state": "closed", "pull_request": {"merged": False, "merged_at": None}}, "closed"),
        ({"state": "closed", "pull_request": {"merged_at": "2026-03-05T08:00:00Z"}}, "merged"),
    ],
)
def test_state_of_an_issue(gitea_server: FakeForge, changes: dict[str, object], state: str) -> None:
    gitea_server.documents[f"/repos/{REPO}/issues/12"] = gitea_issue(REPO, 12, **changes)
    artifact = gitea(gitea_server).fetch(ref("issue", "own/tool#12"))
    assert artifact.title.endswith(f"is {state}")
    assert artifact.url.endswith("/pulls/12" if "pull_request" in changes else "/issues/12")


def test_gitea_pull(gitea_server: FakeForge) -> None:
    gitea_server.documents[f"/repos/{REPO}/pulls/45"] = gitea_pull(
        REPO,
        45,
        state="closed",
        merged=True,
        merged_at="2026-03-05T08:00:00Z",
        merged_by={"login": "dora"},
        draft=True,
    )
    text = gitea(gitea_server).fetch(ref("pull", "own/tool#45")).text
    assert text.startswith('own/tool#45 "Fix the tray" is merged (as of ')
    for line in ("type: draft pull request", "merged: 2026-03-05 08:00 UTC", "merged by: dora"):
        assert line in text.split("\n")
    assert "branches: tray -> main" in text


def test_github_issue_and_its_last_comments(github_server: FakeForge) -> None:
    github_server.documents[f"/repos/{REPO}/issues/9"] = github_issue(
        REPO, 9, comments=12, state="closed", state_reason="not_planned"
    )
    github_server.documents[f"/repos/{REPO}/issues/9/comments"] = [comment(n) for n in range(12)]
    artifact = github(github_server, token="t0ken").fetch(ref("issue", "own/tool#9", "github"))
    assert "closed as: not planned" in artifact.text
    assert "comments: 12 in all, the last 5:" in artifact.text
    assert [f"comment number {n}" in artifact.text for n in (6, 7, 11)] == [False, True, True]
    assert artifact.url == f"{github_server.url}/own/tool/issues/9"
    seen = github_server.seen[0].headers
    assert seen["authorization"] == "Bearer t0ken"
    assert seen["accept"] == "application/vnd.github+json"
    assert len(github_server.seen) == 3


def test_github_pull(github_server: FakeForge) -> None:
    github_server.documents[f"/repos/{REPO}/pulls/5"] = github_pull(
        REPO, 5, state="closed", merged=True, merged_at="2026-03-05T08:00:00Z"
    )
    artifact = github(github_server).fetch(ref("pull", "own/tool#5", "github"))
    assert artifact.title == 'own/tool#5 "Fix the tray" is merged'
    assert artifact.url == f"{github_server.url}/own/tool/pull/5"
    assert "authorization" not in github_server.seen[0].headers


def test_long_texts_are_cut_and_marked(gitea_server: FakeForge) -> None:
    gitea_server.documents[f"/repos/{REPO}/issues/1"] = gitea_issue(
        REPO, 1, body="ä" * 5000, comments=1
    )
    gitea_server.documents[f"/repos/{REPO}/issues/1/comments"] = [comment(1, body="ö" * 5000)]
    artifact = gitea(gitea_server, max_bytes=2000).fetch(ref("issue", "own/tool#1"))
    assert artifact.truncated
    assert len(artifact.text.encode()) <= 2000
    assert "comments: 1 in all" in artifact.text


def test_comments_that_cannot_be_had_leave_the_issue(gitea_server: FakeForge) -> None:
    gitea_server.documents[f"/repos/{REPO}/issues/1"] = gitea_issue(REPO, 1, comments=3)
    gitea_server.behaviours[f"/repos/{REPO}/issues/1/comments"] = replies(b"oops", status=500)
    artifact = gitea(gitea_server).fetch(ref("issue", "own/tool#1"))
    assert artifact.truncated
    assert artifact.text.endswith("comments: 3 in all, none shown here")
    assert "500" not in artifact.text


def test_control_characters_do_not_pass(gitea_server: FakeForge) -> None:
    gitea_server.documents[f"/repos/{REPO}/issues/1"] = gitea_issue(
        REPO, 1, title="a\x1b[31m\nb\ud800", body="c\x00\x07\u202ed"
    )
    text = gitea(gitea_server).fetch(ref("issue", "own/tool#1")).text
    assert text.startswith('own/tool#1 "a[31m b?" is open')
    assert text.endswith("\ncd")


@pytest.mark.parametrize(
    "document",
    [
        [],
        "text",
        None,
        {"message": "hello"},
        gitea_issue(REPO, 13),
        gitea_issue(REPO, 12, state="strange"),
    ],
)
def test_answers_of_another_shape_are_errors(gitea_server: FakeForge, document: object) -> None:
    gitea_server.documents[f"/repos/{REPO}/issues/12"] = document
    with pytest.raises(FetchError):
        gitea(gitea_server).fetch(ref("issue", "own/tool#12"))


@pytest.mark.parametrize("fetcher_of", [gitea, github])
def test_an_issue_that_moved_out_of_the_configured_ones_is_denied(
    fetcher_of: object, gitea_server: FakeForge, github_server: FakeForge
) -> None:
    is_gitea = fetcher_of is gitea
    server, make = (gitea_server, gitea_issue) if is_gitea else (github_server, github_issue)
    server.documents[f"/repos/{REPO}/issues/12"] = make("foreign/place", 12)
    with pytest.raises(FetchDeniedError, match="foreign/place"):
        fetcher_of(server).fetch(ref("issue", "own/tool#12", "gitea" if is_gitea else "github"))


def test_odd_types_inside_an_issue_are_left_out(gitea_server: FakeForge) -> None:
    odd = {"user": 5, "labels": "x", "assignees": [1, None], "milestone": [], "body": None}
    gitea_server.documents[f"/repos/{REPO}/issues/1"] = gitea_issue(
        REPO, 1, created_at="soon", updated_at="0001-01-01T00:00:00Z", comments="many", **odd
    )
    text = gitea(gitea_server).fetch(ref("issue", "own/tool#1")).text
    assert text.split("\n")[1:] == ["type: issue"]


def test_unknown_issue(gitea_server: FakeForge) -> None:
    with pytest.raises(FetchNotFoundError) as error:
        gitea(gitea_server).fetch(ref("issue", "own/tool#404"))
    assert "PALACE_ARTIFACTS__GITEA__TOKEN" in error.value.hint


# Fetching files


def test_file_of_a_repository(gitea_server: FakeForge) -> None:
    gitea_server.documents[f"/repos/{REPO}/contents/docs/a b.md"] = contents(
        "docs/a b.md", "Grüße\r\nund mehr\n".encode() * 20
    )
    artifact = gitea(gitea_server).fetch(ref("repo_file", "own/tool:docs/a b.md", ref="v1.0"))
    assert artifact.text == "Grüße\nund mehr\n" * 20
    assert gitea_server.paths() == ["/api/v1/repos/own/tool/contents/docs/a%20b.md?ref=v1.0"]
    assert artifact.ref == "gitea:own/tool:docs/a b.md@v1.0"
    assert artifact.url == f"{gitea_server.url}/own/tool/src/v1.0/docs/a%20b.md"


def test_folder_of_a_repository(github_server: FakeForge) -> None:
    github_server.documents[f"/repos/{REPO}/contents/docs"] = [
        {"name": "img", "type": "dir"},
        {"name": "a.md", "type": "file"},
    ]
    artifact = github(github_server).fetch(ref("repo_file", "own/tool:docs", "github"))
    assert artifact.text == "img/\na.md"
    assert artifact.url == f"{github_server.url}/own/tool/blob/HEAD/docs"


@pytest.mark.parametrize(
    "document",
    [
        contents("x.bin", b"\x00\x01\x02"),
        contents("x.bin", b"\xff\xfd" * 100),
        contents("x.txt", b"", encoding="none", content=""),
        contents("x", b"", type="submodule", encoding=None, content=None),
        contents("x.txt", b"", content="***"[:1]),
        {"message": "x"},
        7,
    ],
)
def test_what_is_no_text_file_is_refused(gitea_server: FakeForge, document: object) -> None:
    gitea_server.documents[f"/repos/{REPO}/contents/x"] = document
    with pytest.raises(FetchError):
        gitea(gitea_server).fetch(ref("repo_file", "own/tool:x"))


def test_long_file_is_cut(gitea_server: FakeForge) -> None:
    gitea_server.documents[f"/repos/{REPO}/contents/x.txt"] = contents("x.txt", b"a" * 3000)
    artifact = gitea(gitea_server, max_bytes=1000).fetch(ref("repo_file", "own/tool:x.txt"))
    assert (artifact.text, artifact.truncated) == ("a" * 1000, True)


# References nobody should trust


@pytest.mark.parametrize(
    ("kind", "target", "options"),
    [
        ("issue", "own/tool#0", {}),
        ("issue", "own/tool#1/../../2", {}),
        ("issue", "own/tool", {}),
        ("issue", "../tool#1", {}),
        ("issue", "own/..#1", {}),
        ("issue", "own/tool?x=#1", {}),
        ("repo_file", "own/tool:../../secret", {}),
        ("repo_file", "own/tool:a/../b", {}),
        ("repo_file", "own/tool:/etc/passwd", {}),
        ("repo_file", "own/tool:a\\..\\b", {}),
        ("repo_file", "own/tool:a\nb", {}),
        ("repo_file", "own/tool:a//b", {}),
        ("repo_file", "own/tool:a\ud800b", {}),
        ("repo_file", "own/tool:a", {"ref": "x/../y"}),
        ("repo_file", "own/tool:a", {"ref": "x y&z"}),
        ("elsewhere", "own/tool#1", {}),
    ],
)
def test_strange_references_are_denied_without_a_request(
    gitea_server: FakeForge, kind: str, target: str, options: dict[str, str]
) -> None:
    with pytest.raises(FetchDeniedError):
        gitea(gitea_server).fetch(ArtifactRef(kind, "gitea", target, options))
    assert gitea_server.seen == []


def test_percent_signs_in_paths_stay_what_they_are(gitea_server: FakeForge) -> None:
    gitea_server.documents[f"/repos/{REPO}/contents/%2e%2e/x?y#z"] = contents("z", b"text")
    assert gitea(gitea_server).fetch(ref("repo_file", "own/tool:%2e%2e/x?y#z")).text == "text"


def test_rendering_uses_the_moment_of_confirmation(gitea_server: FakeForge) -> None:
    gitea_server.documents[f"/repos/{REPO}/issues/1"] = gitea_issue(REPO, 1)
    moments = [NOW]
    fetcher = gitea(gitea_server, now=lambda: moments[0])
    fetcher.fetch(ref("issue", "own/tool#1"))
    moments[0] = NOW + timedelta(seconds=30)
    assert fetcher.fetch(ref("issue", "own/tool#1")).fetched_at == NOW
    moments[0] = NOW + timedelta(seconds=90)
    again = fetcher.fetch(ref("issue", "own/tool#1"))
    assert again.fetched_at == moments[0]
    assert "(as of 2026-03-14 09:31 UTC)" in again.text
