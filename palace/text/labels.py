"""Labels that a program's template puts around a person's words: "Question: … Answer:".

In: a prompt. Out: the words that are labelled, or the prompt without its labels.
"""

from __future__ import annotations

import re

# A blank stands before it in French, it is as wide as a letter in Chinese, and in bold in Markdown.
_COLON = r"[ \t\xa0\u202f]*(?:\*\*)?[:\uff1a](?:\*\*)?"
# As a template of one of the other languages calls what the person asks, and the person.
_QUESTION_ELSEWHERE = (
    r"(?:(?:neue|aktuelle|letzte|ursprüngliche|nouvelle|dernière|nueva|última|nova"
    r"|nuova|ultima|nieuwe|laatste|новый|последний|nowe|ostatnie|ny|senaste|yeni|son) )?"
    r"(?:(?:(?:be)?nutzer)?(?:an)?frage|question de l['’]utilisateur"
    r"|pregunta(?: del usuario)?|pergunta(?: do (?:usuário|utilizador))?"
    r"|pytanie(?: użytkownika)?|(?:användarens )?fråga|(?:kullanıcının )?soru(?:su)?"
    r"|domanda(?: dell['’]utente)?|vraag(?: van de gebruiker)?|вопрос(?: пользователя)?"
    r"|(?:用户|使用者)?的?(?:问题|問題|提问|提問)|(?:ユーザー)?の?質問|(?:사용자(?:의)? )?질문)"
)
_PERSON_ELSEWHERE = (
    r"(?:be)?nutzer|utilisateur|usuario|usuário|utilizador|utente|gebruiker|пользователь|użytkownik"
    r"|användare|kullanıcı"
    r"|用户|使用者|ユーザー|사용자"
)
# What one calls that from which the question is to be answered.
_CONTEXTS = (
    *("context", "document", "source", "passage", "excerpt", "kontext", "kontekst", "contesto"),
    *("контекст", "bağlam", "上下文", "文脈", "コンテキスト", "문맥", "컨텍스트"),
)
_CONTEXT = rf"(?:(?:the )?(?:retrieved |relevant )?(?:{'|'.join(_CONTEXTS)})[eos]?)"
_ASKED = rf"(?:(?:the )?(?:user(?:['’]s)? )?(?:question|query)|{_QUESTION_ELSEWHERE})"
_WORDS_AT_END = rf"(?P<words>\S[^\n]{{2,2000}})\s*(?:\n[ \t]*[\w'’ ]{{1,40}}{_COLON}\s*)?\Z"
_LABELLED_TAIL = re.compile(
    r"(?:(?:^|\n)[> \t*]*(?:(?:latest |new |quick |short |another |user |user['’]s |human )?"
    r"(?:question|query|message|input|request)|follow[ -]?up(?: \w+)?|user|human"
    rf"|{_QUESTION_ELSEWHERE}|{_PERSON_ELSEWHERE})"
    r"|[.!?][ \t]*(?:here is the )?(?:original|user) (?:question|query|message))"
    rf"{_COLON}[ \t]*{_WORDS_AT_END}",
    re.IGNORECASE,
)
# On the line before, where "Input:" may stand before anything.
_LABELLED_BELOW = re.compile(
    rf"(?:^|\n)(?:[> \t*]*{_ASKED}{_COLON}|#{{1,6}} {_ASKED}(?:{_COLON})?)"
    rf"\s*\n[ \t]*(?!\w{{1,40}}{_COLON}){_WORDS_AT_END}",
    re.IGNORECASE,
)
_LABELLED_LINE = re.compile(
    rf"^[> \t*]*(?:question|q|{_QUESTION_ELSEWHERE}){_COLON}[ \t]*(?P<words>\S[^\n]{{2,2000}})$",
    re.IGNORECASE | re.MULTILINE,
)
# Before what it is to be answered from, each behind a label, perhaps in bold, or under a heading.
_LABELLED_BEFORE = re.compile(
    rf"^(?:[> \t*]{{0,9}}{_ASKED}{_COLON}|#{{1,6}} {_ASKED}(?:{_COLON})?[ \t]*\n)\s{{0,9}}"
    r"(?P<words>\S[^\n]{2,2000})\n\s{0,9}"
    rf"(?:[> \t*]{{0,9}}{_CONTEXT}{_COLON}|#{{1,6}} {_CONTEXT}(?:{_COLON})?[ \t]*\n)",
    re.IGNORECASE | re.MULTILINE,
)
_TAGGED_TAIL = re.compile(
    r"<(?P<tag>(?:(?:user|human|original|follow[ _-]?up)[ _-])?(?:question|query)"
    r"|(?:user|human|follow[ _-]?up)[ _-](?:message|input|request))>"
    r"(?P<words>[^<>]{3,2000})</(?P=tag)>\s*(?:[\w' ]{1,40}:\s*|<[\w -]{1,40}>\s*)?\Z",
    re.IGNORECASE,
)
_TAGGED_CHARS = 2200
_CONTEXT_LABEL = re.compile(
    rf"^(?:[> \t*]*{_CONTEXT}{_COLON}|#{{1,6}} {_CONTEXT}(?:{_COLON})?[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_CONTEXT_TAG = re.compile(rf"<(?P<tag>{_CONTEXT})(?: [^<>\n]{{0,80}})?>", re.IGNORECASE)
_ASKS = re.compile(rf"\s*(?:[> \t*]{{0,9}}{_ASKED}{_COLON}|#{{1,6}} {_ASKED}|<)", re.IGNORECASE)
_HAS_LABEL = re.compile(rf"[> \t*]{{0,9}}[\w'’ ]{{1,40}}{_COLON}")
# How to answer may be told on so many lines behind a question with its context.
_LINES_BEHIND = 3
# A task as models are tuned on it: what is asked, what that is about, and where the reply goes.
_TASK_PARTS = ("### Instruction:", "### Input:", "### Response:")
# A conversation in the tokens of a model's chat template, as one text.
_CHAT = re.compile(
    r"(?:<s>|<bos>|<\|begin_of_text\|>)?\s{0,9}"
    r"(?:<\|(?:im_start|start_header_id|system|user)\|>|<start_of_turn>|\[INST\])"
)
_CHAT_PERSON = re.compile(
    r"<\|im_start\|>user\n|<\|start_header_id\|>user<\|end_header_id\|>|<\|user\|>"
    r"|<start_of_turn>user\n|\[INST\]"
)
_CHAT_END = re.compile(
    r"<\|(?:im_end|eot_id|end)\|>|<end_of_turn>|</s>|\[/INST\]|(?=<\|assistant\|>)"
)
# The reply may have been begun for the model.
_CHAT_REPLY = re.compile(
    r"\s*(?:(?:<\|im_start\|>assistant|<\|start_header_id\|>assistant<\|end_header_id\|>"
    r"|<\|assistant\|>|<start_of_turn>model)[^<]{0,80})?"
)
_ANSWER_WANTED = re.compile(
    r"\n[> \t*]*(?:(?:(?:final|helpful|your) )?answer[ \t]*:[^\n]{0,80}"
    rf"|[\w'’()/ ]{{1,40}}{_COLON})\s*\Z",
    re.IGNORECASE,
)
_ANSWER_CHARS = 200


def labelled_question(text: str) -> str:
    """Return the question that a program's template labels as one in a longer text, or "".

    It is the line "Question: <words>" (or "User: …" and the like) at the end, the last line behind
    "Question:", or what stands there between tags such as `<question>`, perhaps with one more label
    behind it, and with a few lines on how to answer where a context stands before it or in tags;
    the last one before a "Context:", or, where the text ends with another label, to be continued,
    the last line "Question: <words>". In a task ("### Instruction: …") or a chat template that is
    written down as one text it is what is asked last, or what that in turn labels.
    """
    said = _said_in_chat(text) or _asked_in_task(text)
    if said:
        return labelled_question(said) or said
    found = _at_end(text) or _before_advice(text)
    if found is None and _names_context(text):
        found = _last_of(_LABELLED_BEFORE, text)
    if found is None and _ANSWER_WANTED.search(text, max(0, len(text) - _ANSWER_CHARS)):
        found = _last_of(_LABELLED_LINE, text)
    return found["words"].strip() if found else ""


def _at_end(text: str) -> re.Match[str] | None:
    start = _last_lines(text)
    found = None
    if _has_label(text[start:]):
        found = _LABELLED_TAIL.search(text, start) or _LABELLED_BELOW.search(text, start)
    return found or _TAGGED_TAIL.search(text, max(0, len(text) - _TAGGED_CHARS))


def _before_advice(text: str) -> re.Match[str] | None:
    """Return the question behind which stands how to answer it from its context.

    What stands in the tags of a context is none of it, wherever that is.
    """
    if not _names_context(text):
        return None
    shown = _without_context(text)
    is_tagged = shown != text
    for _ in range(_LINES_BEHIND + 1):
        if found := _at_end(shown):
            is_behind = is_tagged or _CONTEXT_LABEL.search(text, 0, found.start())
            return found if is_behind and _ASKS.match(found[0]) else None
        shown, _, advice = shown.rstrip().rpartition("\n")
        if not shown or _HAS_LABEL.match(advice):
            return None
    return None


def _without_context(text: str) -> str:
    """Return a text without what stands in the tags of a context, from the first to the last."""
    opening = _CONTEXT_TAG.search(text)
    closing = f"</{opening['tag']}>" if opening else ""
    end = text.rfind(closing, opening.end()) if opening else -1
    return (
        text if opening is None or end < 0 else text[: opening.start()] + text[end + len(closing) :]
    )


def _asked_in_task(text: str) -> str:
    """Return the instruction of the task that a text ends with, or what its input labels, or ""."""
    instruction, given, response = _TASK_PARTS
    task = text.rstrip().removesuffix(response)
    if task == text.rstrip() or instruction not in task:
        return ""
    asked, _, about = task.rpartition(instruction)[2].partition(given)
    return labelled_question(about) or asked.strip()


def _said_in_chat(text: str) -> str:
    """Return what the person says last in a chat template, "" where that has its reply already."""
    if not _CHAT.match(text.lstrip()):
        return ""
    said = _CHAT_PERSON.split(text)[-1]
    end = _CHAT_END.search(said)
    if end is None or not _CHAT_REPLY.fullmatch(said, end.end()):
        return ""
    return said[: end.start()].rpartition("<</SYS>>")[2].strip()


def _last_of(labelled: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match; those before it are examples."""
    *_, last = (None, *labelled.finditer(text))
    return last


def _has_label(text: str) -> bool:
    return any(mark in text for mark in ":\uff1a#")


def _names_context(text: str) -> bool:
    folded = text.casefold()  # looked for in a tenth of the time
    return any(word in folded for word in _CONTEXTS)


def _last_lines(text: str) -> int:
    """Return the line end before the last three lines that are not blank, 0 if there is none.

    A label, its words and one more label behind them stand on these.
    """
    end = len(text)
    for _ in range(3):
        end = text.rfind("\n", 0, len(text[:end].rstrip()))
        if end < 0:
            return 0
    return end


def unlabelled(text: str) -> str:
    """Return a text without the label before all of it ("Question: …") and one behind ("Answer:").

    What has more than labels around its question is returned as it is.
    """
    found = _LABELLED_TAIL.match(text.strip())
    return found["words"].strip() if found else text
