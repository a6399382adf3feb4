"""The secrets filter: used before every write and before every injection.

In: any text. Out: where secrets stand in it and of which kind, or the text with them removed. No
function here returns, logs or raises the value of a secret, except as the text it was given.

Three sources are joined. *Shapes*: keys whose form gives them away (prefix and length, as their
issuers document them). *Places*: a value where only a secret belongs (a URL's password, an
Authorization header, the body of a private key). *Assignments*: `name = value`, where the name says
password, token, secret or key and the value looks like one, or where the value alone is random
enough. Patterns are bounded or possessive, so that no text takes more than linear time.

False alarms matter as much as misses: prose about passwords, code that reads them from somewhere,
placeholders, hashes and identifiers are no secrets. What decides is in `_is_secret_value`.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from palace.secret_values import (
    BASE64_MIN_CHARS,
    EXAMPLE,
    HASHED,
    IDENTIFIER,
    SENTENCE_WORDS,
    UNNAMED_MIN_BITS,
    UNNAMED_MIN_CHARS,
    WEAK_PASSWORDS,
    entropy_bits,
    is_code,
    is_mixed,
    is_placeholder,
    is_random,
    is_syntax,
    is_two_cased,
    is_words,
    names_itself,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One secret in a text; never holds its value.

    Attributes:
        kind: What it is, in lower-case words joined by hyphens.
        start: Index of its first character.
        end: Index after its last character.
    """

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> tuple[Finding, ...]:
    """Return the secrets of a text, in order, without overlaps.

    Args:
        text: Any text at all.

    Returns:
        Findings that cover the values only: of `password = …` the part after the sign, of a URL
        the password alone.
    """
    marked = [found.span() for found in _MARKER.finditer(text)]
    images = [found.span() for found in _DATA_URI.finditer(text)] if "base64," in text else []
    found = [
        finding
        for source in (_find_private_keys, _find_shapes, _find_in_places, _find_assigned)
        for finding in source(text)
        if not _is_inside(finding, marked) and not _is_inside(finding, images)
    ]
    return join_findings(found)


def redact(text: str) -> str:
    """Return the text with every secret replaced by `[secret removed: <kind>]`.

    What is returned holds no finding, so redacting twice changes nothing more.
    """
    return cut_out(text, find_secrets, what="secret")


def cut_out(text: str, find: Callable[[str], Sequence[Finding]], *, what: str) -> str:
    """Return the text with all that a finder finds replaced by `[<what> removed: <kind>]`."""
    findings = find(text)
    while findings:
        pieces, position = [], 0
        for finding in findings:
            pieces += [text[position : finding.start], f"[{what} removed: {finding.kind}]"]
            position = finding.end
        text = "".join(pieces) + text[position:]
        # A removal can bare another finding that it touched; each round removes characters.
        findings = find(text)
    return text


