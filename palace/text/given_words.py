"""Prompts that have words translated, put right or summed up, and bring these words along.

"Translate to French: when did we meet?" asks nothing of a memory, whatever its last words ask. Nor
does a program's template around them. In: a prompt. Out: whether it is such a one.
"""

from __future__ import annotations

import re

from palace.text.late_patterns import late_standard

# Whoever rewrites a question may be answered with what is made of it: see `rewriting.py`.
_VERBS = (
    "translate",
    "proofread",
    *("übersetz", "uebersetz", "korrigier"),
    *("traduis", "traduisez", "traduire", "corrige", "corrigez", "corriger"),
    *("traduce", "traduzca", "traducir", "corrija", "corregir"),
    *("traduza", "traduz", "traduzir", "corrigir"),
    *("traduci", "traduca", "tradurre", "correggi", "correggere"),
    *("vertaal", "corrigeer", "przetłumacz", "popraw", "översätt", "rätta", "çevir", "düzelt"),
    *("переведи", "переведите", "исправь", "исправьте"),
)
_PUT_RIGHT = (
    r"(?:fix|correct|check|improve) (?:[\w']{1,20} ){0,4}(?:spelling|grammar|punctuation|typos?)"
)
_REWORD = (
    r"(?:rephrase|reword|paraphrase|rewrite|shorten|simplify|polish|improve|make)"
    r" (?:(?:this|the following|my) (?:sentence|text|message|phrase|line|paragraph|passage|words"
    r"|note|e-?mail|mail|letter|reply|post)|(?<!make )this(?=[^\n:?]{0,80}[:：])"
    r"|(?<=make )this sound)"
    r"(?![^\n:]{0,120}\b(?:quer|question|search))"
)
_SUM_UP = (
    r"(?:summari[sz]e|condense|(?:write|give me|make) an? (?:\w{1,20} ){0,3}summary of)"
    r" (?:this|these|the following)(?: \w{1,20})? (?:text|transcript|conversation|chat|thread"
    r"|meeting|e-?mails?|article|document|notes?|report|messages?|passage|paragraph|story|log)"
    r"(?![^\n:]{0,120}\b(?:answer|quer|question|search))"
)
_POLITE = (
    r"(?:(?:please|pls|bitte|por favor|per favore|s['’]il (?:te|vous) pla[iî]t|alsjeblieft"
    r"|пожалуйста|now|hi|hey|hello|hallo|ok|okay|thanks|(?:can|could|would|will) you"
    r"|(?:kannst|könntest) du|können sie|(?:peux|pourrais)-tu|pouvez-vous|puedes|podrías"
    r"|i(?: need|['’]d like| want) you to|you are an? [\w ]{1,60}\.)[,!.]?\s+){0,4}"
)
_NOUN = (
    r"(?:questions?|sentences?|text|message|phrase|line|paragraph|passage|words|input|query"
    r"|frage|satz|text|nachricht|phrase|question|texte|pregunta|frase|texto|pergunta|domanda"
    r"|testo|vraag|zin|tekst|вопрос|предложение|текст)"
)
_VERB = rf"(?:{'|'.join(_VERBS)})\w{{0,2}}|{_PUT_RIGHT}"
# These name the words themselves.
_NAMING = rf"{_REWORD}|{_SUM_UP}"
_BELOW = rf"(?=[^\n?]{{0,160}}\b(?:this|that|following|below|next|{_NOUN})\b)"
_OPENED = r"[\"“„«‹'‘「『`]"
_SENTENCE = rf"(?:the (?:\w{{1,20}} )?)?{_OPENED}(?=(?:[^\s\"”]{{1,40}} ){{3}})"
_TOLD = late_standard(
    rf"{_POLITE}(?:"
    # "… to French: <words>", "… "<words>" into French."
    rf"(?:{_VERB}|{_NAMING})\b(?:[^\n:：?]{{0,160}}[:：]\s*\S"
    rf"|(?: [\w ]{{1,40}})? {_OPENED}.{{2,2000}}\Z)"
    # "… the question below.", and they stand there; a conversation may follow as well.
    rf"|(?:(?:{_VERB})\b{_BELOW}|(?:{_NAMING})\b)[^\n?]{{0,160}}\n\s*(?!(?:user|human):)\S"
    # "… this question for me? <words>"
    rf"|(?:{_VERB})\b(?=[^\n?.]{{0,160}}\b(?:this|following) {_NOUN}\b)[^\n?.]{{0,160}}[?.]\s+\S"
    rf"|how (?:do|does|can|could|would|should) (?:you|i|we|one|they) (?:say|write|spell)"
    rf" {_OPENED}.{{2,2000}}\Z"
    # "What does "…" mean?": a word alone may be one of the palace's own.
    rf"|what does {_SENTENCE}[^\n]{{0,400}} mean\W{{0,3}}\Z"
    rf"|what(?:['’]s| is) the (?:sentiment|tone|mood|meaning|grammar|language|plural|opposite"
    rf"|origin) of {_SENTENCE}.{{0,2000}}\Z)"
    # In Chinese, Japanese and Korean the verb may stand behind.
    r"|[^\n:：?？。]{0,60}(?:翻[译譯]|译成|譯成|翻訳|訳して|번역|改正|校对|校對|添削)"
    r"[^\n:：?？。]{0,40}[:：]\s*\S",
    re.IGNORECASE | re.DOTALL,
)
# They stand before that line.
_TOLD_BEHIND = late_standard(
    rf"{_POLITE}(?:{_VERB}|{_NAMING})\b[^\n?:]{{0,60}}\b(?:(?:this|that|the) {_NOUN}|the above"
    r"|above)\b[^\n?:]{0,60}\Z",
    re.IGNORECASE,
)
# What one of them may begin with: looked for in a hundredth of the time.
_MARKS = (
    *(verb[:5] for verb in _VERBS),
    *("spelling", "grammar", "punctuation", "typo", "this ", "this:", "following", " my "),
    *("these ", " mean", ' of "', " of “", " of '"),
    *(" say ", " write ", " spell "),
    *("翻", "译", "譯", "訳", "번역", "改正", "校", "添削"),
)
# What is to be done is told at the beginning, or on the last line.
_HEAD_CHARS = 400
_ALSO_ANSWER = late_standard(r"\b(?:and|then|also)\b[^\n:]{0,40}\banswer\b", re.IGNORECASE)


def works_on_given_words(text: str) -> bool:
    """Whether a prompt wants words that it brings along worked on as words, and no more."""
    said = text.strip()
    before, _, last = said.rpartition("\n")
    told = f"{said[:_HEAD_CHARS]}\n{last[-_HEAD_CHARS:]}"
    folded = told.casefold()
    if not any(map(folded.__contains__, _MARKS)) or _ALSO_ANSWER.search(told):
        return False
    return bool(_TOLD.match(said) or (before and _TOLD_BEHIND.match(last)))
