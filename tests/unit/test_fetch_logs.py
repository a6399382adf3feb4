import gzip
import os
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from palace.errors import FetchDeniedError, FetchError, FetchNotFoundError
from palace.fetch.logs import LogsFetcher
from palace.ports import ArtifactRef

UTC = timezone.utc
NOW = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
LINES = [
    "2026-03-13 22:00:00 INFO start",
    "2026-03-14 06:00:00 ERROR early failure",
    "2026-03-14 08:00:00 ERROR connect ECONNREFUSED 10.0.0.5:5432",
    "Traceback (most recent call last):",
    '  File "worker.py", line 3',
    "2026-03-14 08:30:00 WARN slow",
    "2026-03-14 09:00:00 INFO fine",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.log").write_text("\n".join(LINES) + "\n")
    (tmp_path / "worker.log").write_text("one\ntwo\n")
    (tmp_path / "secret.log").write_text("nobody configured this")
    return tmp_path


def make(folder: Path, **keywords: object) -> LogsFetcher:
    defaults = {
        "paths": [folder / "app.log", folder / "worker.log"],
        "zone": UTC,
        "now": lambda: NOW,
    }
    return LogsFetcher(**{**defaults, **keywords})


def ask(fetcher: LogsFetcher, prompt: str) -> list[str]:
    """First line and the rest of what the one log a prompt names says."""
    [found] = fetcher.recognise(prompt)
    return fetcher.fetch(found).text.split("\n")


def seen(fetcher: LogsFetcher, prompt: str) -> list[str]:
    return [Path(ref.target).name for ref in fetcher.recognise(prompt)]


def ref(path: Path, **options: str) -> ArtifactRef:
    return ArtifactRef("log", "logs", str(path), options)


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("what's in app.log?", ["app.log"]),
        ("What is in APP.LOG", ["app.log"]),
        ("errors in the worker log in the last 2 hours", ["worker.log"]),
        ("the worker's log", ["worker.log"]),
        ("check the app logs", ["app.log"]),
        ("logs of the worker, please", ["worker.log"]),
        ("`app.log` and worker.log", ["app.log", "worker.log"]),
        ("see {folder}/app.log.", ["app.log"]),
        ("./app.log", ["app.log"]),
        ("what did the worker do?", []),
        ("a web app logs users in", ["app.log"]),
        ("the application log", []),
        ("secret.log", []),
        ("my-app.log", []),
        ("查看app.log里的错误", ["app.log"]),
        ("app.logのエラーは？", ["app.log"]),
        ("“worker.log”에 뭐가 있어?", ["worker.log"]),
        ("app.log.é", []),
        ("éapp.log", []),
        ("app.log.1", []),
        ("other/app.log", []),
        ("the log", []),
        ("", []),
    ],
)
def test_recognised_by_name(folder: Path, prompt: str, names: list[str]) -> None:
    assert seen(make(folder), prompt.replace("{folder}", str(folder))) == names


def test_a_log_without_an_ending_is_named_by_its_whole_name(folder: Path) -> None:
    assert seen(make(folder, paths=[folder / "syslog"]), "look into syslog") == ["syslog"]


@pytest.mark.parametrize(
    ("prompt", "options"),
    [
        ("what's in app.log", {}),
        ("grep ECONNREFUSED in app.log", {"grep": "ECONNREFUSED"}),
        ("any `connection refused` in app.log?", {"grep": "connection refused"}),
        ("NullPointerException in app.log", {"grep": "NullPointerException"}),
        ("lines containing timeout, in app.log", {"grep": "timeout"}),
        ("is job_failed in `app.log`", {"grep": "job_failed"}),
        ("errors in app.log", {"level": "error"}),
        ("any ERROR in app.log", {"level": "error"}),
        ("warnings in app.log", {"level": "warning"}),
        ("last 20 lines of app.log", {"lines": "20"}),
        ("tail -n 5 app.log", {"lines": "5"}),
        (
            "errors in app.log in the last 2 hours",
            {
                "level": "error",
                "since": "2026-03-14T07:30:00+00:00",
                "until": "2026-03-14T09:30:00+00:00",
            },
        ),
        ("app.log since 08:15", {"since": "2026-03-14T08:15:00+00:00"}),
    ],
)
def test_options(folder: Path, prompt: str, options: dict[str, str]) -> None:
    [found] = make(folder).recognise(prompt)
    assert (found.kind, found.host) == ("log", "logs")
    assert dict(found.options) == options


def test_tail(folder: Path) -> None:
    lines = ask(make(folder), "what's in app.log")
    assert lines == ["app.log: 7 lines (as of 2026-03-14 09:30 UTC)", *LINES]


