"""Recognise prompts that a machine wrote, and pasted code, by their shape.

In: a prompt. Out: why it is machine-shaped, or None. Linear in the length that is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache

import regex

from palace.recall.blocks import has_own_tag
from palace.recall.lexicon import UNSEEN, phrases_of_every_language
from palace.text.late_patterns import late

LOOKED_AT_CHARS = 4000
_TAG_START = late(r"\s*<(?:[?!]|[A-Za-z][\w:.-]*(?:\s[^<>]{0,200})?/?>)")
_BRACKET_LABEL = late(
    r"\s*\[(?:notification|reminder|system|info|warn(?:ing)?|error|debug|tool|event|hook|cron|bot"
    r"|auto|automated|log|status|alert)s?(?!\p{L})[^\]]{0,40}\](?!\()",
    regex.IGNORECASE,
)
# "[[Kettle]] broke": what notes are linked by, and no JSON that was cut off.
_WIKI_LINK = late(r"\[\[[^\[\]{}\"\n]{1,200}\]\]")
_RESULT_LABEL = late(
    r"(?:(?:tool|function|command|action|api|http)[ _-](?:call[ _-])?(?:result|output|response)s?"
    r"|observation|webhook)\b[^:\n{\[]{0,60}:\s*(?=[\[{])",
    regex.IGNORECASE,
)
_LOG_LINE = late(
    r"^\s*(?:\[?\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}|\w{3} +\d{1,2} \d{2}:\d{2}:\d{2} "
    r"|\d{2}:\d{2}:\d{2}[ .,]|(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)[ :\]])",
    regex.MULTILINE,
)
_DIFF = late(r"^(?:diff --git |--- \S|\+\+\+ \S|@@ -\d+)", regex.MULTILINE)
_TRACE = late(
    r"^(?:Traceback \(most recent call last\)|\s+at [\w.$<>]+ ?\(|goroutine \d+ \["
    r"|thread '.{1,80}' panicked|Exception in thread |\w+(?:Error|Exception): )",
    regex.MULTILINE,
)
_TOOL_LINE = late(
    r"^(?:\S+: (?:OK|FAILED|WARNING|error|warning)\b|={5,}|-{5,}|\s*(?:PASSED|FAILED|ERROR) |\$ "
    r"|>>> |\d+ files?,|[\w./-]+:\d+(?::\d+)?: |make(?:\[\d+\])?: |npm (?:ERR|WARN)"
    r"|collected \d+ items)",
    regex.MULTILINE,
)
_STATEMENT = (
    r"def \w+\(|class \w+|import \w+|from \w+(?:\.\w+)* import |#include\b"
    r"|(?:public|private|static|const|let|var|func|fn|package|using|return)\b.*[;{(=]"
    r"|(?:SELECT|INSERT|UPDATE|CREATE)\b.*[;{(=]"
)
_CODE_START = late(rf"\s*+(?:{_STATEMENT})")
_CODE_LINE = late(
    rf"^\s*+(?:{_STATEMENT}|[}}\])]+[;,]?\s*$|.*[;{{]\s*$|</?\w+[^>]*>)", regex.MULTILINE
)
_COMMENT_LINE = late(r"\s*+(?:#|//|/?\*|--|\"\"\")|\s+\S")
_TABLE_LINE = late(r"\s*+\|.*\|\s*$")
_MAIL_HEAD = late(
    r"(?:(?:From|To|Cc|Bcc|Subject|Date|Sent|Reply-To|Message-ID|Received): [^\n]*\n){2}",
    regex.IGNORECASE,
)
# In a tool's output and around a person's words alike: it speaks for neither.
_RULE_LINE = late(r"[-=]{5,}\s*")
QUESTION_MARKS = ("?", "？")
_FENCE = "```"


def machine_reason(prompt: str) -> str | None:
    """Return why a prompt is machine-shaped (`json`, `markup`, `log` …), or None."""
    prompt = prompt.strip(UNSEEN)
    head = prompt[:LOOKED_AT_CHARS]
    if not head:
        return "empty"
    if has_own_tag(head):
        return "own_evidence"
    label = _RESULT_LABEL.match(head)
    said = prompt[label.end() :] if label else prompt
    if said[0] in "{[" and _is_json(said):
        return "json"
    if _TAG_START.match(head):
        return "markup"
    if _BRACKET_LABEL.match(head):
        return "notification"
    return _line_reason(head)


def _line_reason(head: str) -> str | None:
    lines = [line for line in head.split("\n") if line.strip()]
    if _DIFF.match(head):
        return "diff"
    if _is_asked(lines):
        return None
    said = [line for line in lines if not _RULE_LINE.fullmatch(line)]
    shaped = sum(bool(_LOG_LINE.match(line) or _TOOL_LINE.match(line)) for line in said)
    several = len(lines) > 1
    reasons = {
        "trace": _TRACE.match(head),
        "log": _LOG_LINE.match(head) and (several or ": " in head),
        "mail": _MAIL_HEAD.match(head),
        "table": several and all(map(_TABLE_LINE.match, lines)),
        "code": _is_code(lines),
        "tool_output": several and shaped * 2 >= len(said),
    }
    return next((reason for reason, is_so in reasons.items() if is_so), None)


def _is_asked(lines: Sequence[str]) -> bool:
    """Whether a person asks about the other lines, above or below, or about all of a single one.

    Beside a paste many leave the mark out: "same trace again, what was it last time".
    """
    return any(_asks(line, alone=len(lines) == 1) for line in (lines[0], lines[-1]))


def _asks(line: str, *, alone: bool) -> bool:
    asks = line.rstrip().endswith(QUESTION_MARKS) or (
        not alone and _opening_of_a_question().search(line) is not None
    )
    return asks and (alone or not _is_output(line))


def _is_output(line: str) -> bool:
    return bool(_LOG_LINE.match(line) or _TOOL_LINE.match(line) or _TRACE.match(line))


def _is_code(lines: Sequence[str]) -> bool:
    """Whether all is code, with the comments in it; whoever says a word beside it is a person."""
    rest = lines[1:]
    return (
        _CODE_START.match(lines[0]) is not None
        and any(map(_CODE_LINE.match, rest))
        and all(_CODE_LINE.match(line) or _COMMENT_LINE.match(line) for line in rest)
    )


@cache
def _opening_of_a_question() -> regex.Pattern[str]:
    listed = "|".join(map(regex.escape, phrases_of_every_language("question_openers")))
    return regex.compile(rf"(?:^|[,.;!]\s)\s*(?:{listed})\s+\p{{L}}", regex.IGNORECASE)


def _is_json(text: str) -> bool:
    try:
        json.loads(text[:1_000_000])
    except (ValueError, RecursionError):
        # A cut-off payload is still a payload.
        return not _WIKI_LINK.match(text) and bool(
            regex.match(r"[\[{]\s*(?:\"[^\"]{1,80}\"\s*:|[\[{])", text)
        )
    return True


def code_share(prompt: str) -> float:
    """Return the share of lines that look like code, in [0, 1]; a fence counts as half at least."""
    head = prompt[:LOOKED_AT_CHARS]
    lines = [line for line in head.split("\n") if line.strip()]
    if len(lines) < 2:
        return 0.0
    share = sum(bool(_CODE_LINE.match(line)) for line in lines) / len(lines)
    return max(share, 0.5) if _FENCE in head else share
