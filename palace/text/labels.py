"""Labels that a program's template puts around a person's words: "Question: … Answer:".

In: a prompt. Out: the words that are labelled, or the prompt without its labels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from palace.text.given_words import works_on_given_words
from palace.text.late_patterns import late_standard

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
_PERSON = r"(?:user|human|customer|client|person)"
_ASKED = (
    rf"(?:(?:here is )?(?:the )?(?:(?:{_PERSON}(?:['’]s)?|original|initial|input|following|latest"
    rf"|current|first|new|final) ){{0,2}}(?:question|query)|(?:the )?{_PERSON} (?:asks|asked)"
    rf"|current task|{_QUESTION_ELSEWHERE})"
)
# And the reply to it.
_REPLIES = (
    *("answer", "a", "response", "reply", "output", "assistant", "ai", "antwort", "réponse"),
    *("respuesta", "resposta", "risposta", "odpowiedź", "svar", "yanıt", "antwoord", "ответ"),
    *("回答", "答案", "답변"),
)
_MARKS = r"[> \t*#]{0,9}"
_NEXT_LABEL = rf"{_MARKS}[\w'’ ]{{1,40}}{_COLON}"
_FENCE = r"(?:`{3}|\"{3}|[-=]{3,9})\w{0,9}[ \t]{0,9}\n[ \t]{0,9}"
_BELOW = rf"[ \t]{{0,9}}\n\s{{0,9}}(?:{_FENCE})?(?!{_NEXT_LABEL})"
_ASKING_TAG = (
    r"(?:(?:user|human|original|follow[ _-]?up)[ _-])?(?:question|query)"
    r"|(?:user|human|follow[ _-]?up)[ _-](?:message|input|request)"
)
_WORDS_AT_END = rf"(?P<words>\S[^\n]{{2,2000}})\s*(?:\n[ \t]*[\w'’ ]{{1,40}}{_COLON}\s*)?\Z"
_LABELLED_TAIL = late_standard(
    r"(?:(?:^|\n)[> \t*]*(?:(?:latest |new |quick |short |another |user |user['’]s |human )?"
    r"(?:question|query|message|input|request)|follow[ -]?up(?: \w+)?|user|human"
    rf"|{_QUESTION_ELSEWHERE}|{_PERSON_ELSEWHERE})"
    r"|[.!?][ \t]*(?:here is the )?(?:original|user) (?:question|query|message))"
    rf"{_COLON}[ \t]*{_WORDS_AT_END}",
    re.IGNORECASE,
)
# Wherever it stands: on the line of its label, below that, or under a heading in whatever marks
# ("[[ ## question ## ]]"). What tells how to answer is a label as well, where a question follows.
_LABELLED = late_standard(
    rf"^(?:(?:{_MARKS}(?:q|{_ASKED}){_COLON}(?:[ \t]{{0,9}}(?=\S)|{_BELOW})"
    rf"|(?!\w)[^\w\n/]{{1,12}}\b{_ASKED}[^\w\n]{{0,12}}{_BELOW})(?P<words>\S[^\n]{{2,2000}})"
    rf"|<(?P<tag>{_ASKING_TAG})>(?P<tagged>[^<>]{{3,2000}})</(?P=tag)>[ \t]{{0,9}}"
    rf"|{_MARKS}answer [^\n:.!?]{{0,60}}\b(?:question|query)\b[^\n:.!?]{{0,60}}:"
    r"[ \t]{0,9}(?P<told>\S[^\n]{2,2000}\?))$",
    re.IGNORECASE | re.MULTILINE,
)
# What stands behind it: a label, a heading, a tag or a line of marks.
_NEXT_PART = late_standard(
    rf"^(?:{_NEXT_LABEL}|[ \t]{{0,9}}(?:#|</?\w|\[\[|\*\*|={{3}}|-{{3}}|`{{3}}))", re.MULTILINE
)
_MOST_CHARS = 2000
# A reply at the very end has only been begun for the model.
_ANSWERED = late_standard(
    rf"\s{{0,9}}{_MARKS}(?:[\w'’]{{1,20}} ){{0,2}}(?:{'|'.join(_REPLIES)}){_COLON}[ \t]{{0,9}}"
    rf"(?:\S[^\n]*\n\s{{0,9}}\S|\n\s{{0,9}}(?!{_NEXT_LABEL})\S)",
    re.IGNORECASE,
)
# "Answer the question "…" briefly": the words stand in a sentence of the program.
_QUOTES = tuple(f"{noun} {mark}" for noun in ("tion", "tion:", "query", "query:") for mark in '"“')
_QUOTED = late_standard(
    r"(?:^|[,.:;][ \t])(?:please )?(?:answer|reply to|respond to) [^\n:.!?\"“]{0,60}"
    r"\b(?:question|query):? (?:\"(?P<words>[^\"\n]{3,2000})\"|“(?P<curled>[^”\n]{3,2000})”)",
    re.IGNORECASE | re.MULTILINE,
)
_TAGGED_TAIL = late_standard(
    rf"<(?P<tag>{_ASKING_TAG})>"
    r"(?P<words>[^<>]{3,2000})</(?P=tag)>\s*(?:[\w' ]{1,40}:\s*|<[\w -]{1,40}>\s*)?\Z",
    re.IGNORECASE,
)
_TAGGED_CHARS = 2200
# The same as keys of a JSON object.
_ASKING_KEY = late_standard(_ASKING_TAG, re.IGNORECASE)
_ANSWERING_KEYS = frozenset((*_REPLIES, "result", "results"))
# What a program puts beside a person's words.
_CONTEXT_TAG = late_standard(
    rf"<(?P<tag>{_CONTEXT}|system[ _-]?reminder)(?: [^<>\n]{{0,80}})?>", re.IGNORECASE
)
# "Use the following context to answer the query:", behind the question itself.
_ASKED_FIRST = late_standard(
    r"\A\s{0,9}(?P<words>(?:[^\n]{1,2000}\n){1,4}?)\s{0,9}(?=[^\n]{0,120}\banswer\b)"
    rf"[^\n]{{0,120}}\b{_CONTEXT}\b[^\n:]{{0,60}}:[ \t]{{0,9}}\n",
    re.IGNORECASE,
)
# A task as models are tuned on it: what is asked, what that is about, and where the reply goes.
_TASK_PARTS = ("### Instruction:", "### Input:", "### Response:")
_ANSWER_IT = late_standard(r"\banswer\b.{0,60}\b(?:question|query)\b", re.IGNORECASE)
# A conversation in the tokens of a model's chat template, as one text.
_CHAT = late_standard(
    r"(?:<s>|<bos>|<\|begin_of_text\|>)?\s{0,9}"
    r"(?:<\|(?:im_start|start_header_id|system|user)\|>|<start_of_turn>|\[INST\])"
)
_CHAT_PERSON = late_standard(
    r"<\|im_start\|>user\n|<\|start_header_id\|>user<\|end_header_id\|>|<\|user\|>"
    r"|<start_of_turn>user\n|\[INST\]"
)
_CHAT_END = late_standard(
    r"<\|(?:im_end|eot_id|end)\|>|<end_of_turn>|</s>|\[/INST\]|(?=<\|assistant\|>)"
)
# The reply may have been begun for the model.
_CHAT_REPLY = late_standard(
    r"\s*(?:(?:<\|im_start\|>assistant|<\|start_header_id\|>assistant<\|end_header_id\|>"
    r"|<\|assistant\|>|<start_of_turn>model)[^<]{0,80})?"
)
# Every label has one of these with it, and most of what people write has none.
_TEMPLATED = re.compile(r'[:\uff1a<{\[\n"“]')


def labelled_questions(text: str) -> tuple[str, ...]:
    """Return what a program's template labels as the question in a longer text, if it does.

    It is the line "Question: <words>" (or "User: …" and the like) at the end, or what stands there
    between tags such as `<question>`, perhaps with one more label behind it; else the last one that
    has no answer right behind it, wherever it stands: on the line of its label, below it, or under
    a heading. What stands in the tags of a context is none; where nothing is labelled beside them
    it is what else the text says, or its beginning before "Use this context to answer:". In a task
    ("### Instruction: …") or a chat template that is written down as one text it is what is asked
    last, or what that in turn labels, and in a JSON object the value of "question" or the like.

    Returns:
        The line, and with all lines behind it down to the next label where there are more.
    """
    if not _TEMPLATED.search(text) or works_on_given_words(text):  # it calls them what it likes
        return ()
    said = _said_in_chat(text) or _asked_in_task(text) or _asked_in_json(text)
    if said:
        return labelled_questions(said) or (said,)
    if found := _at_end(text):
        return (found["words"].strip(),)
    shown = _without_context(text)
    found = _unanswered(shown)
    if found is None and _holds(shown, _QUOTES) and (quoted := _QUOTED.search(shown)):
        return ((quoted["words"] or quoted["curled"]).strip(),)
    if found is None:
        first = _ASKED_FIRST.match(text) if _holds(text, _CONTEXTS) else None
        asked = (first["words"] if first else "" if shown == text else shown).strip()
        return (asked,) if 0 < len(asked) < _MOST_CHARS else ()
    line = (found["words"] or found["tagged"] or found["told"]).strip()
    behind = _NEXT_PART.split(shown[found.end() : found.end() + _MOST_CHARS], maxsplit=1)[0]
    behind = behind.rstrip()
    return (line, f"{line}{behind}") if behind and found["words"] else (line,)


def _at_end(text: str) -> re.Match[str] | None:
    start = _last_lines(text)
    has_label = any(mark in text[start:] for mark in ":\uff1a#")
    found = _LABELLED_TAIL.search(text, start) if has_label else None
    return found or _TAGGED_TAIL.search(text, max(0, len(text) - _TAGGED_CHARS))


def _unanswered(text: str) -> re.Match[str] | None:
    """Return the last labelled question without an answer; those before it are examples."""
    asked = (m for m in _LABELLED.finditer(text) if not _ANSWERED.match(text, m.end()))
    return max(asked, key=re.Match.start, default=None)


def _without_context(text: str) -> str:
    """Return a text without what stands in the tags of a context, from the first to the last."""
    opening = _CONTEXT_TAG.search(text) if "</" in text else None
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
    is_in_input = _ANSWER_IT.search(asked) or labelled_questions(about)
    return (about.strip() if is_in_input else "") or asked.strip()


def _asked_in_json(text: str) -> str:
    """Return the question in a JSON object that says nothing of a reply, or ""."""
    if not (text.lstrip().startswith("{") and text.rstrip().endswith("}")):
        return ""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if any(told.get(key) for key in _ANSWERING_KEYS):
        return ""
    asked = (told[key] for key in told if _ASKING_KEY.fullmatch(key))
    return next((words.strip() for words in asked if isinstance(words, str)), "")


def _said_in_chat(text: str) -> str:
    """Return what the person says last in a chat template, "" where that has its reply already."""
    if not _CHAT.match(text.lstrip()):
        return ""
    said = _CHAT_PERSON.split(text)[-1]
    end = _CHAT_END.search(said)
    if end is None or not _CHAT_REPLY.fullmatch(said, end.end()):
        return ""
    return said[: end.start()].rpartition("<</SYS>>")[2].strip()


def _holds(text: str, marks: Sequence[str]) -> bool:
    folded = text.casefold()  # looked for in a tenth of the time
    return any(mark in folded for mark in marks)


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
