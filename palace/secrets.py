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
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

HEX_MIN_CHARS = 32
HEX_MIN_BITS = 3.0
BASE64_MIN_CHARS = 20
BASE64_MIN_BITS = 3.8
UNNAMED_MIN_CHARS = 40
UNNAMED_MIN_BITS = 4.6
"""Bars of `entropy_bits`, in bits per character; random hex has about 3.7 at 32 characters, random
base64 4.0 at 20 and 4.8 at 40. The unnamed bar is for names that do not speak of secrets."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One secret in a text; never holds its value.

    Attributes:
        start: Index of its first character.
        end: Index after its last character.
        kind: What it is, in lower-case words joined by hyphens.
    """

    start: int
    end: int
    kind: str


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
    found = sorted(
        finding
        for source in (_find_shapes, _find_private_keys, _find_in_places, _find_assigned)
        for finding in source(text)
        if not _is_inside(finding, marked) and not _is_inside(finding, images)
    )
    return tuple(_without_overlaps(found))


def redact(text: str) -> str:
    """Return the text with every secret replaced by `[secret removed: <kind>]`.

    What is returned holds no finding, so redacting twice changes nothing more.
    """
    findings = find_secrets(text)
    while findings:
        pieces, position = [], 0
        for finding in findings:
            pieces += [text[position : finding.start], f"[secret removed: {finding.kind}]"]
            position = finding.end
        text = "".join(pieces) + text[position:]
        # A removal can bare another secret that it touched; each round removes characters.
        findings = find_secrets(text)
    return text


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


def entropy_bits(value: str) -> float:
    """Return the Shannon entropy of a text's characters, in bits per character; 0 if empty.

    Source: Shannon, "A Mathematical Theory of Communication", 1948.
    """
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


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
            current = Finding(current.start, max(current.end, finding.end), current.kind)
        else:
            yield current
            current = finding
    if current is not None:
        yield current


# --- shapes ------------------------------------------------------------------------------------

_L = r"(?<![A-Za-z0-9])"
_R = r"(?![A-Za-z0-9])"

# (kind, literals of which one must occur, pattern); the literals keep ordinary text quick.
_SHAPES: tuple[tuple[str, tuple[str, ...], regex.Pattern[str]], ...] = tuple(
    (kind, tuple(literals.split()), regex.compile(pattern))
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
        ("telegram-bot-token", ":", r"(?<![\w:.-])\d{8,10}+:[\w-]{35}+(?![\w:-])"),
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


def _find_shapes(text: str) -> Iterator[Finding]:
    for kind, literals, pattern in _SHAPES:
        if any(literal in text for literal in literals):
            for found in pattern.finditer(text):
                if _is_plausible_key(found[0], kind):
                    yield Finding(found.start(), found.end(), kind)


def _is_plausible_key(value: str, kind: str) -> bool:
    """Whether a shape is a key rather than a documented example or hyphenated words."""
    if _EXAMPLE.search(value) or len(set(value[-16:])) <= 2 or "xxxxxx" in value.lower():
        return False
    if kind in ("openai-key", "gitlab-token", "anthropic-key"):
        run = max(regex.findall(r"[A-Za-z0-9]+", value[3:]), key=len, default="")
        is_mixed = any(c.isdigit() for c in value) and any(c.isupper() for c in value)
        return len(run) >= 20 or (len(run) >= 8 and is_mixed)
    if kind in ("telegram-bot-token", "discord-token"):
        return any(c.isupper() for c in value) and any(c.islower() for c in value)
    return True


# --- private keys ------------------------------------------------------------------------------

_KEY_BEGIN = regex.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = regex.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = regex.compile(r"(?:[A-Za-z0-9+/=_:,.-]|\\[nr]|\s)*+")
_KEY_DATA = regex.compile(r"[A-Za-z0-9+/=]{16}")


def _find_private_keys(text: str) -> Iterator[Finding]:
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
            yield Finding(begin.start(), end, "private-key")


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
    r"[?&#;](?:[\w-]{0,24}(?:token|secret|password|passwd|pwd)|api[_-]?key|apikey|access[_-]?key"
    r"|key|auth|sig|signature|code)=([^\s&#\"'<>\])]{4,2048}+)",
    regex.IGNORECASE,
)
_AUTHORIZATION = regex.compile(
    r"\b(?:authorization|x-api-key|x-auth-token|private-token|api-key)[\"']?+\s{0,4}+[:=]\s{0,4}+"
    r"[\"']?+(?:(?:bearer|token|basic|apikey|bot|digest|negotiate)\s{1,4}+)?+"
    r"([A-Za-z0-9._~+/=:-]{8,4096}+)",
    regex.IGNORECASE,
)
_BEARER = regex.compile(r"\bbearer\s{1,4}+([A-Za-z0-9._~+/=-]{16,4096}+)", regex.IGNORECASE)
_OPTION = regex.compile(
    r"(?<![\w-])--?(?:[\w-]{0,24}(?:password|passwd|passphrase|token|secret|api-?key))\s{1,4}+"
    r"[\"']?([^\s\"'`]{6,512}+)",
    regex.IGNORECASE,
)
_LOGIN_OPTION = regex.compile(
    r"(?<![\w-])(?:-u|--user)[ =]{0,2}[\"']?[\w.@+-]{1,64}+:([^\s\"'`]{4,256}+)"
)
_STATED = regex.compile(
    r"\b(?:password|passphrase|passwd|passcode|passwort|kennwort)\s{1,3}(?:is|was|ist|lautet)"
    r"\s{1,3}(?:now\s|still\s)?([\"'`]?)([^\s\"'`]{6,128}+)\1(?=[.,;:!?)]?(?:\s*$|\s*\n|[.,;:!?]\s|\s[(-]))",
    regex.IGNORECASE,
)