def test_artifact(folder: Path) -> None:
    artifact = make(folder).fetch(ref(folder / "worker.log"))
    assert artifact.ref == f"logs:{folder / 'worker.log'}"
    assert artifact.url == str(folder / "worker.log")
    assert artifact.title == "worker.log: 2 lines"
    assert (artifact.fetched_at, artifact.truncated) == (NOW, False)


def test_only_the_last_lines(folder: Path) -> None:
    fetcher = make(folder, tail_lines=2)
    [found] = fetcher.recognise("app.log")
    artifact = fetcher.fetch(found)
    assert artifact.text.split("\n")[1:] == LINES[-2:]
    assert not artifact.truncated
    assert artifact.title == "app.log: the last 2 lines"
    assert ask(fetcher, "last 3 lines of app.log")[1:] == LINES[-3:]


def test_grep_keeps_the_lines_that_hold_the_word(folder: Path) -> None:
    lines = ask(make(folder), "grep econnrefused in app.log")
    assert lines[1:] == [LINES[2]]
    assert lines[0].startswith('app.log: 1 line with "econnrefused" (as of')


def test_grep_is_no_pattern(folder: Path) -> None:
    assert ask(make(folder), "grep `.*` in app.log") == [
        'app.log: no lines with ".*" (as of 2026-03-14 09:30 UTC)'
    ]


def test_errors_come_with_their_traces_within_the_window(folder: Path) -> None:
    lines = ask(make(folder), "errors in the app log in the last 2 hours")
    assert lines[1:] == LINES[2:5]
    assert lines[0] == (
        "app.log: 3 lines of errors since 2026-03-14 07:30 UTC until 2026-03-14 09:30 UTC"
        " (as of 2026-03-14 09:30 UTC)"
    )


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("app.log since 08:15", LINES[5:]),
        ("app.log yesterday", LINES[:1]),
        ("app.log between 07:00 and 08:10", LINES[2:5]),
        ("warnings in app.log today", LINES[5:6]),
        ("app.log on 2026-01-01", []),
    ],
)
def test_windows(folder: Path, prompt: str, expected: list[str]) -> None:
    assert ask(make(folder), prompt)[1:] == expected


@pytest.mark.parametrize(
    "line",
    [
        "  notAfter=2020-01-01 00:00:00",
        "2026-03-14 05:00:00 ERROR written late",
        '{"expires": "2020-01-01T00:00:00Z", "time": "2026-03-14T08:45:00Z"}',
    ],
)
def test_an_older_date_in_between_does_not_end_the_window(folder: Path, line: str) -> None:
    (folder / "app.log").write_text("\n".join([*LINES[:6], line, LINES[6]]))
    assert ask(make(folder), "errors in app.log in the last 2 hours")[1:] == LINES[2:5]


@pytest.mark.parametrize(("since", "begins"), [("21:00", False), ("22:00", True), ("23:00", True)])
def test_a_log_that_begins_within_the_window_says_so(
    folder: Path, since: str, begins: bool
) -> None:
    (folder / "app.log").write_text("\n".join(["2026-03-13 21:30:00 INFO start"] * 2))
    head = ask(make(folder), f"errors in app.log since 2026-03-13 {since}")[0]
    told = "" if begins else " in a log that begins 2026-03-13 21:30 UTC"
    assert head == (
        f"app.log: no lines of errors since 2026-03-13 {since} UTC{told}"
        " (as of 2026-03-14 09:30 UTC)"
    )


def test_a_log_without_times_says_so(folder: Path) -> None:
    lines = ask(make(folder), "worker.log of the last 2 hours")
    assert lines == [
        "worker.log: 2 lines of any time, for its lines carry none (as of 2026-03-14 09:30 UTC)",
        "one",
        "two",
    ]


def test_huge_log_is_read_from_its_end(folder: Path) -> None:
    path = folder / "app.log"
    with path.open("wb") as file:
        file.seek(3_000_000_000)
        file.write(b"\n" + b"".join(b"line %d\n" % n for n in range(50_000)))
    started = time.monotonic()
    artifact = make(folder, tail_lines=3).fetch(ref(path))
    assert artifact.text.split("\n")[1:] == ["line 49997", "line 49998", "line 49999"]
    assert time.monotonic() - started < 1.0


def test_search_stops_at_the_limit_and_says_so(folder: Path) -> None:
    (folder / "app.log").write_text("needle\n" + "hay\n" * 100_000)
    artifact = make(folder, scan_bytes=100_000).fetch(ref(folder / "app.log", grep="needle"))
    assert artifact.title == 'app.log: no lines with "needle"'
    assert artifact.truncated


