"""Local files that a prompt names, from folders the settings allow.

In: prompts and references with an absolute path. Out: a fetcher for host `files` whose artifacts
hold the words of the file as they are. Nothing outside the roots is looked at, links are followed
only to places inside them, and files that usually hold secrets are refused by name, as is what
`.gitignore` and `.secretsignore` name.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from unicodedata import normalize

import regex

from palace.errors import FetchDeniedError, FetchError
from palace.fetch.plain import (
    BARE_FILES,
    DENSE,
    MAX_PROMPT_CHARS,
    MAX_REFS,
    PATTERN_TIMEOUT_S,
    decode_text,
    minutes,
    printable,
)
from palace.fetch.regular_file import read_regular, resolve_existing
from palace.ignoring import IgnoreRules, secret_name
from palace.ports import Artifact, ArtifactRef
from palace.text import counted
from palace.text.moments import utc_now

_MAX_CANDIDATES = 128
_QUOTED = regex.compile(
    r"`([^`\n]{1,400})`|\"([^\"\n]{1,400})\"|(?<!\w)'([^'\n]{1,400})'(?!\w)"
    r"|[“„]([^“”„\n]{1,400})[“”]|«([^«»\n]{1,400})»|「([^「」\n]{1,400})」|『([^『』\n]{1,400})』"
)
_WORD = regex.compile(r"[^\s`\"'<>|*?]{1,400}")
# What ends a name where no blank does: a mark, or a letter of a script without blanks.
_PIECE = regex.compile(rf"[^“”„«»—{DENSE}\p{{Ps}}\p{{Pe}}\uff00-\uff0f\uff1a-\uff20、。…]{{3,400}}")
_UP_TO_SUFFIX = regex.compile(rf"[^.]{{1,200}}\.[A-Za-z0-9]{{1,10}}(?=[{DENSE}])")
# Names with blanks in them may have so many words: "Release Notes 2026.md".
_NAME_WORDS = 5
_SUFFIX = regex.compile(r"\.[A-Za-z0-9]{1,10}\Z")
_LINE_NUMBER = regex.compile(r":\d{1,7}(?::\d{1,7})?$")
# "src/app.py in owner/repo" means the file of that repository, not one of the same name here.
_ELSEWHERE = regex.compile(
    r"[`'\"]?\s{1,3}(?:in|of|from|on|at)\s{1,3}(?:the\s)?(?:repo(?:sitory)?\s)?[`'\"]?"
    r"([\w.-]{1,100}/[\w.-]{1,100})(?![\w/]|[.-]\w)"
)


class FilesFetcher:
    """Fetches regular text files under the allowed roots.

    Args:
        roots: Folders whose files may be read; relative paths in prompts are looked up in each.
        max_bytes: Longest text, in bytes; longer files are cut and marked.
        now: Clock; returns aware moments.
    """

    host = "files"

    def __init__(
        self,
        *,
        roots: Sequence[str | Path],
        max_bytes: int = 262_144,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self._roots = tuple(_tidy(Path(root).expanduser()) for root in roots)
        self._max_bytes = max_bytes
        self._now = now or utc_now

    def recognise(self, prompt: str) -> Sequence[ArtifactRef]:
        """Return files under a root that this prompt names and that exist, at most 8.

        A file that may not be read (a private key, a link out of the root) is recognised as well,
        so that asking for it is answered with the refusal instead of silence.
        """
        found: dict[str, ArtifactRef] = {}
        text = prompt[:MAX_PROMPT_CHARS]
        with contextlib.suppress(TimeoutError):
            for index, (name, end) in enumerate(_candidates(text)):
                if index >= _MAX_CANDIDATES or len(found) >= MAX_REFS:
                    break
                path = self._locate(name)
                if path is not None and not self._is_elsewhere(text, end):
                    found.setdefault(str(path), ArtifactRef("file", self.host, str(path), {}))
        return list(found.values())

    def fetch(self, ref: ArtifactRef) -> Artifact:
        """Read one file now.

        Raises:
            FetchDeniedError: If it is outside the roots, denied by name, ignored or not readable.
            FetchNotFoundError: If it does not exist.
            FetchError: If it is no regular text file.
        """
        if ref.kind != "file" or ref.host != self.host or "\0" in ref.target:
            raise FetchDeniedError("this is no reference to a local file", hint="give a path")
        path = _tidy(Path(ref.target))
        if not Path(ref.target).is_absolute() or not self._is_inside(path):
            raise self._outside(path)
        _refuse_secret_names(path)
        resolved = self._resolve(path)
        data, size_bytes, changed = read_regular(resolved, max_bytes=self._max_bytes)
        cut = size_bytes > len(data)
        text = decode_text(data, whole=not cut)
        if text is None:
            raise FetchError(f"{path.name} is not a text file", hint="name a UTF-8 text file")
        return Artifact(
            ref=f"{self.host}:{ref.target}",
            title=f"{path.name} ({counted(size_bytes, 'byte')}, changed {minutes(changed)})",
            text=printable(text),
            url=str(path),
            fetched_at=self._now(),
            truncated=cut,
        )

    def _locate(self, name: str) -> Path | None:
        """Return the existing file a name is meant for; nothing outside the roots is touched."""
        places: list[Path] = []
        # "ü" may be one character on the disk and two in the prompt, or the other way round.
        for form in dict.fromkeys((name, normalize("NFC", name), normalize("NFD", name))):
            try:
                given = Path(form).expanduser() if form.startswith("~") else Path(form)
            except RuntimeError:  # a home that nobody has
                return None
            places += [given] if given.is_absolute() else [root / given for root in self._roots]
        return next((path for path in map(_tidy, places) if self._is_there(path)), None)

    def _is_there(self, path: Path) -> bool:
        try:
            return self._is_inside(path) and _is_file_or_link(path)
        except (OSError, ValueError):
            return False

    def _is_inside(self, path: Path) -> bool:
        return any(path.is_relative_to(root) for root in self._roots)

    def _is_elsewhere(self, text: str, end: int) -> bool:
        match = _ELSEWHERE.match(text, end, timeout=PATTERN_TIMEOUT_S)
        if match is None:
            return False
        folder = match[1].rstrip(".")
        return not any((root / folder).is_dir() for root in self._roots)

    def _resolve(self, path: Path) -> Path:
        resolved = resolve_existing(path)
        root = next((r for r in self._roots if resolved.is_relative_to(r.resolve())), None)
        if root is None:
            raise self._outside(path)
        _refuse_secret_names(resolved)
        reason = IgnoreRules(root.resolve()).reason(resolved)
        if reason:
            raise FetchDeniedError(
                f"{path.name} is not read: {reason}",
                hint="take it out of that file if it may be read",
            )
        return resolved

    def _outside(self, path: Path) -> FetchDeniedError:
        return FetchDeniedError(
            f"{path} is not inside an allowed folder",
            hint="add its folder to artifacts.files.roots",
        )


def _tidy(path: Path) -> Path:
    """Return an absolute path without `.` and `..`, by its words alone: nothing is looked at."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links


