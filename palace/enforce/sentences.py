"""Cut an answer into sentences while it streams, the same way however it is chunked.

In: pieces of text. Out: sentences that together are the text, each as soon as its end is certain.
"""

from __future__ import annotations

import regex

from palace.text import month_token
from palace.text.full_stops import MAY_END, is_full_stop, last_word

# The longest text without a sentence end that is waited for, in characters.
MAX_SENTENCE_CHARS = 1200

_MARK = regex.compile(r"[.!?…]+|[。！？]+|\n")
_CLOSERS = regex.compile(r"[\"'”’»)\]}*_`」』）]*+")
_CITATIONS = regex.compile(
    r"(?:[ \t]*(?:\[\^?\d{1,3}(?:[ \t]*[,–-][ \t]*\d{1,3})*\]|【\d{1,3}】))+"
)
_BARE_REPLY = regex.compile(
    r"\s*(?:yes|no|yep|yeah|nope|correct|right|sure|ja|nein|oui|non|s[ií]|n[ãa]o|да|нет|是的|はい|いいえ)\s*[.!。！]+\s*\Z",
    regex.IGNORECASE,
)
_WORD = regex.compile(r"\p{L}+")
_DAY_AND_MONTH = regex.compile(r"\d{1,2}\.\d{1,2}")
# What opens and closes a block of code, the second only at the beginning of a line.
_FENCE = regex.compile(r"```|~~~(?<=(?:\A|\n)[ \t]*~~~)")
_FENCES = ("```", "~~~")
_TABLE_RULE = regex.compile(r"\n[ \t|:-]*")
_UNKNOWN = -1  # what follows has to be seen first
_CITATION_CHARS = 40


class SentenceCutter:
    """Collects text and gives back sentences; joined, they are the text.

    White space before a sentence belongs to it. Whether and where a sentence ends depends on the
    text alone, never on how it was chunked: an end is only believed once what follows shows it.
    """

    def __init__(self) -> None:
        self._buffer = ""
        self._fence = ""  # of the block of code that is open

    def feed(self, chunk: str) -> list[str]:
        """Take in a piece of text; return the sentences whose end is certain now."""
        self._buffer += chunk
        return self._cut(final=False)

    def close(self) -> list[str]:
        """End the text; return the rest as sentences."""
        found = self._cut(final=True)
        if self._buffer:
            found.append(self._buffer)
            self._buffer = ""
        return found

    def _cut(self, *, final: bool) -> list[str]:
        found: list[str] = []
        while self._buffer:
            window = self._buffer[:MAX_SENTENCE_CHARS]
            whole = len(self._buffer) >= MAX_SENTENCE_CHARS
            end = self._end(window, final=final and not whole)
            if end is None and whole:
                end = _forced_end(window)
            if end is None:
                break
            found.append(self._buffer[:end])
            self._buffer = self._buffer[end:]
            self._fence = open_fence(found[-1], self._fence)
        return found

    def _end(self, window: str, *, final: bool) -> int | None:
        """Return where the first sentence of the window ends, or None if that is not certain."""
        if self._fence:
            return _fence_end(window, 0, self._fence)
        start = len(window) - len(window.lstrip())
        for fence in _FENCES:
            if window.startswith(fence, start):
                return _fence_end(window, start + len(fence), fence)
            if not final and fence.startswith(window[start : start + len(fence)]):
                return None
        for mark in _MARK.finditer(window, start):
            find = _line_end if mark[0] == "\n" else _mark_end
            end = find(window, mark, final=final)
            if end == _UNKNOWN:
                return None
            # "No." alone says nothing that could be checked: it goes with the next sentence
            if end is not None and ("\n" in window[:end] or not _BARE_REPLY.match(window[:end])):
                return end
        return None


def _forced_end(window: str) -> int:
    """Return where endless text is cut: at the last white space, else anywhere."""
    blank = max(window.rfind(" "), window.rfind("\n"))
    return blank if blank > len(window) // 2 else len(window)


def open_fence(text: str, fence: str = "") -> str:
    """Return the fence of the block of code that is open behind a text, or "".

    Args:
        text: A piece of an answer.
        fence: That of the block that is open before it.
    """
    for mark in _FENCE.findall(text):
        if not fence:
            fence = mark
        elif mark == fence:
            fence = ""
    return fence


def _fence_end(window: str, start: int, fence: str) -> int | None:
    close = next((m.start() for m in _FENCE.finditer(window, start) if m[0] == fence), -1)
    if close < 0:
        return None
    end = window.find("\n", close)
    return None if end < 0 else end


def _line_end(window: str, mark: regex.Match[str], *, final: bool) -> int | None:
    """Return the end of a line that ends a sentence, or None if the prose goes on."""
    rest = window[mark.start() :]
    following = rest.lstrip()
    if "|" in window[: mark.start()].rpartition("\n")[2]:  # the head of a table goes with its rule
        rule = _TABLE_RULE.match(rest)
        if rule and rule.end() == len(rest) and not final:
            return _UNKNOWN
        if rule and "-" in rule[0] and rest[rule.end() : rule.end() + 1] in ("", "\n"):
            return None
    if not following:
        return mark.start() if final else _UNKNOWN
    blank_between = "\n" in rest[1 : len(rest) - len(following)]
    return mark.start() if blank_between or not following[0].islower() else None


def _mark_end(window: str, mark: regex.Match[str], *, final: bool) -> int | None:
    """Return the end of the sentence that a mark ends, or None if it ends none."""
    if mark.end() == len(window) and not final:
        return _UNKNOWN  # more of the mark may follow
    dense = mark[0][0] in "。！？"
    end = _past(_CLOSERS, window, mark.end())
    glued = end < len(window) and not window[end].isspace() and window[end] not in "[【"
    if not dense and (glued or (mark[0] == "." and not is_full_stop(window, mark.start()))):
        return None
    end = _past(_CITATIONS, window, end)
    following = window[end:].lstrip(" \t")
    word = last_word(window, mark.start())
    if mark[0] == "." and word.isdigit() and len(word) <= 2:
        after = _WORD.match(following)
        if after and after.end() == len(following) and not final:
            return _UNKNOWN  # perhaps the month of "9. August"
        if after and (after[0].islower() or month_token(after[0])):
            return None
    if not final and (not following or _may_become_citation(following)):
        return _UNKNOWN
    undecided = mark[0] in ("…", "...") or word in MAY_END
    goes_on = undecided and following[:1].islower()
    goes_on |= following[:1] == "(" and _DAY_AND_MONTH.fullmatch(word) is not None  # "4.7. (Ulm)"
    return None if goes_on else end


def _past(pattern: regex.Pattern[str], window: str, place: int) -> int:
    """Return the place after a match of the pattern, the same place if there is none."""
    found = pattern.match(window, place)
    return found.end() if found else place


def _may_become_citation(following: str) -> bool:
    return following[0] in "[【" and "]" not in following and len(following) < _CITATION_CHARS
