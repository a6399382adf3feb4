"""Labels that a program's template puts around a person's words: "Question: … Answer:".

In: a prompt. Out: the words that are labelled, or the prompt without its labels.
"""

from __future__ import annotations

import re

# A blank stands before it in French, and it is as wide as a letter in Chinese.
_COLON = r"[ \t\xa0\u202f]*[:\uff1a]"
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
_WORDS_AT_END = rf"(?P<words>\S[^\n]{{2,2000}})\s*(?:\n[ \t]*[\w'’ ]{{1,40}}{_COLON}\s*)?\Z"
_LABELLED_TAIL = re.compile(
    r"(?:(?:^|\n)[> \t]*(?:(?:latest |new |quick |short |another |user |human )?"
    r"(?:question|query|message|input|request)|follow[ -]?up(?: \w+)?|user|human"
    rf"|{_QUESTION_ELSEWHERE}|{_PERSON_ELSEWHERE})"
    r"|[.!?][ \t]*(?:here is the )?(?:original|user) (?:question|query|message))"
    rf"{_COLON}[ \t]*{_WORDS_AT_END}",
    re.IGNORECASE,
)
# On the line before, where "Input:" may stand before anything.
_LABELLED_BELOW = re.compile(
    rf"(?:^|\n)[> \t]*(?:(?:user )?(?:question|query)|{_QUESTION_ELSEWHERE}){_COLON}"
    rf"\s*\n[ \t]*(?!\w{{1,40}}{_COLON}){_WORDS_AT_END}",
    re.IGNORECASE,
)
_LABELLED_LINE = re.compile(
    rf"^[> \t]*(?:question|{_QUESTION_ELSEWHERE}){_COLON}[ \t]*(?P<words>\S[^\n]{{2,2000}})$",
    re.IGNORECASE | re.MULTILINE,
)
_TAGGED_TAIL = re.compile(
    r"<(?P<tag>(?:(?:user|human|original|follow[ _-]?up)[ _-])?(?:question|query)"
    r"|(?:user|human|follow[ _-]?up)[ _-](?:message|input|request))>"
    r"(?P<words>[^<>]{3,2000})</(?P=tag)>\s*(?:[\w' ]{1,40}:\s*|<[\w -]{1,40}>\s*)?\Z",
    re.IGNORECASE,
)
_TAGGED_CHARS = 2200
_ANSWER_WANTED = re.compile(
    r"\n[> \t]*(?:(?:(?:final|helpful|your) )?answer[ \t]*:[^\n]{0,80}"
    rf"|[\w'’()/ ]{{1,40}}{_COLON})\s*\Z",
    re.IGNORECASE,
)
_ANSWER_CHARS = 200
_LABEL_END = re.compile(rf"\w*{_COLON}")


def labelled_question(text: str) -> str:
    """Return the question that a program's template labels as one in a longer text, or "".

    It is the line "Question: <words>" (or "User: …" and the like) at the end, the last line behind
    "Question:", or what stands there between tags such as `<question>`, perhaps with one more label
    behind it; where the text ends with another label, to be continued, the last line
    "Question: <words>" that has nothing behind that label yet.
    """
    start = _last_lines(text)
    found = None
    if _has_colon(text[start:]):
        found = _LABELLED_TAIL.search(text, start) or _LABELLED_BELOW.search(text, start)
    found = found or _TAGGED_TAIL.search(text, max(0, len(text) - _TAGGED_CHARS))
    wanted = _ANSWER_WANTED.search(text, max(0, len(text) - _ANSWER_CHARS))
    if found is None and wanted is not None:
        found = _open_line(text, wanted)
    words = found["words"].strip() if found else ""
    return "" if words == text.strip() else words


def _open_line(text: str, wanted: re.Match[str]) -> re.Match[str] | None:
    """Return the last line "Question: <words>" that is not answered before the text ends.

    Examples are, and so are questions in a document behind the person's own; thoughts answer none.
    Where all are answered it is the last one.
    """
    label = re.escape(_LABEL_END.findall(wanted[0])[0])
    answer = re.compile(rf"\n(?!Thought)[> \t\w]{{0,40}}{label}\s*\S", re.IGNORECASE)
    last, end = None, wanted.start()
    for line in reversed([*_LABELLED_LINE.finditer(text)]):
        if not answer.search(text, line.end(), end):
            return line
        last, end = last or line, line.start()
    return last


def _has_colon(text: str) -> bool:
    return ":" in text or "\uff1a" in text


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