def _find_in_places(text: str) -> Iterator[Finding]:
    if "://" in text:
        yield from _find_in_urls(text)
    for pattern, group, kind in (
        (_AUTHORIZATION, 1, "authorization-header"),
        (_BEARER, 1, "bearer-token"),
        (_OPTION, 1, "command-line-secret"),
        (_LOGIN_OPTION, 1, "basic-auth"),
        (_STATED, 2, "password"),
    ):
        for found in pattern.finditer(text):
            value = found[group].rstrip(".,;:!?)")
            if not _is_placeholder(value) and not _is_code(value) and _is_mixed(value):
                start = found.start(group)
                yield Finding(start, start + len(value), kind)


def _find_in_urls(text: str) -> Iterator[Finding]:
    for found in _URL_LOGIN.finditer(text):
        if not _is_syntax(found[2]) and not _EXAMPLE.search(found[2]):
            kind = "database-url" if found[1].lower() in _DATABASES else "basic-auth"
            yield Finding(found.start(2), found.end(2), kind)
    for found in _URL_TOKEN.finditer(text):
        value = found[1]
        is_password = regex.search(r"pass|pwd|secret", found[0][:40], flags=regex.I) is not None
        is_long = len(value) >= 12 and _is_mixed(value)
        if not _is_placeholder(value) and not _is_syntax(value) and (is_password or is_long):
            yield Finding(found.start(1), found.end(1), "url-token")


# --- assignments -------------------------------------------------------------------------------

_ASSIGNED = regex.compile(
    r"(?<![\w.-])(?P<lead>[<$@]?+-{0,2}+)(?P<name>[^\W\d][\w.-]*+)(?P<close>[\"'`\])*_]{0,3}+)"
    r"(?P<before>[ \t]*+)(?P<sign>:=|=>|={1,3}|:[ \t]?(?:str|string|bytes|SecretStr)[ \t]?="
    r"|[:：](?!:)|>)(?P<after>\*{0,2}+[ \t]*+)"
    r"(?:(?P<quote>\\?[\"'`]|[\"']{3})(?P<quoted>(?:[^\"'`\\\n]|\\(?![\"'`])[^\n]|(?!(?P=quote))[\"'`]){1,4096}+)(?P=quote)"
    r"|(?P<bare>(?:(?![,;&](?:\s|$|[\w. -]{1,32}+=))[^\s\"'`<]){1,2048}+))",
    regex.IGNORECASE,
)
_PASSWORD_NAMES = ("password", "passwd", "passphrase", "passcode", "passwort", "kennwort") + (
    "contraseña", "senha", "пароль", "密码", "密碼", "パスワード", "userpass", "dbpass", "smtppass"
)  # fmt: skip
_SECRET_NAMES = ("secret", "secretkey", "clientsecret", "signingkey", "encryptionkey") + (
    "privatekey", "apikey", "accesskey", "accountkey", "masterkey", "authkey", "accesskeyid",
    "licensekey", "sharedkey", "secretaccesskey", "credential", "credentials", "appkey",
    "servicekey", "sessionkey", "webhookkey", "deploykey", "secretbase",
)  # fmt: skip
_TOKEN_NAMES = ("token", "tokens", "bearer", "jwt", "authcode", "accesscode", "sessionid")
_NOT_TOKENS = ("pagetoken", "nexttoken", "continuationtoken", "cancellationtoken", "stoptoken")
_HASH_NAMES = regex.compile(
    r"sha\d*|md5|hash|digest|checksum|integrity|etag|commit|rev|ref|fingerprint|cursor|uuid|ulid"
    r"|guid|path|file|url|uri|href|src|image|img|data|public|pub|cert|version|branch|tag|trace|span"
    r"|name|class|style|module|package|license|nonce|blob|content|body|text|query|regex|pattern|id$"
)


def _find_assigned(text: str) -> Iterator[Finding]:
    for found in _ASSIGNED.finditer(text):
        if found["sign"] == ">" and not found["lead"].startswith("<"):
            continue
        kind = _assigned_kind(found, text)
        if kind:
            group = "quoted" if found["quote"] else "bare"
            value = _value(found)
            start = found.start(group)
            yield Finding(start, start + len(value), kind)