def join_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in order, those that overlap joined to one named after the first.

    Where two begin together, the one that was given first names the kind.
    """
    return tuple(_without_overlaps(sorted(findings, key=lambda finding: finding.start)))


def describe(findings: Sequence[Finding], text: str) -> str:
    """Return the kinds and places of findings for a person, never their values.

    Args:
        findings: What `find_secrets` found in the text.
        text: The same text.

    Returns:
        Such as `aws-access-key at line 3, column 12; password at line 4, column 1` (1-based).
    """
    places = []
    for finding in findings:
        line_start = text.rfind("\n", 0, finding.start) + 1
        line = text.count("\n", 0, finding.start) + 1
        column = finding.start - line_start + 1
        places.append(f"{finding.kind} at line {line}, column {column}")
    return "; ".join(places)


_MARKER = regex.compile(r"\[secret removed: [a-z0-9-]{1,40}\]")
_DATA_URI = regex.compile(r"\bdata:[\w/+.;=-]{0,100}?;base64,[A-Za-z0-9+/=_-]++")


def _is_inside(finding: Finding, spans: list[tuple[int, int]]) -> bool:
    """Whether the finding lies within one of the spans, which are sorted and disjoint."""
    at = bisect.bisect_right(spans, (finding.start, math.inf)) - 1
    return at >= 0 and finding.end <= spans[at][1]


def _without_overlaps(findings: list[Finding]) -> Iterator[Finding]:
    """Join overlapping findings to one, named after the first."""
    current: Finding | None = None
    for finding in findings:
        if current is None:
            current = finding
        elif finding.start < current.end:
            current = Finding(current.kind, current.start, max(current.end, finding.end))
        else:
            yield current
            current = finding
    if current is not None:
        yield current


# --- shapes ------------------------------------------------------------------------------------

_L = r"(?<![A-Za-z0-9])"
_R = r"(?![A-Za-z0-9])"

# (kind, literals of which one must occur, pattern); the literals keep ordinary text quick, and a
# pattern is compiled for the first text that holds one.
_SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = tuple(
    (kind, tuple(literals.split()), pattern)
    for kind, literals, pattern in (
        ("aws-access-key", "AKIA ASIA", rf"{_L}(?:AKIA|ASIA)[A-Z0-9]{{16}}{_R}"),
        ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_L}gh[pousr]_[A-Za-z0-9]{{30,}}+"),
        ("github-token", "github_pat_", rf"{_L}github_pat_\w{{22,}}+"),
        ("gitlab-token", "gl", rf"{_L}gl[a-z]{{2,6}}-[\w-]{{20,}}+(?:\.[\w-]++)*+"),
        ("anthropic-key", "sk-ant-", rf"{_L}sk-ant-[\w-]{{16,}}+"),
        ("openai-key", "sk-", rf"{_L}sk-[\w-]{{20,}}+"),
        ("google-api-key", "AIza", rf"{_L}AIza[\w-]{{35}}+"),
        ("google-oauth-token", "ya29. GOCSPX-", rf"{_L}(?:ya29\.|GOCSPX-)[\w-]{{20,}}+"),
        ("slack-token", "xox xapp-", rf"{_L}(?:xox[abeoprs]|xapp)-[\w.-]{{10,}}+"),
        (
            "slack-webhook",
            "hooks.slack",
            r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[\w/-]{20,}+",
        ),
        ("stripe-key", "sk_ rk_", rf"{_L}[sr]k_(?:live|test)_[A-Za-z0-9]{{10,}}+"),
        ("stripe-key", "whsec_", rf"{_L}whsec_[A-Za-z0-9+/=]{{20,}}+"),
        ("npm-token", "npm_", rf"{_L}npm_[A-Za-z0-9]{{36,}}+"),
        ("pypi-token", "pypi-", rf"{_L}pypi-(?:AgE[\w-]{{16,}}+|[\w-]{{60,}}+)"),
        ("sendgrid-key", "SG.", rf"{_L}SG\.[\w-]{{16,}}+\.[\w-]{{16,}}+"),
        ("twilio-key", "SK AC", rf"{_L}(?:SK|AC)[0-9a-f]{{32}}{_R}"),
        ("telegram-bot-token", ":", r"(?:(?<![\w:.-])|(?<=\bbot))\d{8,10}+:[\w-]{35}+(?![\w:-])"),
        (
            "discord-token",
            "M N O",
            r"(?<![\w.-])[MNO][\w-]{22,28}+\.[\w-]{6,7}+\.[\w-]{27,40}+(?![\w.-])",
        ),
        (
            "discord-webhook",
            "/api/webhooks/",
            r"discord(?:app)?\.com/api/webhooks/\d++/[\w-]{20,}+",
        ),
        ("jwt", "eyJ", rf"{_L}eyJ[\w-]{{8,}}+\.eyJ[\w-]{{8,}}+\.[\w-]{{8,}}+"),
        ("jwt", "eyJ", rf"{_L}eyJ[\w-]{{12,}}+\.eyJ[\w-]{{12,}}+"),
        ("huggingface-token", "hf_", rf"{_L}hf_[A-Za-z0-9]{{30,}}+"),
        ("digitalocean-token", "_v1_", rf"{_L}do[opr]_v1_[0-9a-f]{{64}}"),
        ("shopify-token", "shp", rf"{_L}shp(?:at|ca|pa|ss)_[0-9a-fA-F]{{32}}"),
        ("docker-token", "dckr_", rf"{_L}dckr_(?:pat|oat)_[\w-]{{20,}}+"),
        ("notion-token", "ntn_", rf"{_L}ntn_[A-Za-z0-9]{{40,}}+"),
        ("linear-key", "lin_api_", rf"{_L}lin_api_[A-Za-z0-9]{{32,}}+"),
        ("databricks-token", "dapi", rf"{_L}dapi[0-9a-f]{{32}}(?:-\d)?{_R}"),
        ("groq-key", "gsk_", rf"{_L}gsk_[A-Za-z0-9]{{40,}}+"),
        ("xai-key", "xai-", rf"{_L}xai-[A-Za-z0-9]{{60,}}+"),
        ("vault-token", "hvs. hvb.", rf"{_L}hv[sb]\.[\w-]{{20,}}+"),
        ("age-key", "AGE-SECRET-KEY-", rf"{_L}AGE-SECRET-KEY-1[A-Z0-9]{{40,}}+"),
        ("mailchimp-key", "-us", rf"{_L}[0-9a-f]{{32}}-us\d{{1,2}}{_R}"),
        ("artifactory-key", "AKC", rf"{_L}AKC[A-Za-z0-9]{{10,}}+"),
        ("square-key", "sq0", rf"{_L}sq0[a-z]{{3}}-[\w\\-]{{22,}}+"),
        ("softlayer-key", "softlayer", r"(?<=softlayer\.com/soap/v\d(?:\.\d)?/)[0-9a-z]{64}(?!\w)"),
        ("mailgun-key", "key-", rf"(?<![\w-])key-[0-9a-f]{{32}}{_R}"),
        ("grafana-token", "glsa_ glc_", rf"{_L}gl(?:sa|c)_[\w+/=]{{32,}}+"),
        ("new-relic-key", "NRAK-", rf"{_L}NRAK-[A-Z0-9]{{27}}{_R}"),
        ("postman-key", "PMAK-", rf"{_L}PMAK-[0-9a-f]{{24}}-[0-9a-f]{{34}}"),
        ("atlassian-token", "ATATT3", rf"{_L}ATATT3[\w=+/-]{{50,}}+"),
        ("tailscale-key", "tskey-", rf"{_L}tskey-[a-z]{{2,10}}-[\w-]{{16,}}+"),
        ("azure-key", "Key=", r"(?<=\b(?:Account|SharedAccess)Key=)[A-Za-z0-9+/]{40,}+={0,2}"),
        ("azure-key", "sig=", r"(?<=[?&]sig=)[A-Za-z0-9%+/_-]{40,}+={0,2}"),
    )
)


@lru_cache(maxsize=128)
def _shape(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)


def _find_shapes(text: str) -> Iterator[Finding]:
    for kind, literals, pattern in _SHAPES:
        if any(literal in text for literal in literals):
            for found in _shape(pattern).finditer(text):
                if _is_plausible_key(found[0], kind):
                    yield Finding(kind, found.start(), found.end())


def _is_plausible_key(value: str, kind: str) -> bool:
    """Whether a shape is a key rather than a documented example or hyphenated words."""
    if EXAMPLE.search(value) or set(value[-12:]) <= set("xX0*._-"):
        return False
    has_digit = any(c.isdigit() for c in value)
    has_upper = any(c.isupper() for c in value)
    if kind in ("openai-key", "gitlab-token", "anthropic-key"):
        run = max(regex.findall(r"[A-Za-z0-9]+", value[3:]), key=len, default="")
        return len(run) >= 20 or (len(run) >= 8 and has_digit and has_upper)
    if kind in ("telegram-bot-token", "discord-token", "slack-token"):
        return has_digit and (has_upper or kind == "slack-token")
    return True


# --- private keys ------------------------------------------------------------------------------

_KEY_BEGIN = regex.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = regex.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = regex.compile(r"(?:[A-Za-z0-9+/=_:,.-]|\\[nr]|\s)*+")
_KEY_DATA = regex.compile(r"[A-Za-z0-9+/=]{16}")
_PUTTY = regex.compile(
    r"^Private-Lines: \d{1,3}+[ \t]*+\r?\n(?P<value>(?:[A-Za-z0-9+/=]++(?:\s++|\Z))++)", regex.M
)


def _find_private_keys(text: str) -> Iterator[Finding]:
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


# --- places ------------------------------------------------------------------------------------

_URL_LOGIN = regex.compile(
    r"(?<=(\b[a-z][a-z0-9+.-]{1,30})://)[^\s/:@\"'<>?#]{0,128}+:([^\s/\"'<>]{1,256})@(?=[\w\[$%{.-])",
    regex.IGNORECASE,
)
_DATABASES = frozenset(
    "postgres postgresql mysql mariadb mongodb mongodb+srv redis rediss amqp amqps mssql sqlserver"
    " oracle cockroachdb clickhouse couchdb neo4j bolt cassandra kafka jdbc ldap ldaps".split()
)
_URL_TOKEN = regex.compile(
    r"[?&#;](?P<name>[\w-]{0,24}(?:token|secret|password|passwd|pwd)|api[_-]?key|access[_-]?key"
    r"|key|auth|sig|signature)=(?P<value>[^\s&#\"'<>\])]{4,2048}+)",
    regex.IGNORECASE,
)
_AUTHORIZATION = regex.compile(
    r"\b(?:authorization|x-api-key|x-auth-token|private-token)[\"']?+\s{0,4}+[:=]\s{0,4}+[\"']?+"
    r"(?P<scheme>(?:bearer|token|basic|apikey|bot|negotiate)\s{1,4}+)?+"
    r"(?P<value>[A-Za-z0-9._~+/=:-]{8,4096}+)",
    regex.IGNORECASE,
)
_BEARER = regex.compile(
    r"\bbearer\s{1,4}+(?P<value>[A-Za-z0-9._~+/=-]{16,4096}+)", regex.IGNORECASE
)
_OPTION = regex.compile(
    r"(?<![\w-])--?(?:[\w-]{0,24}(?:password|passwd|passphrase|token|secret|api-?key))\s{1,4}+"
    r"[\"']?(?P<value>[^\s\"'`]{6,512}+)",
    regex.IGNORECASE,
)
_LOGIN_OPTION = regex.compile(
    r"(?<![\w-])(?:-u|--user)[ =]{0,2}[\"']?[\w.@+-]{1,64}+:(?P<value>[^\s\"'`]{4,256}+)"
)
_REGISTRY_LOGIN = regex.compile(
    r"//[\w.-]{1,128}+(?:/[\w.-]{1,64}+){0,8}+/?:_(?:authToken|auth|password)[ \t]{0,2}=[ \t]{0,2}"
    r"(?P<value>[^\s\"'`]{4,512}+)"
)
_DIRECTIVE = regex.compile(
    r"(?<![\w.-])\w{0,24}?(?:api_?key|secret_?key|private_?key|password|passwd|auth_?token)\w{0,8}"
    r"[ \t]{0,4}(?P<quote>[\"'])(?P<value>[^\s\"']{8,256}+)(?P=quote);",
    regex.IGNORECASE,
)
_AZURE = regex.compile(r"(?<![A-Za-z0-9+/=:-])[A-Za-z0-9+/]{86}==(?![A-Za-z0-9+/=])")
_AZURE_LINES = 2
_STATED = regex.compile(
    r"\b(?:password|passphrase|passwd|passcode|passwort|kennwort)\s{1,3}(?:is|was|ist|lautet)"
    r"\s{1,3}(?:now\s|still\s)?(?P<quote>[\"'`*]{0,2}+)(?P<value>[^\s\"'`]{6,128}+)"
    r"(?=[\"'`]|\s*\Z|[ \t]*\n|(?<=[.,;:!?*)])\s|\s[(-])",
    regex.IGNORECASE,
)


def _find_in_places(text: str) -> Iterator[Finding]:
    if "://" in text:
        yield from _find_in_urls(text)
    if "azure" in text.lower():
        yield from _find_azure_keys(text)
    for found in _REGISTRY_LOGIN.finditer(text):
        if not is_syntax(found["value"]) and not EXAMPLE.search(found["value"]):
            yield Finding("registry-login", found.start("value"), found.end("value"))
    for pattern, kind in (
        (_AUTHORIZATION, "authorization-header"),
        (_BEARER, "bearer-token"),
        (_OPTION, "command-line-secret"),
        (_LOGIN_OPTION, "basic-auth"),
        (_STATED, "password"),
        (_DIRECTIVE, "password"),
    ):
        for found in pattern.finditer(text):
            value = found["value"].rstrip(".,;:)*")
            is_basic = pattern is _AUTHORIZATION and (found["scheme"] or "")[:5].lower() == "basic"
            if _is_literal(value) and (is_mixed(value) or (is_basic and is_two_cased(value))):
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
        if is_syntax(value) or is_placeholder(value) or _plain_name(name).endswith(_NOT_TOKENS):
            continue
        is_password = any(word in name for word in ("pass", "pwd", "secret"))
        is_random = len(value) >= 12 and is_mixed(value) and not is_words(value)
        if is_random or (is_password and len(value) >= 6):
            yield Finding("url-token", found.start("value"), found.end("value"))


# --- assignments -------------------------------------------------------------------------------

_VALUE_CHARS = 512
_NAMED = regex.compile(
    r"(?<![\w.-])(?P<lead>[<$@]?+-{0,2}+)(?P<name>[^\W\d][\w.-]*+)"
    r"(?:\\?[\"'`\])*]|\[\]){0,3}+[ \t]*+"
    r"(?P<sign>:=|=>|={1,3}|:[ \t]?(?:str|string|bytes|SecretStr)[ \t]?=(?!=)|[:：](?!:)|>)"
    r"(?:\*{0,2}+[ \t]*+)(?:@(?=[\"']))?+",
    regex.IGNORECASE,
)
_QUOTED = regex.compile(
    r"(?P<quote>\\?[\"'`])(?P<value>(?:(?!(?P=quote))(?:\\[^\n]|[^\\\n])){1,512}+)(?P<end>(?P=quote))?"
)
_BARE = regex.compile(r"(?P<value>[^\s\"'`<]{1,512}+)(?P<end>[\"'])?")
_SEPARATOR = regex.compile(r"[,;&](?=\s|\Z|[\w. -]{1,32}+=)")
_NESTED = regex.compile(r"[^\W\d][\w.-]{0,40}+=[^=]")
_REST = regex.compile(r"[^\s\"'`<]*+")
_UNNAMED = regex.compile(
    rf"[\"'`]?+(?P<value>[A-Za-z0-9+/_-]{{{BASE64_MIN_CHARS},{_VALUE_CHARS}}}+={{0,2}})(?![.:@])"
)

_PASSWORD_NAMES = tuple(
    "password passwd passphrase passcode passwort kennwort contraseña senha пароль 密码 密碼"
    " パスワード".split()
)
_SHORT_PASSWORD_NAME = regex.compile(
    r"(?i:(?:^|[_.-])(?:pass|pwd|pw|psw))$|(?<=[a-z])(?:Pass|Pwd|Pw)$|(?i:pwd)$"
)
_SECRET_NAMES = ("secret", "credential", "credentials", "secretbase")
_KEY_NAMES = tuple(
    "apikey accesskey secretkey privatekey signingkey encryptionkey masterkey authkey accountkey"
    " sharedkey appkey servicekey sessionkey webhookkey deploykey licensekey".split()
)
_KEY_ADJECTIVES = tuple(
    "api access secret private signing encryption master auth account license".split()
)
_TOKEN_NAMES = ("token", "bearer", "jwt", "authcode", "sessionid")
_NOT_TOKENS = (
    "pagetoken",
    "nexttoken",
    "continuationtoken",
    "cancellationtoken",
    "stoptoken",
    "publickeytoken",
)
_HINTED = regex.compile(r"(?:key|auth|cookie|session|salt|sig|signature|hmac|seed)$")
_UNHINTED = regex.compile(
    r"(?:cache|primary|foreign|sort|partition|object|idempotency|s3|public|dedup|group|row|storage"
    r"|pub|host|index)key$"
)
_HASH_NAME = regex.compile(
    r"sha\d*|md5|hash|digest|checksum|integrity|etag|commit|rev|ref|fingerprint|cursor|uuid|ulid"
    r"|guid|path|file|url|uri|href|src|image|img|data|public|pub|cert|version|branch|tag|trace|span"
    r"|name|class|style|module|package|nonce|blob|content|body|text|query|regex|pattern|id$"
)


@dataclass(frozen=True, slots=True)
class _Value:
    """What stands after the sign of an assignment.

    Attributes:
        is_quoted: Whether it is a string in quotes.
        is_shell: Whether it is bare but literal: `NAME=value`, or part of a connection string.
        sign: The sign before it.
        following: What follows on the same line.
    """

    text: str
    start: int
    is_quoted: bool
    is_shell: bool
    sign: str
    following: str


def _find_assigned(text: str) -> Iterator[Finding]:
    position = 0
    for found in _NAMED.finditer(text):
        is_markup = found["sign"] == ">"
        is_path = found["sign"] == ":" and text[found.start() - 1 : found.start()] == ":"
        if found.start() < position or is_path or (is_markup and not found["lead"].startswith("<")):
            continue
        family = _family(found["name"], text[max(0, found.start() - 12) : found.start()])
        finding = _judge_named(found, family, text) if family else _judge_unnamed(found, text)
        if finding:
            position = finding.end
            yield finding


def _judge_named(found: regex.Match[str], family: str, text: str) -> Finding | None:
    value = _value_after(found, text)
    if value is None or not _is_secret_value(value, family):
        return None
    is_aws = family == "key" and "aws" in found["name"].lower()
    kind = "aws-secret-key" if is_aws else "api-key" if family == "key" else family
    return _finding(value, kind, text)


def _judge_unnamed(found: regex.Match[str], text: str) -> Finding | None:
    """A value under a name that does not speak of secrets: only randomness tells."""
    run = _UNNAMED.match(text, found.end())
    if run is None:
        return None
    name, sampled = _plain_name(found["name"]), run["value"]
    if text[max(0, found.start() - 8) : found.start()].rstrip().lower().endswith("public"):
        name = f"public{name}"
    if _HINTED.search(name) and not _UNHINTED.search(name):
        value = _value_after(found, text)
        if value is None or not is_random(value.text) or IDENTIFIER.fullmatch(value.text):
            return None
        return _finding(value, "high-entropy-value", text)
    if len(sampled) < UNNAMED_MIN_CHARS or _HASH_NAME.search(name) or is_syntax(sampled):
        return None
    is_mixed_run = is_two_cased(sampled) and sum(c.isdigit() for c in sampled) >= 3
    if not is_mixed_run or is_words(sampled) or entropy_bits(sampled) < UNNAMED_MIN_BITS:
        return None
    end = run.end("value")
    return Finding("high-entropy-value", run.start("value"), _run_end(text, end))


def _finding(value: _Value, kind: str, text: str) -> Finding:
    """The finding of a value, which goes on beyond its bound if it was cut there."""
    end = value.start + len(value.text)
    is_cut = len(value.text) >= _VALUE_CHARS
    return Finding(kind, value.start, _run_end(text, end) if is_cut else end)


def _run_end(text: str, position: int) -> int:
    rest = _REST.match(text, position)
    return rest.end() if rest else position


def _plain_name(name: str) -> str:
    return regex.sub(r"[_.-]|\d+$", "", name.lower())


def _family(name: str, before: str) -> str:
    """`password`, `secret`, `key`, `token`, or "" for other names."""
    if name[-3:].lower() == "key" and _plain_name(name) == "key":
        return "key" if before.rstrip(" \t_-").lower().endswith(_KEY_ADJECTIVES) else ""
    return _family_of(name)


@lru_cache(maxsize=4096)
def _family_of(name: str) -> str:
    plain = _plain_name(name)
    if plain.endswith(_PASSWORD_NAMES) or _SHORT_PASSWORD_NAME.search(name):
        return "password"
    if plain.endswith(_KEY_NAMES):
        return "key"
    if plain.endswith(_SECRET_NAMES):
        return "secret"
    is_token = plain.endswith(_TOKEN_NAMES) and not plain.endswith(_NOT_TOKENS)
    return "token" if is_token else ""


def _value_after(found: regex.Match[str], text: str) -> _Value | None:
    quoted = _QUOTED.match(text, found.end())
    match = quoted or _BARE.match(text, found.end())
    if match is None:
        return None
    value, end = match["value"], match.end()
    if not quoted:
        nested = _NESTED.match(value)
        if nested and _family_of(nested[0][:-2]):
            return None  # `note: password=…`: the inner name is judged in its own turn
        value = _trimmed(value)
        end = end if value == match["value"] else match.start("value") + len(value)
    elif not match["end"]:
        # An opening quote without its partner: the value ends at the first space.
        value = value.split(None, 1)[0] if value.strip() else ""
        end = match.start("value") + len(value)
    line_end = text.find("\n", end, end + 200)
    return _Value(
        text=value,
        start=match.start("value"),
        is_quoted=quoted is not None or found["sign"] == ">",
        is_shell=_is_shell(found, text),
        sign=found["sign"],
        following=text[end : line_end if line_end >= 0 else end + 200],
    )


def _trimmed(value: str) -> str:
    """A bare value without what belongs to the list, the call or the sentence around it."""
    separator = _SEPARATOR.search(value)
    value = value[: separator.start()] if separator else value
    return value if "(" in value else value.rstrip(",;)}]>")


def _is_shell(found: regex.Match[str], text: str) -> bool:
    """Whether a bare value is literal: `NAME=value` begins a line, or `;Name=value` in a string."""
    if found["sign"] != "=" or text[found.end() - 1] != "=":
        return False
    before = text[max(0, found.start() - 1) : found.start()]
    return before == ";" or (found["name"].isupper() and before in ("", " ", "\n"))


def _is_secret_value(value: _Value, family: str) -> bool:
    """Decide whether the value of a name that speaks of secrets is one.

    A value that stands for another (placeholder, variable, call, path, type) is none. Quoted and
    shell values are literals, so plain words count; elsewhere digits or signs must make it
    unlike a word, and after a colon nothing that reads like a sentence may follow.
    """
    text = value.text.strip()
    if is_syntax(text) or is_placeholder(text) or HASHED.match(text):
        return False
    is_literal = value.is_quoted or value.is_shell
    if not is_literal and (is_code(text) or names_itself(text) or _is_sentence(value)):
        return False
    if family == "password":
        return _is_password(text, value, is_literal=is_literal)
    if family == "token" and IDENTIFIER.fullmatch(text):
        return False
    if is_words(text):
        is_secret_word = family == "secret" and value.is_quoted and text.isalpha()
        return is_secret_word and text.islower() and len(text) >= 8
    return len(text) >= 8 and " " not in text and (is_mixed(text) or is_random(text))


def _is_password(text: str, value: _Value, *, is_literal: bool) -> bool:
    if " " in text:
        words = text.split(" ")
        is_plain = all(word.isalpha() and word.islower() for word in words)
        return value.sign != ":" and 4 <= len(words) <= 8 and is_plain and _is_phrase(words)
    if text.isdigit():
        return len(text) >= (4 if is_literal else 6)
    if text.isalpha():
        is_label = text.istitle() or (text.isupper() and not value.is_shell)
        is_weak = text.lower() in WEAK_PASSWORDS
        return is_weak or (is_literal and len(text) >= 6 and not is_label and text.isascii())
    if is_literal:
        return len(text) >= 4 and any(not c.isalpha() for c in text) and not names_itself(text)
    return is_mixed(text) or (len(text) >= 20 and text.count("-") >= 3)


def _is_phrase(words: list[str]) -> bool:
    return not set(words) & SENTENCE_WORDS


def _is_sentence(value: _Value) -> bool:
    """Whether a bare value after a colon is the first word of prose."""
    if value.sign not in (":", "："):
        return False
    following = value.following
    if regex.match(r"[ \t]+[^\W\d_]{2,}", following) is None:
        return False
    text = value.text
    has_sign = any(c in "!@#$%^&*?~+=" for c in text)
    is_sure = has_sign or len(text) >= 16 or sum(c.isdigit() for c in text) >= 3
    return not (is_sure and is_mixed(text))
