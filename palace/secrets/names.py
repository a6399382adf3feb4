"""What the name of a setting says: that its value is a secret, that it may be, or that it is none.

In: a name as it stands in the text. Out: its family, or yes or no.
"""

from __future__ import annotations

from functools import lru_cache

import regex

from palace.secrets.patterns import compiled_later

_PASSWORD_NAMES = tuple(
    "password passwd passphrase passcode passwort kennwort motdepasse mdp contraseña senha"
    " palavrapasse wachtwoord hasło lösenord şifre şifrem şifresi şifremiz parolam parolası"
    " parolamız пароль 密码 密碼 口令 パスワード ﾊﾟｽﾜｰﾄﾞ パスコード"
    " 暗証番号 비밀번호 비번 암호".split()
)
_SHORT_PASSWORD_NAME = compiled_later(
    r"(?i:(?:^|[_.-])(?:pass|pwd|pw|psw))$|(?<=[a-z])(?:Pass|Pwd|Pw)$|(?i:pwd)$"
)
_TICKET = compiled_later(
    r"(?<![^\W_])(?:boarding|bus|train|rail|ski|lift|day|season|month|monthly|weekly|annual|travel"
    r"|parking|press|visitor|museum|city|transit|gym|event|festival|park)[ \t_-]?pass$",
    regex.IGNORECASE,
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
_HINTED = compiled_later(r"(?:key|auth|cookie|session|salt|sig|signature|hmac|seed)$")
_UNHINTED = compiled_later(
    r"(?:cache|primary|foreign|sort|partition|object|idempotency|s3|public|dedup|group|row|storage"
    r"|pub|host|index)key$"
)
_HASH_NAME = compiled_later(
    r"sha\d*|md5|hash|digest|checksum|integrity|etag|commit|rev|ref|fingerprint|cursor|uuid|ulid"
    r"|guid|path|file|url|uri|href|src|image|img|data|public|pub|cert|version|branch|tag|trace|span"
    r"|name|class|style|module|package|nonce|blob|content|body|text|query|regex|pattern|id$"
)
# One of them is in every name of a family, once the signs between its words are left out.
_IN_FAMILY_NAMES = tuple(
    "pass pwd pw psw mdp kennwort contraseña senha wachtwoord hasło lösenord şifre parola пароль"
    " 密码 密碼 口令 パスワード ﾊﾟｽﾜｰﾄﾞ パスコード 暗証番号 비밀번호 비번 암호"
    " secret credential key token bearer jwt authcode sessionid".split()
)


def may_name_secrets(text: str) -> bool:
    """Whether a text may hold a name of a family at all; quick, and sure where it says no."""
    joined = text.casefold()
    for between in "_.-":
        joined = joined.replace(between, "")
    return any(word in joined for word in _IN_FAMILY_NAMES)


def family_in(name: str, before: str) -> str:
    """Return what a name speaks of.

    Args:
        name: As it stands in the text.
        before: What stands before it there; it tells which key a bare `key` is, whether `passe`
            ends "mot de passe", and whether a `pass` is a ticket.

    Returns:
        `password`, `secret`, `key`, `token`, or "" for other names.
    """
    if name[-3:].lower() == "key" and plain_name(name) == "key":
        return "key" if before.rstrip(" \t_-").lower().endswith(_KEY_ADJECTIVES) else ""
    if name[-4:].lower() == "pass" and _TICKET.search(f"{before}{name}"):
        return ""
    is_french = name.lower() == "passe" and before.lower().endswith("mot de ")
    return "password" if is_french else family_of(name)


@lru_cache(maxsize=4096)
def family_of(name: str) -> str:
    """As `family_in`, for a name alone."""
    plain = plain_name(name)
    if plain.endswith(_PASSWORD_NAMES) or _SHORT_PASSWORD_NAME.search(name):
        return "password"
    if plain.endswith(_KEY_NAMES):
        return "key"
    if plain.endswith(_SECRET_NAMES):
        return "secret"
    is_token = plain.endswith(_TOKEN_NAMES) and not is_open_token(name)
    return "token" if is_token else ""


def is_open_token(name: str) -> bool:
    """Whether it names a token that is no secret, such as a page's."""
    return plain_name(name).endswith(_NOT_TOKENS)


def may_be_secret(plain: str) -> bool:
    """Whether a plain name is one of those whose values are sometimes secrets."""
    return bool(_HINTED.search(plain)) and not _UNHINTED.search(plain)


def is_random_by_nature(plain: str) -> bool:
    """Whether the values of a plain name look random without being secrets: hashes, paths, data."""
    return bool(_HASH_NAME.search(plain))


def plain_name(name: str) -> str:
    """The name in lower case, without the signs between its words and a number at its end."""
    return regex.sub(r"[_.-]|\d+$", "", name.lower())
