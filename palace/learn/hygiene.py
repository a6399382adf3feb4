"""What is not fit to be a memory: raw tool output, our own echo, invisible characters.

In: any text. Out: a reason for a person when the text should be refused, or the text cleaned.

Everything here judges form, never content, and runs in linear time on any text. A single quoted
error line or a code span inside prose is a memory; several lines of machine output are not.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable

import regex

from palace.learn.json_stream import is_json

_JSON_SHARE = 0.6
_JSON_MIN_CHARS = 80
_JSON_ATTEMPTS = 20
_TAG_SHARE = 0.25
_ENCODED_RUN_CHARS = 120
_HEX_RUN_CHARS = 160
_HIDDEN_RUN = 2

_ANSI = regex.compile(r"\x1b[\[\]()]|\x9b|(?:^|\s)\[\d{1,2}(?:;\d{1,2}){0,3}m\S")
_FENCE = regex.compile(r"\A\s*+```[^\n`]*+\n(.*?)\n?```\s*\Z", regex.DOTALL)
_JSON_MEMBER = regex.compile(r'\s*+"[^"\n]{1,80}+"\s*+:\s*+(?:["\[{]|-?\d|true|false|null)')
_JSON_CLOSER = regex.compile(r"\s*+[\[\]{}]{1,4}+,?\s*+")
_DOCUMENT = regex.compile(r"\s*+<(?:!doctype\b|html\b|\?xml\b|svg\b)", regex.IGNORECASE)
_TAG = regex.compile(r"<(/?)[a-z][\w:.-]*+(?:\s[^<>]*+)?+/?>", regex.IGNORECASE)
_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
_STAMPED = regex.compile(
    rf"\s*+[\[(]?(?:\d{{4}}[-/.]\d{{2}}[-/.]\d{{2}}[T ]{_CLOCK}"
    rf"|\d{{1,2}}[-/][A-Z][a-z]{{2}}[-/]\d{{4}}[ :]{_CLOCK}"
    rf"|[A-Z][a-z]{{2}} [ \d]\d {_CLOCK}\s|{_CLOCK}\b|\d{{10,13}}\.?\d*+\s)"
)
_ACCESS_LOG = regex.compile(r'\S++ \S++ \S++ \[[^\]]{10,40}\] "[A-Z]{3,8} ')
_LEVEL = regex.compile(
    r"\s*+(?:[\[(<|]?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE)[\])>|]?"
    r"(?=[\s:|\[-])|(?:debug|info|warn|warning|error|fatal|npm ERR!|level=\w++)(?=[\s:|!])[ :|!])"
)
_PYTHON_FRAME = regex.compile(r'^[ \t]*+File "[^"\n]++", line \d++', regex.MULTILINE)
_FRAME = regex.compile(
    r"^[ \t]*+(?:at [\w$<>/`]++\.[\w.$<>/`\[\],]++\([^()\n]*+\)(?: in \S[^\n]*+)?[ \t]*+$"
    r"|at [^()\n]{0,200}+\([^()\n]+:\d++:\d++\)|at (?:async )?\S+:\d++:\d++"
    r"|from \S+:\d++:in|\d++: +0x[0-9a-f]++|#\d++\s++0x[0-9a-f]++ in|\.\.\. \d++ more"
    r"|#\d++ \S+\(\d++\):)",
    regex.MULTILINE,
)
_GO_ROUTINE = regex.compile(r"^goroutine \d++ \[[^\]\n]++\]:", regex.MULTILINE)
_GO_FRAME = regex.compile(r"^[ \t]++\S+\.go:\d++", regex.MULTILINE)
_RUST_PANIC = regex.compile(r"^thread '[^'\n]*+'[^\n]{0,20} panicked at ", regex.MULTILINE)
_RUST_NOTE = regex.compile(r"^(?:stack backtrace:|note: run with `RUST_BACKTRACE)", regex.MULTILINE)
_HUNK = regex.compile(r"^@@ -\d++(?:,\d++)? \+\d++(?:,\d++)? @@", regex.MULTILINE)
_DIFF_GIT = regex.compile(r"^diff --git \S++ \S++$", regex.MULTILINE)
_DIFF_FILES = regex.compile(r"^--- \S[^\n]*+\n\+\+\+ \S", regex.MULTILINE)
_ENCODED_RUN = regex.compile(
    rf"(?<![A-Za-z0-9+/])[A-Za-z0-9+/_-]{{{_ENCODED_RUN_CHARS},}}+={{0,2}}"
)
_ENCODED_LINE = regex.compile(r"[A-Za-z0-9+/]{48,}+={0,2}")
_HEX_RUN = regex.compile(rf"(?<![0-9A-Fa-f])[0-9A-Fa-f]{{{_HEX_RUN_CHARS},}}+")
_HEX_ROW = regex.compile(
    r"^[ \t]*+(?:0x)?[0-9a-f]{4,16}:?[ \t]++(?:[0-9a-f]{2,8}[ \t]++){4}", regex.M | regex.I
)
_DATA_URI = regex.compile(r"data:[\w/+.-]{1,80}+;base64,[A-Za-z0-9+/=]{64}")
_BORDER = regex.compile(r"^[ \t]*+(?:\+[-=]{2,}+)++\+?[ \t]*+$", regex.MULTILINE)
_RULE = regex.compile(r"^[ \t]*+-{3,}+(?:\+-{3,}+)++[ \t]*+$", regex.MULTILINE)
_LISTING = regex.compile(r"^[bcdlps-](?:[r-][w-][xsStT-]){3}[.+@]?\s", regex.MULTILINE)
_SHELL_PROMPT = regex.compile(
    r"^(?:[^\s@]++@[^\s:$#%]++(?::[^\s$#%]*+)?[$#%]|\[[^\]\n]++\][$#]|PS [A-Z]:\\[^>\n]*+>) ",
    regex.MULTILINE,
)
_TEST_SUMMARY = regex.compile(r"^={3,}+ [^=\n]++={3,}+$", regex.MULTILINE)
_GAP = regex.compile(r"(?<=[^\s.!?:])(?:[ ]{2,}+|\t++)(?=\S)")

_HIDDEN = "\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u180e\u00ad\u034f"
_HIDDEN_RUNS = regex.compile(rf"[{_HIDDEN}]{{{_HIDDEN_RUN},}}+|[\U000e0100-\U000e01ef]{{2,}}+")
_BIDI = regex.compile("[\u202a-\u202e\u2066-\u2069]")
_TAG_CHARACTERS = regex.compile("(?<![\U0001f3f4\U000e0020-\U000e007e])[\U000e0000-\U000e007f]")
_CONTROL = regex.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_SURROGATE = regex.compile("[\ud800-\udfff]")


def raw_output_reason(text: str) -> str | None:
    """Return why a text is raw tool output and no memory, or None if it reads like a statement.

    Returns:
        A phrase for a person, such as "it is a stack trace", that never repeats the text.
    """
    if _ANSI.search(text):
        return "it holds terminal escape sequences"
    fenced = _FENCE.match(text)
    body = fenced[1] if fenced else text
    for reason, looks_like in _FORMS:
        if looks_like(body):
            return reason
    return None


def control_character_reason(text: str) -> str | None:
    """Return which invisible characters make a text unfit to be kept, or None.

    Refused are NUL and other control characters (line feed, tab and a carriage return before a
    line feed are fine), bidirectional overrides and isolates, runs of two or more zero-width
    characters, tag characters outside flags, and halves of surrogate pairs. Single joiners, as
    in emoji and in Persian or Hindi words, are fine.

    Source: Boucher & Anderson, "Trojan Source", 2021 (bidirectional controls).
    """
    if "\x00" in text:
        return "a NUL character"
    for what, pattern in (
        ("a control character", _CONTROL),
        ("a character that reverses the reading direction", _BIDI),
        ("a run of invisible characters", _HIDDEN_RUNS),
        ("invisible tag characters", _TAG_CHARACTERS),
        ("half of a surrogate pair", _SURROGATE),
    ):
        found = pattern.search(text)
        if found:
            return f"{what} (U+{ord(found[0][0]):04X} at character {found.start() + 1})"
    return None


def normalise_statement(text: str) -> str:
    """Return a statement as it is stored: line feeds, no space around it or at line ends."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(line.rstrip() for line in unified.split("\n")).strip()


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _is_json(text: str) -> bool:
    lines = _lines(text)
    if _is_json_value(text) or (len(lines) > 1 and all(map(_is_json_value, lines))):
        return True
    members = sum(1 for line in lines if _JSON_MEMBER.match(line))
    closers = sum(1 for line in lines if _JSON_CLOSER.fullmatch(line))
    if members >= 3 and members + closers >= _JSON_SHARE * len(lines):
        return True
    longest = _longest_json_chars(text)
    return longest >= _JSON_MIN_CHARS and longest >= _JSON_SHARE * len(text.strip())


