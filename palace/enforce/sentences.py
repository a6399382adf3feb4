"""Cut an answer into sentences while it streams, the same way however it is chunked.

In: pieces of text. Out: sentences that together are the text, each as soon as its end is certain.
"""

from __future__ import annotations

import regex

# The longest text without a sentence end that is waited for, in characters.
MAX_SENTENCE_CHARS = 1200

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st vs e.g i.e eg ie cf al approx dept est jan feb mar apr jun"
    " jul aug sep sept oct nov dec mon tue wed thu fri sat sun z.b d.h u.a bzw ca str inkl ggf usw"
    " p.ex ed rev gen col capt lt sgt hon messrs mme mlle sr sra dra pag av gmbh".split()
)
# Abbreviations that may as well end a sentence: the next word decides.
_MAYBE = frozenset("etc inc ltd co corp jr sr a.m p.m am pm u.s u.k usw gmbh".split())
# Abbreviations only before a number: "no. 2".
_NUMBERED = frozenset("no nos nr op vol fig sec ch art pp p".split())
_END = regex.compile(r"[.!?…]+|[。！？]+")
_CLOSERS = regex.compile(r"[\"'”’»)\]}*_`」』）]*+")
_CITATIONS = regex.compile(
    r"(?:[ \t]*(?:\[\^?\d{1,3}(?:[ \t]*[,–-][ \t]*\d{1,3})*\]|【\d{1,3}】))+"
)
_LIST_MARK = regex.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])(?=[ \t])")
_BARE_REPLY = regex.compile(
    r"\s*(?:yes|no|yep|yeah|nope|correct|right|sure|ja|nein|oui|non|s[ií]|n[ãa]o|да|нет|是的|はい|いいえ)\s*[.!。！]+\s*\Z",
    regex.IGNORECASE,
)
_FENCE = "```"
_BLOCK_LINE = regex.compile(r"[ \t]*(?:[-*+•>|#]|\d{1,3}[.)][ \t])")


class SentenceCutter:
    """Collects text and gives back sentences; joined, they are the text.

    White space before a sentence belongs to it. Whether and where a sentence ends depends on the
    text alone, never on how it was chunked: an end is only believed once what follows shows it.
    """

    def __init__(self) -> None:
        self._buffer = ""
        self._in_fence = False

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
            found.append(self._take(end))
        return found

    def _take(self, end: int) -> str:
        sentence, self._buffer = self._buffer[:end], self._buffer[end:]
        if sentence.count(_FENCE) % 2:
            self._in_fence = not self._in_fence
        return sentence

    def _end(self, window: str, *, final: bool) -> int | None:
        """Return where the first sentence of the window ends, or None if that is not certain."""
        if self._in_fence:
            return _fence_end(window, 0)
        start = len(window) - len(window.lstrip())
        if window.startswith(_FENCE, start):
            return _fence_end(window, start + len(_FENCE))
        if not final and "```".startswith(window[start : start + 3]):
            return None
        place = start
        while True:
            end, place = _next_end(window, place, final=final)
            if end is None:
                return None
            if not (_BARE_REPLY.match(window[:end]) and "\n" not in window[:end]):
                return end


def _forced_end(window: str) -> int:
    """Return where endless text is cut: at the last white space, else anywhere."""
    blank = max(window.rfind(" "), window.rfind("\n"))
    return blank if blank > len(window) // 2 else len(window)


def _fence_end(window: str, start: int) -> int | None:
    close = window.find(_FENCE, start)
    if close < 0:
        return None
    end = window.find("\n", close)
    return None if end < 0 else end


def _next_end(window: str, place: int, *, final: bool) -> tuple[int | None, int]:
    """Return the next end of a sentence or a line after `place`, and where to look on from."""
    while True:
        line = window.find("\n", place)
        mark = _END.search(window, place, line if line >= 0 else len(window))
        if mark is None:
            if line < 0:
                return None, len(window)
            end = _line_end(window, line, final=final)
            if end is not None or end == -1:
                return (None, len(window)) if end == -1 else (end, end)
            place = line + 1
            continue
        if mark.end() == len(window) and not final:
            return None, place  # more of the mark may follow
        end = _mark_end(window, mark, final=final)
        if end == -1:
            return None, place
        if end is not None:
            return end, end
        place = mark.end()


def _line_end(window: str, line: int, *, final: bool) -> int | None:
    """Return the end of a line that ends a sentence, None if prose goes on, -1 if unknown."""
    rest = window[line:]
    following = rest.lstrip()
    if not following:
        return -1 if not final else line
    blank_between = "\n" in rest[1 : len(rest) - len(following)]
    if blank_between or not following[0].islower():
        return line
    return None


def _mark_end(window: str, mark: regex.Match[str], *, final: bool) -> int | None:
    """Return the end of the sentence that a mark ends, None if it ends none, -1 if unknown."""
    dense = mark[0][0] in "。！？"
    closed = _CLOSERS.match(window, mark.end())
    end = closed.end()
    if end < len(window) and not dense and not window[end].isspace() and window[end] not in "[【":
        return None
    if not dense and mark[0] == "." and not _is_full_stop(window, mark.start()):
        return None
    cited = _CITATIONS.match(window, end)
    if cited:
        end = cited.end()
    following = window[end:].lstrip(" \t")
    if not following:
        return end if final else -1
    if following[0] in "[【" and "]" not in following[:40] and len(following) < 40 and not final:
        return -1  # perhaps a citation that is not whole yet
    if _is_undecided(window, mark) and not final:
        if following[0].islower():
            return None
    elif _is_undecided(window, mark) and following[:1].islower():
        return None
    return end


def _last_word(window: str, stop: int) -> str:
    start = stop
    while start > 0 and (window[start - 1].isalnum() or window[start - 1] == "."):
        start -= 1
    return window[start:stop].casefold()


def _is_full_stop(window: str, stop: int) -> bool:
    """Whether a full stop ends more than an abbreviation, an initial or a list number."""
    word = _last_word(window, stop)
    if word in _NUMBERED:
        return not window[stop + 1 :].lstrip(" ")[:1].isdigit()
    if word in _MAYBE:
        return True
    if word in _ABBREVIATIONS:
        return False
    if len(word) == 1 and window[stop - 1].isupper():
        return window[: stop - 1][-1:] not in ("", " ", "(", "\n")  # else an initial
    line = window.rfind("\n", 0, stop) + 1
    return not (word.isdigit() and not window[line : stop - len(word)].strip(" \t*_-"))


def _is_undecided(window: str, mark: regex.Match[str]) -> bool:
    return mark[0] in ("…", "...") or _last_word(window, mark.start()) in _MAYBE
