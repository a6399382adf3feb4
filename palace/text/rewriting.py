"""Prompts in which a program has other questions or queries made of the one that a person asked.

In: a prompt. Out: that question: what is made of it goes to a program, and nobody is answered.
"""

from __future__ import annotations

import re

from palace.text.labels import labelled_questions

_WANTED = (
    r"(?:\b(?:re-?write|rephrase|reformulate|paraphrase)s?\b[^.?!:\n]{0,60}\b(?:question|query)\b"
    r"|\b(?:formulate|generate|create|provide|produce|write|suggest)s?\b[^.?!:\n]{0,40}"
    r"\b(?:improved|better|optimi[sz]ed|stand-?alone|alternative|multiple|different|several|search"
    r"|two|three|four|five|[2-9]|sub|step-back)\b[^.?!:\n]{0,30}(?:question|query|queries))"
)
_SAID = re.compile(_WANTED, re.IGNORECASE)
# What they are made of stands behind that, before the label of the reply.
_SAID_OF = re.compile(
    rf"{_WANTED}[^.?!:\n]{{0,60}}:[ \t]{{0,9}}(?P<words>\S[^\n]{{2,2000}})\n[^:\n]{{1,40}}:\Z",
    re.IGNORECASE,
)

# A longer line is none of a template's own.
_LINE_CHARS = 2200


def rewritten_question(text: str) -> str:
    """Return the question that a prompt wants other questions or queries made of, or "".

    A template says so on its first line or its last one; between them is what documents say. Who
    wants a sentence of his own put better has no label beside it.
    """
    lines = text.strip().splitlines() or [""]
    first, last = lines[0][:_LINE_CHARS], lines[-1][-_LINE_CHARS:]
    if len(lines) > 1 and (of := _SAID_OF.search(f"{lines[-2][-_LINE_CHARS:]}\n{last}")):
        return of["words"].strip()
    if not (_wants(first) or _wants(last)):
        return ""
    asked = next(iter(labelled_questions(text)), "")
    return asked if any(_wants(line) and asked not in line for line in (first, last)) else ""


def _wants(line: str) -> bool:
    folded = line.casefold()  # looked for in a hundredth of the time
    return ("question" in folded or "quer" in folded) and bool(_SAID.search(line))