def _is_json_value(text: str) -> bool:
    stripped = text.strip()
    return stripped.startswith(("{", "[")) and is_json(stripped)


def _longest_json_chars(text: str) -> int:
    """Length in characters of the longest object or list among the first openers."""
    decoder = json.JSONDecoder()
    longest = position = 0
    for _ in range(_JSON_ATTEMPTS):
        opener = regex.search(r"[\[{]", text, pos=position)
        if opener is None:
            break
        try:
            _, position = decoder.raw_decode(text, opener.start())
            longest = max(longest, position - opener.start())
        except (ValueError, RecursionError):
            position = opener.end()
    return longest


def _is_markup(text: str) -> bool:
    if _DOCUMENT.match(text):
        return True
    tags = list(_TAG.finditer(text))
    closing = sum(1 for tag in tags if tag[1])
    inside = sum(len(tag[0]) for tag in tags)
    return len(tags) >= 4 and closing >= 2 and inside >= _TAG_SHARE * len(text.strip())


def _is_log(text: str) -> bool:
    lines = _lines(text)
    stamped = [bool(_STAMPED.match(line) or _ACCESS_LOG.match(line)) for line in lines]
    levelled = [bool(_LEVEL.match(line)) for line in lines]
    either = sum(s or v for s, v in zip(stamped, levelled, strict=True))
    return (either >= 3 and either * 2 >= len(lines)) or (sum(stamped) == len(lines) == 2)


