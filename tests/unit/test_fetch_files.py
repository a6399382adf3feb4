import os
from datetime import datetime, timezone
from pathlib import Path
from unicodedata import normalize

import pytest

from palace.errors import FetchDeniedError, FetchError, FetchNotFoundError
from palace.fetch.files import FilesFetcher
from palace.ports import ArtifactRef

NOW = datetime(2026, 3, 14, 9, 30, tzinfo=timezone.utc)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    for name in (
        "README.md",
        "config/app.yaml",
        "src/app.py",
        "my notes/plan one.md",
        "Makefile",
        "plain",
        "größe.md",
        "e.md",
        "计划.md",
        "计划（1）.md",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}\n")
    (tmp_path / "outside.md").write_text("outside")
    return folder


@pytest.fixture
def fetcher(root: Path) -> FilesFetcher:
    return FilesFetcher(roots=[root], now=lambda: NOW)


def names(fetcher: FilesFetcher, root: Path, prompt: str) -> list[str]:
    return [Path(ref.target).relative_to(root).as_posix() for ref in fetcher.recognise(prompt)]


def ref(path: Path | str) -> ArtifactRef:
    return ArtifactRef("file", "files", str(path), {})


@pytest.mark.parametrize("asked", ["NFC", "NFD"])
@pytest.mark.parametrize("stored", ["NFC", "NFD"])
def test_a_letter_in_two_pieces_is_the_same_letter(
    fetcher: FilesFetcher, root: Path, asked: str, stored: str
) -> None:
    (root / normalize(stored, "Käse")).mkdir()
    name = normalize(stored, "Käse/Müsli.md")
    (root / name).write_text("oats")
    (found,) = fetcher.recognise(f"what does {normalize(asked, name)} say?")
    assert fetcher.fetch(found).text == "oats"


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("what's in README.md?", "README.md"),
        ("what does ./config/app.yaml say", "config/app.yaml"),
        ("explain src/app.py.", "src/app.py"),
        ("(see src/app.py)", "src/app.py"),
        ("the error is at src/app.py:42:7", "src/app.py"),
        ("open `src/app.py`", "src/app.py"),
        ("open 'config/app.yaml', please", "config/app.yaml"),
        ('read "my notes/plan one.md"', "my notes/plan one.md"),
        ("what does my notes/plan one.md say?", "my notes/plan one.md"),
        ("see my notes/plan one.md.", "my notes/plan one.md"),
        ("one.md (my notes/plan one.md:3)", "my notes/plan one.md"),
        ("my notes/plan one.md", "my notes/plan one.md"),
        ("what does the Makefile do?", "Makefile"),
        ("src/../README.md", "README.md"),
        ("{root}/src/app.py", "src/app.py"),
        ("src/app.py: what is it?", "src/app.py"),
        ("src/app.py in own/tool.d/x", "src/app.py"),
        ("src/app.py in root", "src/app.py"),
        ("what does “README.md” say?", "README.md"),
        ("was steht in „my notes/plan one.md“?", "my notes/plan one.md"),
        ("README.md—what does it say?", "README.md"),
        ("«README.md»", "README.md"),
        ("查看src/app.py里的错误", "src/app.py"),
        ("README.mdには何が？", "README.md"),
        ("「my notes/plan one.md」を読んで", "my notes/plan one.md"),
        ("README.md에서 찾아줘", "README.md"),
        ("看（README.md）。", "README.md"),
        ("计划.md里写了什么？", "计划.md"),
        ("größe.md?", "größe.md"),
        ("计划（1）.md", "计划（1）.md"),
        ("src/app.py：42", "src/app.py"),
    ],
)
def test_files_are_recognised(fetcher: FilesFetcher, root: Path, prompt: str, name: str) -> None:
    assert names(fetcher, root, prompt.replace("{root}", str(root))) == [name]


@pytest.mark.parametrize("first", ["other", "missing"])
def test_a_name_is_looked_up_in_every_root(root: Path, tmp_path: Path, first: str) -> None:
    (tmp_path / "other").mkdir()
    fetcher = FilesFetcher(roots=[tmp_path / first, root], now=lambda: NOW)
    assert names(fetcher, root, "what's in README.md and src/app.py?") == [
        "README.md",
        "src/app.py",
    ]


def test_the_first_root_that_has_the_name_wins(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "README.md").write_text("of the other")
    fetcher = FilesFetcher(roots=[tmp_path / "other", root], now=lambda: NOW)
    assert names(fetcher, tmp_path / "other", "what's in README.md?") == ["README.md"]