def test_search_stops_where_the_window_begins(folder: Path) -> None:
    path = folder / "app.log"
    old = "2026-03-01 00:00:00 INFO old\n" * 40_000
    path.write_text(old + "2026-03-14 09:00:00 INFO new\n")
    artifact = make(folder, scan_bytes=200_000).fetch(
        ref(path, since=(NOW - timedelta(hours=1)).isoformat())
    )
    assert artifact.text.split("\n")[1:] == ["2026-03-14 09:00:00 INFO new"]
    assert not artifact.truncated


def test_long_lines_are_cut(folder: Path) -> None:
    (folder / "app.log").write_text("a" * 300_000 + "\n" + "ü" * 500)
    lines = make(folder, max_line_chars=100).fetch(ref(folder / "app.log")).text.split("\n")
    assert lines[1:] == ["a" * 99 + "…", "ü" * 99 + "…"]


def test_text_keeps_the_newest_lines_within_its_cap(folder: Path) -> None:
    (folder / "app.log").write_text("".join(f"line number {n}\n" for n in range(100)))
    artifact = make(folder, max_bytes=200).fetch(ref(folder / "app.log"))
    assert len(artifact.text.encode()) <= 200
    assert artifact.text.endswith("line number 98\nline number 99")
    assert artifact.truncated


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\n\nb", ["a", "", "b"]),
        (b"a\x1b[31mb\x00\xff\n", ["a[31mb\N{REPLACEMENT CHARACTER}"]),
    ],
)
def test_line_ends_and_odd_bytes(folder: Path, data: bytes, lines: list[str]) -> None:
    (folder / "app.log").write_bytes(data)
    assert make(folder).fetch(ref(folder / "app.log")).text.split("\n")[1:] == lines


def test_a_compressed_log_is_no_text(folder: Path) -> None:
    (folder / "app.log").write_bytes(gzip.compress("\n".join(LINES).encode()))
    with pytest.raises(FetchError, match="not a text file"):
        make(folder).fetch(ref(folder / "app.log"))


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_log_in_another_encoding_is_read_as_far_as_it_goes(folder: Path, encoding: str) -> None:
    (folder / "app.log").write_bytes("2026-03-14 09:00:00 ERROR Größe\n".encode(encoding))
    assert "09:00:00 ERROR Gr" in make(folder).fetch(ref(folder / "app.log")).text


def test_lines_across_blocks_stay_whole(folder: Path) -> None:
    lines = [f"{n:06}" + "x" * (n % 97) for n in range(5_000)]
    (folder / "app.log").write_text("\n".join(lines))
    artifact = make(folder, tail_lines=10_000, max_bytes=1_000_000).fetch(ref(folder / "app.log"))
    assert artifact.text.split("\n")[1:] == lines


def test_half_characters_are_sought_in_vain(folder: Path) -> None:
    assert ask(make(folder), "grep `a\ud800b` in app.log")[0].startswith(
        'app.log: no lines with "a?b"'
    )


def test_only_configured_logs(folder: Path) -> None:
    fetcher = make(folder)
    for path in (folder / "secret.log", folder / "x/../app.log", Path("app.log")):
        with pytest.raises(FetchDeniedError) as error:
            fetcher.fetch(ref(path))
        assert "artifacts.logs.paths" in error.value.hint


def test_a_link_that_was_configured_is_followed(folder: Path) -> None:
    (folder / "current.log").symlink_to("app.log")
    fetcher = make(folder, paths=[folder / "current.log"])
    assert fetcher.fetch(ref(folder / "current.log")).text.endswith(LINES[-1])


def test_missing_and_odd_files(folder: Path) -> None:
    (folder / "app.log").unlink()
    with pytest.raises(FetchNotFoundError):
        make(folder).fetch(ref(folder / "app.log"))
    os.mkfifo(folder / "app.log")
    with pytest.raises(FetchError, match="not a regular file"):
        make(folder).fetch(ref(folder / "app.log"))


@pytest.mark.parametrize(
    "options",
    [
        {"since": "soon"},
        {"since": "2026-03-14T00:00:00"},
        {"lines": "x"},
        {"lines": "0"},
        {"level": "loud"},
    ],
)
def test_odd_options_are_errors(folder: Path, options: dict[str, str]) -> None:
    with pytest.raises(FetchError, match="option"):
        make(folder).fetch(ref(folder / "app.log", **options))


def test_hostile_prompts_are_read_quickly(folder: Path) -> None:
    fetcher = make(folder)
    started = time.process_time()
    for unit in ("app.log ", "last ", "`", "A_", "since 1", "aB"):
        fetcher.recognise("app.log " + unit * (20_000 // len(unit)))
    assert time.process_time() - started < 1.5
