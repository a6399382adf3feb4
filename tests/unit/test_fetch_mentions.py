import time

import pytest

from palace.fetch.mentions import find_mentions

WEB = "https://git.example.org"


def read(prompt: str, web_url: str = WEB) -> list[tuple[str, str, int]]:
    return [(m.kind, m.repository, m.number) for m in find_mentions(prompt, web_url=web_url)]


@pytest.mark.parametrize(
    ("prompt", "kind", "number"),
    [
        ("what about #123?", "issue", 123),
        ("Is #1 done?", "issue", 1),
        ("see (#12).", "issue", 12),
        ("status of issue 123", "issue", 123),
        ("Issue #123 is what?", "issue", 123),
        ("what happened to issue 12", "issue", 12),
        ("issue number 7, please", "issue", 7),
        ("did PR 45 get merged", "pull", 45),
        ("did PR#45 get merged", "pull", 45),
        ("pr #45", "pull", 45),
        ("pull request 45's state", "pull", 45),
        ("the pull-request #45", "pull", 45),
    ],
)
def test_number_without_repository(prompt: str, kind: str, number: int) -> None:
    assert [(k, n) for k, _, n in read(prompt)] == [(kind, number)]


@pytest.mark.parametrize(
    "prompt",
    [
        "the #tag of it",
        "make it #336699 or #fff",
        "colour #333 for the text",
        "background: #000",
        "use #123456",
        "upgrade to v2.0.1",
        "3/4 of a cup and/or 1/2, e.g. milk",
        "on 2026-03-04 at 12:30",
        "the #1 reason",
        "step #2 is hard",
        "&#123; is an entity",
        "issue 3.5 of it",
        "I had this issue 3 times",
        "please issue 5 certificates",
        "PR 10 km",
        "issues: none",
        "a room #4",
        "what we decided in meeting #12",
        "is invoice #12 paid",
        "# 12 is a heading",
        "#12-3 or #1.5",
        "#0123",
        "https://other.example.org/own/tool/issues/5",
        "https://git.example.org.evil.example/own/tool/issues/5",
        "https://git.example.org:8443/own/tool/issues/5",
        "https://user@git.example.org/own/tool/issues/5",
        "https://git.example.org/own/tool",
        "https://git.example.org/own/tool/issues/05",
        "https://git.example.org/own/tool/issues/12345678",
        "https://git.example.org/own/tool/wiki/Home",
        "pulls 3 levers",
        "e-mail me at a@b.org:file.txt",
        "git@git.example.org:own/tool.git",
        "http://[::1",
        "",
    ],
)
def test_no_false_alarm(prompt: str) -> None:
    assert read(prompt) == []


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("own/tool#12", ("issue", "own/tool", 12)),
        ("is own/tool.py#12 open?", ("issue", "own/tool.py", 12)),
        ("tool#12", ("issue", "tool", 12)),
        ("issue 12 in own/tool", ("issue", "own/tool", 12)),
        ("PR 3 of the repo tool?", ("pull", "tool", 3)),
        ("what about #12 in own/tool", ("issue", "own/tool", 12)),
        ("own/tool PR 9", ("pull", "own/tool", 9)),
        (f"{WEB}/own/tool/issues/5", ("issue", "own/tool", 5)),
        (f"see <{WEB}/own/tool/pulls/5/files#x>.", ("pull", "own/tool", 5)),
        (f"[it]({WEB}/own/tool/issues/5#issuecomment-9)", ("issue", "own/tool", 5)),
        (f"{WEB}/own/tool/pull/6.", ("pull", "own/tool", 6)),
    ],
)
def test_repository_beside_number(prompt: str, expected: tuple[str, str, int]) -> None:
    assert read(prompt) == [expected]


def test_explicit_and_loose() -> None:
    by_prompt = {
        prompt: (m.explicit, m.loose)
        for prompt in ("own/tool#1", "#1 in own/tool", "#1 in production", "#1 in my-tool", "x#1")
        for m in find_mentions(prompt, web_url=WEB)
    }
    assert by_prompt == {
        "own/tool#1": (True, False),
        "#1 in own/tool": (True, False),
        "#1 in production": (False, True),
        "#1 in my-tool": (False, False),
        "x#1": (False, False),
    }


def test_lists() -> None:
    assert [n for _, _, n in read("issues 1, 2 and 3")] == [1, 2, 3]
    assert [n for _, _, n in read("issue 12 and 3 others")] == [12]
    assert [n for _, _, n in read("#4, #5 and PR 6")] == [4, 5, 6]


@pytest.mark.parametrize(
    ("prompt", "path", "git_ref"),
    [
        ("src/app.py in own/tool", "src/app.py", ""),
        ("`src/app.py` in `own/tool`", "src/app.py", ""),
        ("what does own/tool:src/app.py do?", "src/app.py", ""),
        ("own/tool:README", "README", ""),
        ("own/tool:README.md.", "README.md", ""),
        (f"{WEB}/own/tool/src/branch/main/src/app.py", "src/app.py", "main"),
        (f"{WEB}/own/tool/blob/v1.0/docs/a%20b.md", "docs/a b.md", "v1.0"),
    ],
)
def test_files(prompt: str, path: str, git_ref: str) -> None:
    [mention] = find_mentions(prompt, web_url=WEB)
    assert (mention.kind, mention.repository) == ("repo_file", "own/tool")
    assert (mention.path, mention.git_ref) == (path, git_ref)


@pytest.mark.parametrize("prompt", ["library/image:1.25", "and/or: that", "notes in the drawer"])
def test_no_files(prompt: str) -> None:
    assert read(prompt) == []


def test_web_address_with_a_folder() -> None:
    prompt = "https://host.example/git/own/tool/issues/5"
    assert read(prompt, "https://host.example/git") == [("issue", "own/tool", 5)]
    assert read("https://host.example/own/tool/issues/5", "https://host.example/git") == []


@pytest.mark.parametrize(
    "unit", ["#", "#1", "a/", "a/b#", "issue ", "1,", "x" * 50 + " ", "https://", ":a/b"]
)
def test_hostile_prompts_are_read_quickly(unit: str) -> None:
    started = time.process_time()
    find_mentions(unit * (40_000 // len(unit)), web_url=WEB)
    assert time.process_time() - started < 1.0
