"""Values that stand where only a secret belongs: in a private key, a URL, a header, an option.

In: any text. Out: where such values stand; placeholders, code and words of the trade are none.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator

import regex

from palace.secrets.findings import Finding
from palace.secrets.names import is_open_token
from palace.secrets.patterns import compiled_later
from palace.secrets.values import (
    EXAMPLE,
    is_code,
    is_mixed,
    is_placeholder,
    is_syntax,
    is_two_cased,
    is_words,
    names_itself,
)

_URL_LOGIN = compiled_later(
    r"(?<=(\b[a-z][a-z0-9+.-]{1,30})://)[^\s/:@\"'<>?#]{0,128}+:([^\s/\"'<>]{1,256})@(?=[\w\[$%{.-])",
    regex.IGNORECASE,
)
_DATABASES = frozenset(
    "postgres postgresql mysql mariadb mongodb mongodb+srv redis rediss amqp amqps mssql sqlserver"
    " oracle cockroachdb clickhouse couchdb neo4j bolt cassandra kafka jdbc ldap ldaps".split()
)
_URL_TOKEN = compiled_later(
    r"[?&#;](?P<name>[\w-]{0,24}(?:token|secret|password|passwd|pwd)|api[_-]?key|access[_-]?key"
    r"|key|auth|sig|signature)=(?P<value>[^\s&#\"'<>\])]{4,2048}+)",
    regex.IGNORECASE,
)
_AUTHORIZATION = compiled_later(
    r"\b(?:authorization|x-api-key|x-auth-token|private-token)[\"']?+\s{0,4}+[:=]\s{0,4}+[\"']?+"
    r"(?P<scheme>(?:bearer|token|basic|apikey|bot|negotiate)\s{1,4}+)?+"
    r"(?P<value>[A-Za-z0-9._~+/=:-]{8,4096}+)",
    regex.IGNORECASE,
)
_BEARER = compiled_later(
    r"\bbearer\s{1,4}+(?P<value>[A-Za-z0-9._~+/=-]{16,4096}+)", regex.IGNORECASE
)
_OPTION = compiled_later(
    r"(?<![\w-])--?(?:[\w-]{0,24}(?:password|passwd|passphrase|token|secret|api-?key))\s{1,4}+"
    r"[\"']?(?P<value>[^\s\"'`]{6,512}+)",
    regex.IGNORECASE,
)
# Of programs whose short option takes a password and nothing else.
_SHORT_OPTION = compiled_later(
    r"\b(?:(?:mysql|mariadb)[\w-]{0,12}+(?:[^\n|;&]{0,200}?\s)-p|sshpass[ \t]{1,4}+-p[ \t]{0,4}+"
    r"|redis-cli[^\n|;&]{0,200}?\s-a[ \t]{0,4}+)[\"']?+(?P<value>[^\s\"'`]{4,256}+)"
)
_PIN = compiled_later(
    r"\b(?:(?:PIN|(?i:pin)(?=(?:[ -]?(?i:code))?\s{0,2}(?:[:=]|(?:is|ist)\b)))(?:[ -]?(?i:code))?"
    r"(?:(?:\s(?:of|for|to|der|des|für|von|zu|meiner|unserer)\s[^\n.:;=]{1,40}?)?"
    r"\s{0,2}(?:[:=]|\b(?:is|ist|lautet)\b))?\s{0,2}(?<=[\s:=])(?P<value>\d{4,5}+)"
    r"|PUK\s{0,2}(?:[:=]|is|ist|lautet)?\s{0,2}(?<=[\s:=])(?P<value>\d{8}))(?![\w-]|[.,:/]\d)"
)
_LOGIN_OPTION = compiled_later(
    r"(?<![\w-])(?:-u|--user)[ =]{0,2}[\"']?[\w.@+-]{1,64}+:(?P<value>[^\s\"'`]{4,256}+)"
)
_NETRC = compiled_later(
    r"\bmachine\s{1,4}+\S{1,253}+\s{1,8}+login\s{1,4}+\S{1,128}+\s{1,8}+password\s{1,4}+"
    r"(?P<value>\S{4,256}+)"
)
_REGISTRY_LOGIN = compiled_later(
    r"//[\w.-]{1,128}+(?:/[\w.-]{1,64}+){0,8}+/?:_(?:authToken|auth|password)[ \t]{0,2}=[ \t]{0,2}"
    r"(?P<value>[^\s\"'`]{4,512}+)"
)
_DIRECTIVE = compiled_later(
    r"(?<![\w.-])\w{0,24}?(?:api_?key|secret_?key|private_?key|password|passwd|auth_?token)\w{0,8}"
    r"[ \t]{0,4}(?P<quote>[\"'])(?P<value>[^\s\"']{8,256}+)(?P=quote);",
    regex.IGNORECASE,
)
_AZURE = compiled_later(r"(?<![A-Za-z0-9+/=:-])[A-Za-z0-9+/]{86}==(?![A-Za-z0-9+/=])")
_AZURE_LINES = 2
_STATED = compiled_later(
    r"\b(?:password|passphrase|passwd|passcode|passwort|kennwort|mot de passe|contraseña|senha"
    r"|wachtwoord|hasło|lösenordet)\s{1,3}(?:is|was|ist|lautet|est|es|é|to|är)"
    r"\s{1,3}(?:now\s|still\s)?(?P<quote>[\"'`*]{0,2}+)(?P<value>[^\s\"'`]{6,128}+)"
    r"(?=[\"'`]|\s*\Z|[ \t]*\n|(?<=[.,;:!?*)])\s|\s[(-])",
    regex.IGNORECASE,
)
# Where no blank and no verb stands between: "密码是Kx9…", "パスワードはKx9…です", "şifresi Kx9…". A
# Turkish value begins with a letter: "şifresi 2.katta" tells a floor. "Parola" is Italian too.
_STATED_BESIDE = compiled_later(
    r"(?:密[码碼]|口令|パスワード|ﾊﾟｽﾜｰﾄﾞ|パスコード|비밀번호|비번|암호)(?:は|是|[为為]|은|는)?\s{0,2}"
    r"(?!\d{4}-\d\d?-\d\d?(?![\x21-\x7e]))(?P<value>(?=[\x21-\x7e]{0,127}\d)[\x21-\x7e]{6,128}+)"
    r"|(?:(?<!\p{L})parola\s{0,2}[:=]\s{0,2}|(?:şifre(?:m|si|miz)|parola(?:m|sı|mız))\s{1,3})"
    r"(?P<value>(?=\p{L}[^\s\"'`]{0,127}\d)[^\s\"'`]{6,128}+)",
    regex.IGNORECASE,
)
_PIN_BESIDE = compiled_later(
    r"(?:暗証番号|PIN[码碼コ]|핀 ?번호|PIN kodu(?:m|muz)?)\p{Katakana}{0,3}(?:は|是|[为為]|은|는)?"
    r"\s{0,2}[:：=]?\s{0,2}(?P<value>\d{4,8}+)(?![\d年月日位桁文자])"
)
# (kind, literals of which one must occur in the case-folded text, pattern); the literals keep
# ordinary text quick.
_PLACES = (
    ("authorization-header", ("author", "x-ap", "x-auth", "-token"), _AUTHORIZATION),
    ("bearer-token", ("bearer",), _BEARER),
    ("command-line-secret", ("pass", "token", "secret", "key"), _OPTION),
    ("command-line-secret", ("mysql", "mariadb", "sshpass", "redis-cli"), _SHORT_OPTION),
    ("pin", ("pin", "puk"), _PIN),
    ("basic-auth", ("-u",), _LOGIN_OPTION),
    ("basic-auth", ("machine",), _NETRC),
    ("password", tuple("pass kennwort contraseña senha wachtw hasło lösen".split()), _STATED),
    ("password", ("';", '";'), _DIRECTIVE),
    (
        "password",
        tuple("密码 密碼 口令 パスワード ﾊﾟｽﾜｰﾄﾞ パスコード 비밀번호 비번 암호 şifre parola".split()),
        _STATED_BESIDE,
    ),
    ("pin", ("暗証番号", "pin", "핀"), _PIN_BESIDE),
)
_LITERALS = tuple(
    (literal, number) for number, (_, literals, _) in enumerate(_PLACES) for literal in literals
)
_KEY_BEGIN = compiled_later(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = compiled_later(r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = compiled_later(r"(?:[A-Za-z0-9+/=_:,.-]|\\[nr]|\s)*+")
_KEY_DATA = compiled_later(r"[A-Za-z0-9+/=]{16}")
_PUTTY = compiled_later(
    r"^Private-Lines: \d{1,3}+[ \t]*+\r?\n(?P<value>(?:[A-Za-z0-9+/=]++(?:\s++|\Z))++)", regex.M
)


def find_private_keys(text: str) -> Iterator[Finding]:
    """Find private keys, those that are cut off included."""
    if "PuTTY-User-Key-File-" in text:
        for found in _PUTTY.finditer(text):
            end = found.start("value") + len(found["value"].rstrip())
            yield Finding("private-key", found.start("value"), end)
    if "PRIVATE KEY" not in text:
        return
    begins = list(_KEY_BEGIN.finditer(text))
    ends = [found.span() for found in _KEY_END.finditer(text)]
    for number, begin in enumerate(begins):
        limit = begins[number + 1].start() if number + 1 < len(begins) else len(text)
        at = bisect.bisect_left(ends, (begin.end(), 0))
        if at < len(ends) and ends[at][1] <= limit:
            end = ends[at][1]
        else:
            # Cut off: what still looks like the body goes.
            body = _KEY_BODY.match(text, begin.end(), limit)
            end = body.end() if body else begin.end()
        if _KEY_DATA.search(text, begin.end(), end):
            yield Finding("private-key", begin.start(), end)


def find_in_places(text: str) -> Iterator[Finding]:
    """Find what stands in a URL, a header, an option, a directive or a plain statement."""
    if "://" in text:
        yield from _find_in_urls(text)
    folded = text.casefold()
    if "azure" in folded:
        yield from _find_azure_keys(text)
    if "//" in text:
        for found in _REGISTRY_LOGIN.finditer(text):
            if not is_syntax(found["value"]) and not EXAMPLE.search(found["value"]):
                yield Finding("registry-login", found.start("value"), found.end("value"))
    for number in sorted({number for literal, number in _LITERALS if literal in folded}):
        kind, _, pattern = _PLACES[number]
        yield from _find_at(pattern, kind, text)


def _find_at(pattern: regex.Pattern[str], kind: str, text: str) -> Iterator[Finding]:
    for found in pattern.finditer(text):
        value = found["value"].rstrip(".,;:)*")
        is_basic = pattern is _AUTHORIZATION and (found["scheme"] or "")[:5].lower() == "basic"
        is_sure = pattern in (_SHORT_OPTION, _PIN, _PIN_BESIDE) or (
            is_basic and is_two_cased(value)
        )
        if _is_literal(value) and (is_sure or is_mixed(value)):
            yield Finding(kind, found.start("value"), found.start("value") + len(value))


def _find_azure_keys(text: str) -> Iterator[Finding]:
    """Bare storage keys: 64 bytes of base64, within two lines of the provider's name."""
    lines = text.lower().split("\n")
    for found in _AZURE.finditer(text):
        line = text.count("\n", 0, found.start())
        near = " ".join(lines[max(0, line - _AZURE_LINES) : line + _AZURE_LINES + 1])
        if "azure" in near and "public" not in near:
            yield Finding("azure-key", found.start(), found.end())


def _is_literal(value: str) -> bool:
    """Whether a value stands for itself: no placeholder, no code, no word of the trade."""
    return not (is_syntax(value) or is_placeholder(value) or is_code(value) or names_itself(value))


def _find_in_urls(text: str) -> Iterator[Finding]:
    for found in _URL_LOGIN.finditer(text):
        if not is_syntax(found[2]) and not EXAMPLE.search(found[2]):
            kind = "database-url" if found[1].lower() in _DATABASES else "basic-auth"
            yield Finding(kind, found.start(2), found.end(2))
    for found in _URL_TOKEN.finditer(text):
        name, value = found["name"].lower(), found["value"]
        if is_syntax(value) or is_placeholder(value) or is_open_token(name):
            continue
        is_password = any(word in name for word in ("pass", "pwd", "secret"))
        is_random = len(value) >= 12 and is_mixed(value) and not is_words(value)
        if is_random or (is_password and len(value) >= 6):
            yield Finding("url-token", found.start("value"), found.end("value"))