@pytest.mark.parametrize(
    "prompt",
    [
        "v2.0.1 and/or 3/4, e.g. node.js",
        "a plain word",
        "call it 'plain' or `plain`",
        "../outside.md",
        "src/../../outside.md",
        "{outside}",
        "/etc/passwd",
        "https://example.org/README.md",
        "missing.md",
        "src/ and config/",
        ". .. / ./ ~ ~nobody-at-all/x.md",
        "a\0b.md",
        "src/app.py in own/tool",
        "`src/app.py` from the repo own/tool",
        "x" * 5000 + ".md",
        "",
    ],
)
def test_no_false_alarm(fetcher: FilesFetcher, root: Path, prompt: str) -> None:
    outside = str(root.parent / "outside.md")
    assert names(fetcher, root, prompt.replace("{outside}", outside)) == []


def test_each_file_once_and_not_too_many(fetcher: FilesFetcher, root: Path) -> None:
    assert names(fetcher, root, "`README.md` README.md ./README.md") == ["README.md"]
    for number in range(12):
        (root / f"{number}.txt").write_text("x")
    assert len(fetcher.recognise(" ".join(f"{n}.txt" for n in range(12)))) == 8


def test_no_roots_no_files(root: Path) -> None:
    fetcher = FilesFetcher(roots=[])
    assert fetcher.recognise(f"{root}/README.md") == []
    with pytest.raises(FetchDeniedError, match="allowed"):
        fetcher.fetch(ref(root / "README.md"))


def test_fetch(fetcher: FilesFetcher, root: Path) -> None:
    path = root / "README.md"
    path.write_bytes("\ufeffGrüße\r\nund mehr\x07\n".encode())
    os.utime(path, (1_770_000_000, 1_770_000_000))
    artifact = fetcher.fetch(ref(path))
    assert artifact.text == "Grüße\nund mehr\n"
    assert artifact.ref == f"files:{path}"
    assert artifact.url == str(path)
    assert artifact.title == "README.md (22 bytes, changed 2026-02-02 02:40 UTC)"
    assert (artifact.fetched_at, artifact.truncated) == (NOW, False)


def test_recognised_files_can_be_fetched(fetcher: FilesFetcher) -> None:
    [found] = fetcher.recognise("what is in 'my notes/plan one.md'")
    assert fetcher.fetch(found).text == "text of my notes/plan one.md\n"


def test_long_file_is_cut_between_characters(root: Path) -> None:
    (root / "long.txt").write_text("ä" * 1000, encoding="utf-8")
    artifact = FilesFetcher(roots=[root], max_bytes=101).fetch(ref(root / "long.txt"))
    assert (artifact.text, artifact.truncated) == ("ä" * 50, True)


def test_empty_file_is_empty(fetcher: FilesFetcher, root: Path) -> None:
    (root / "empty.txt").write_text("")
    assert fetcher.fetch(ref(root / "empty.txt")).text == ""


@pytest.mark.parametrize(
    "data", [b"\x7fELF\0\0", b"text" * 100 + b"\0", b"\xff\xfea\0b", b"ab\xff" * 50, b"\x80" * 10]
)
def test_binary_is_refused(fetcher: FilesFetcher, root: Path, data: bytes) -> None:
    (root / "x.dat").write_bytes(data)
    with pytest.raises(FetchError, match="not a text file"):
        fetcher.fetch(ref(root / "x.dat"))


def test_a_few_broken_characters_are_tolerated(fetcher: FilesFetcher, root: Path) -> None:
    (root / "x.txt").write_bytes(b"a" * 500 + b"\xff" + b"b" * 500)
    assert fetcher.fetch(ref(root / "x.txt")).text.count("\N{REPLACEMENT CHARACTER}") == 1


@pytest.mark.parametrize(
    "target",
    [
        "{out}",
        "{root}/../outside.md",
        "/etc/passwd",
        "README.md",
        "",
        "{root}/a\0b",
        "{root}-evil/x",
    ],
)
def test_outside_is_denied(fetcher: FilesFetcher, root: Path, target: str) -> None:
    place = target.format(out=root.parent / "outside.md", root=root)
    with pytest.raises(FetchDeniedError):
        fetcher.fetch(ref(place))


@pytest.mark.parametrize("name", ["link.md", "folder/outside.md"])
def test_links_out_of_the_root_are_denied(fetcher: FilesFetcher, root: Path, name: str) -> None:
    (root / "link.md").symlink_to(root.parent / "outside.md")
    (root / "folder").symlink_to(root.parent)
    assert names(fetcher, root, f"what is in {name}") == [name]
    with pytest.raises(FetchDeniedError) as error:
        fetcher.fetch(ref(root / name))
    assert "artifacts.files.roots" in error.value.hint