def _is_trace(text: str) -> bool:
    frames = len(_FRAME.findall(text))
    python_frames = len(_PYTHON_FRAME.findall(text))
    return (
        frames >= 2
        or python_frames >= 2
        or (python_frames == 1 and "Traceback (most recent call last)" in text)
        or (frames == 1 and bool(regex.search(r"^(?:Uncaught )?[\w.]*(?:Error|Exception)\b", text)))
        or (bool(_GO_ROUTINE.search(text)) and bool(_GO_FRAME.search(text)))
        or (bool(_RUST_PANIC.search(text)) and bool(_RUST_NOTE.search(text)))
    )


def _is_diff(text: str) -> bool:
    return any(p.search(text) is not None for p in (_HUNK, _DIFF_GIT, _DIFF_FILES))


def _is_encoded(text: str) -> bool:
    if _DATA_URI.search(text) or _HEX_RUN.search(text) or len(_HEX_ROW.findall(text)) >= 2:
        return True
    lines = _lines(text)
    encoded = sum(1 for line in lines if _ENCODED_LINE.fullmatch(line.strip()))
    if encoded >= 2 and encoded * 2 >= len(lines):
        return True
    run = max((len(found[0]) for found in _ENCODED_RUN.finditer(text)), default=0)
    return run * 2 >= len(text.strip()) > 0


def _is_table(text: str) -> bool:
    if _RULE.search(text) or len(_BORDER.findall(text)) >= 2 or len(_LISTING.findall(text)) >= 2:
        return True
    if len(_SHELL_PROMPT.findall(text)) >= 2 or len(_TEST_SUMMARY.findall(text)) >= 2:
        return True
    columns = [len(_GAP.findall(line.strip())) + 1 for line in _lines(text)]
    if len(columns) < 3:
        return False
    usual = max(set(columns), key=columns.count)
    is_headed = _is_header(_lines(text)[0])
    if usual < (2 if is_headed else 3) or (not is_headed and len(columns) < 4):
        return False
    return columns.count(usual) >= 0.7 * len(columns)


def _is_header(line: str) -> bool:
    """Whether a line is like `NAME   STATUS   AGE`."""
    letters = [c for c in line if unicodedata.category(c).startswith("L")]
    return (
        len(letters) >= 4 and all(c.isupper() for c in letters) and bool(_GAP.search(line.strip()))
    )


_FORMS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("it is a stack trace", _is_trace),
    ("it is a diff", _is_diff),
    ("it is a log", _is_log),
    ("it is JSON", _is_json),
    ("it is HTML or XML", _is_markup),
    ("it is encoded or binary data", _is_encoded),
    ("it is a table of command output", _is_table),
)
