"""Every fetcher keeps the contract of its port."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from palace.fetch.files import FilesFetcher
from palace.fetch.gitea import GiteaFetcher
from palace.fetch.github import GitHubFetcher
from palace.fetch.logs import LogsFetcher
from palace.ports import ArtifactRef
from palace.testing import FetcherContract
from tests.e2e.fake_forge import FakeForge, gitea_issue, github_pull


class TestGitea(FetcherContract):
    @pytest.fixture
    def fetcher(self) -> Iterator[GiteaFetcher]:
        with FakeForge(prefix="/api/v1") as server:
            server.documents["/repos/own/tool/issues/12"] = gitea_issue("own/tool", 12)
            yield GiteaFetcher(base_url=server.url, repositories=["own/tool"])

    @pytest.fixture
    def prompt(self) -> str:
        return "what is the status of issue 12?"

    @pytest.fixture
    def missing(self) -> ArtifactRef:
        return ArtifactRef("issue", "gitea", "own/tool#404", {})

    @pytest.fixture
    def forbidden(self) -> ArtifactRef:
        return ArtifactRef("issue", "gitea", "foreign/tool#12", {})


class TestGitHub(FetcherContract):
    @pytest.fixture
    def fetcher(self) -> Iterator[GitHubFetcher]:
        with FakeForge() as server:
            server.documents["/repos/own/tool/pulls/5"] = github_pull("own/tool", 5)
            yield GitHubFetcher(base_url=server.url, repositories=["own/tool"])

    @pytest.fixture
    def prompt(self) -> str:
        return "has own/tool PR 5 been merged?"

    @pytest.fixture
    def missing(self) -> ArtifactRef:
        return ArtifactRef("repo_file", "github", "own/tool:gone.md", {})

    @pytest.fixture
    def forbidden(self) -> ArtifactRef:
        return ArtifactRef("repo_file", "github", "foreign/tool:a.md", {})


class TestFiles(FetcherContract):
    @pytest.fixture
    def fetcher(self, tmp_path: Path) -> FilesFetcher:
        (tmp_path / "README.md").write_text("about this")
        return FilesFetcher(roots=[tmp_path])

    @pytest.fixture
    def prompt(self) -> str:
        return "what does README.md say?"

    @pytest.fixture
    def missing(self, tmp_path: Path) -> ArtifactRef:
        return ArtifactRef("file", "files", str(tmp_path / "gone.md"), {})

    @pytest.fixture
    def forbidden(self, tmp_path: Path) -> ArtifactRef:
        return ArtifactRef("file", "files", str(tmp_path.parent / "elsewhere.md"), {})


class TestLogs(FetcherContract):
    @pytest.fixture
    def fetcher(self, tmp_path: Path) -> LogsFetcher:
        (tmp_path / "app.log").write_text("one\ntwo\n")
        return LogsFetcher(paths=[tmp_path / "app.log", tmp_path / "gone.log"])

    @pytest.fixture
    def prompt(self) -> str:
        return "what's in app.log?"

    @pytest.fixture
    def missing(self, tmp_path: Path) -> ArtifactRef:
        return ArtifactRef("log", "logs", str(tmp_path / "gone.log"), {})

    @pytest.fixture
    def forbidden(self, tmp_path: Path) -> ArtifactRef:
        return ArtifactRef("log", "logs", str(tmp_path / "other.log"), {})