def test_links_inside_the_root_are_followed(fetcher: FilesFetcher, root: Path) -> None:
    (root / "link.md").symlink_to("README.md")
    assert fetcher.fetch(ref(root / "link.md")).text == "text of README.md\n"


def test_a_root_that_is_a_link_itself(root: Path) -> None:
    alias = root.parent / "alias"
    alias.symlink_to(root)
    fetcher = FilesFetcher(roots=[alias])
    [found] = fetcher.recognise("what is in README.md")
    assert fetcher.fetch(found).text == "text of README.md\n"


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        ".env.production",
        "prod.env",
        ".ENV",
        "id_rsa",
        "id_ed25519",
        "server.pem",
        "tls.key",
        ".ssh/config",
        ".git/config",
        ".aws/credentials",
        ".netrc",
    ],
)
def test_secrets_are_denied_by_name(fetcher: FilesFetcher, root: Path, name: str) -> None:
    path = root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("hunter2")
    (root / "harmless.txt").symlink_to(path)
    for place in (path, root / "harmless.txt"):
        with pytest.raises(FetchDeniedError, match="secrets") as error:
            fetcher.fetch(ref(place))
        assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    "name", [".env.example", "id_rsa.pub", ".gitignore", "keys.md", "environment.yml"]
)
def test_harmless_names_are_read(fetcher: FilesFetcher, root: Path, name: str) -> None:
    (root / name).write_text("harmless")
    assert fetcher.fetch(ref(root / name)).text == "harmless"


def test_a_link_to_nothing_is_a_missing_file(fetcher: FilesFetcher, root: Path) -> None:
    (root / "dangling.md").symlink_to("gone.md")
    with pytest.raises(FetchNotFoundError):
        fetcher.fetch(ref(root / "dangling.md"))


def test_impossible_name_is_an_error(fetcher: FilesFetcher, root: Path) -> None:
    assert fetcher.recognise("`a\ud800.md`") == []
    with pytest.raises(FetchError):
        fetcher.fetch(ref(f"{root}/a\ud800.md"))


def test_link_loop_is_an_error(fetcher: FilesFetcher, root: Path) -> None:
    (root / "a.md").symlink_to("b.md")
    (root / "b.md").symlink_to("a.md")
    with pytest.raises(FetchError):
        fetcher.fetch(ref(root / "a.md"))
    assert names(fetcher, root, "a.md") in ([], ["a.md"])


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_is_no_regular_file_is_refused_at_once(root: Path, kind: str) -> None:
    path = root / "odd.md"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path = Path("/dev/zero")
    fetcher = FilesFetcher(roots=[root, "/dev"])
    assert fetcher.recognise(f"what is in {path}") == []
    with pytest.raises(FetchError, match="not a regular file"):
        fetcher.fetch(ref(path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file_is_denied(fetcher: FilesFetcher, root: Path) -> None:
    (root / "README.md").chmod(0)
    with pytest.raises(FetchDeniedError):
        fetcher.fetch(ref(root / "README.md"))


def test_other_references_are_refused(fetcher: FilesFetcher, root: Path) -> None:
    with pytest.raises(FetchDeniedError):
        fetcher.fetch(ArtifactRef("log", "files", str(root / "README.md"), {}))


def test_ignored_files_are_denied(root: Path) -> None:
    (root / ".gitignore").write_text("build/\n*.local.txt\n", "utf-8")
    (root / ".secretsignore").write_text("/plan.txt\n", "utf-8")
    for name in ("build/out.txt", "a.local.txt", "plan.txt", "open.txt"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("Words.", "utf-8")
    fetcher = FilesFetcher(roots=[root])
    for name, rule in {
        "build/out.txt": ".gitignore",
        "a.local.txt": ".gitignore",
        "plan.txt": ".secretsignore",
    }.items():
        with pytest.raises(FetchDeniedError, match=rule):
            fetcher.fetch(ArtifactRef("file", "files", str(root / name), {}))
    assert fetcher.fetch(ArtifactRef("file", "files", str(root / "open.txt"), {})).text == "Words."
    # A root that a person named is read, whatever the repository around it ignores.
    (root / ".git").mkdir()
    inner = FilesFetcher(roots=[root / "build"])
    found = inner.fetch(ArtifactRef("file", "files", str(root / "build/out.txt"), {}))
    assert found.text == "Words."