def _is_file_or_link(path: Path) -> bool:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return not path.is_dir()
    return stat.S_ISREG(mode)


def _refuse_secret_names(path: Path) -> None:
    part = secret_name(path)
    if part:
        raise FetchDeniedError(
            f"{path.name} is not read: files under the name {part!r} usually hold secrets",
            hint="copy what is harmless to another file",
        )


def _candidates(text: str) -> Iterator[tuple[str, int]]:
    """Yield what may be a path and where it ends, quoted ones first."""
    for match in _QUOTED.finditer(text, timeout=PATTERN_TIMEOUT_S):
        name = next(group for group in match.groups() if group is not None).strip()
        if _reads_like_path(name):
            yield _LINE_NUMBER.sub("", name), match.end()
    before: list[regex.Match[str]] = []  # words with one blank between them
    for match in _WORD.finditer(text, timeout=PATTERN_TIMEOUT_S):
        if before and text[before[-1].end() : match.start()] != " ":
            before.clear()
        name = match[0].lstrip("([{,;").rstrip(")]},;:!")
        end = match.start() + match[0].rfind(name) + len(name)
        for attempt in dict.fromkeys((name, name.rstrip(".:"))):
            if _reads_like_path(attempt):
                yield _LINE_NUMBER.sub("", attempt), end
        bare = _LINE_NUMBER.sub("", name.rstrip("."))
        if _SUFFIX.search(bare):
            for first in reversed(before):
                yield text[first.start() : end - len(name)].lstrip("([{") + bare, end
        before = [*before[1 - _NAME_WORDS :], match]
        if not name.isascii():
            yield from _names_inside(name, end - len(name))


def _names_inside(word: str, start: int) -> Iterator[tuple[str, int]]:
    """Yield what may be a path within a word, such as of a language that puts no blanks."""
    for pattern in (_PIECE, _UP_TO_SUFFIX):
        for match in pattern.finditer(word, timeout=PATTERN_TIMEOUT_S):
            name = match[0].rstrip(".,:;!?")
            if name != word and _reads_like_path(name):
                yield _LINE_NUMBER.sub("", name), start + match.start() + len(name)


def _reads_like_path(name: str) -> bool:
    if "://" in name or "\0" in name:
        return False
    return name in BARE_FILES or (
        any(char in name for char in "/\\.") and any(char.isalnum() for char in name)
    )
