"""What the value of a setting looks like: a secret, or something that stands in for one.

In: one value without its quotes. Out: yes or no; what `palace.secrets` finds is judged here.
"""

from __future__ import annotations

import math
from collections import Counter

import regex

from palace.secrets.patterns import compiled_later

HEX_MIN_CHARS = 32
HEX_MIN_BITS = 3.0
BASE64_MIN_CHARS = 20
BASE64_MIN_BITS = 3.8
UNNAMED_MIN_CHARS = 40
UNNAMED_MIN_BITS = 4.6
"""Bars of `entropy_bits`, in bits per character; random hex has about 3.7 at 32 characters, random
base64 4.0 at 20 and 4.8 at 40. The unnamed bar is for names that do not speak of secrets."""

_SYNTAX = compiled_later(
    r"\$(?:[A-Za-z_{(]|\{)|[<\[()*•…|]|\{\{[^{}]*+(?:\}\}|\Z)|\{(?!\{)"
    r"|\.{2,}|%[(s]|%\w+%|#\{|@[\w./]|!\w+$|~?/|\.{1,2}/|[A-Za-z]:\\"
    r"|[a-z][a-z0-9+.-]*://|(?:env|vault|arn|file|op|ssm|kms|ref|keychain|keyring|secretref|enc):"
    r"|ENC\[|[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,6}$|&\w+;|\\|\^|="
)
EXAMPLE = compiled_later(
    r"example|placeholder|dummy|fake|change-?_?me|replace|redacted|sample|(?<![a-z])your|insert[-_]"
    r"|foobar|x{5,}|\*{3,}|\.{3}|…|•|<[\w -]+>|secret removed",
    regex.IGNORECASE,
)
_PLACEHOLDER_WORDS = frozenset(
    "true false yes no on off none null nil undefined void empty blank unset set unknown n/a na tbd"
    " todo string str text char bytes bool boolean int integer number float object any optional"
    " required mandatory disabled enabled hidden masked secret token password passwd passphrase key"
    " apikey value default auto automatic input prompt ask manual stdin env environ environment"
    " vault keychain keyring keepass bitwarden invalid missing forgotten incorrect wrong expired"
    " expires valid short long strong weak plain encrypted hashed bearer basic access refresh"
    " public private read write admin user username root guest here see same test testing"
    " mypassword password1 changed rotated revoked removed deleted renewed current previous new old"
    " self this that is are was unchanged stored saved kept given generated random anonymous"
    " identifier field column header cookie session oauth oauth2 saml ldap sso base64 sha256 sha512"
    " bcrypt argon2 argon2id pbkdf2 scrypt utf8 utf-8 2fa mfa totp".split()
)
WEAK_PASSWORDS = frozenset(
    "letmein swordfish iloveyou trustno qwerty qwertz opensesame sunshine princess superman"
    " passw0rd hunter welcome".split()
)
SENTENCE_WORDS = frozenset(
    "the a an is are be was to of in on at for from with your you my our please enter must not no"
    " and or it this that password has have can should will does do reset forgot new old".split()
)
_ALGORITHM = compiled_later(
    r"(?:hmac-?)?(?:sha|md|aes|rsa|base|utf|oauth|tls|ssl|ipv|argon|pbkdf|ecdsa|hs|rs|es|win|http|v)"
    r"[-_]?\d{1,4}(?:[-_.]\w{1,12})*|\d+-[a-z]+(?:-[a-z]+)*|\d+[a-z]{1,4}",
    regex.IGNORECASE,
)
HASHED = compiled_later(r"(?:sha\d{1,3}|md5)[:=-]", regex.IGNORECASE)
IDENTIFIER = compiled_later(
    r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|(?:[a-z]{1,4}[-_])?[0-7][0-9A-HJKMNP-TV-Z]{25}"
)
_CHAIN = compiled_later(r"[!&*]?[A-Za-z_]\w*+(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*+)*+")
_HEX = compiled_later(r"[0-9a-f]+|[0-9A-F]+")
_BASE64 = compiled_later(r"[A-Za-z0-9+/_-]+={0,2}")


def entropy_bits(value: str) -> float:
    """Return the Shannon entropy of a text's characters, in bits per character; 0 if empty.

    Source: Shannon, "A Mathematical Theory of Communication", 1948.
    """
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def is_syntax(value: str) -> bool:
    """Whether a value begins like a variable, template, path, URL, list or mask."""
    found = _SYNTAX.match(value)
    if found is None:
        return False
    is_path_like = found[0].startswith(("/", "~/", "."))
    return not (is_path_like and len(value) >= 40 and entropy_bits(value[:256]) >= UNNAMED_MIN_BITS)


def is_placeholder(value: str) -> bool:
    """Whether a value stands in for one: a word of the trade, an example, a mask."""
    plain = value.strip(" .,;:!?()*_").lower()
    return (
        plain in _PLACEHOLDER_WORDS
        or EXAMPLE.search(value) is not None
        or _ALGORITHM.fullmatch(plain) is not None
        or len(set(plain)) <= 1
    )


def is_code(value: str) -> bool:
    """Whether a bare value is an expression: a call, an index, a chain or name of identifiers."""
    chain = _CHAIN.match(value)
    if chain is None:
        return False
    rest = value[chain.end() :]
    if rest[:1] in ("(", "[", "{") or rest.startswith(("::", "->")):
        return True
    if rest.strip(",;)]}"):
        return False
    parts = regex.split(r"\.|::|->", chain[0])
    if len(parts) > 1:
        return all(len(part) < 24 for part in parts)
    is_snake = regex.fullmatch(r"_*[A-Za-z]+(?:_[A-Za-z]+)+_?\d?", chain[0]) is not None
    is_camel = regex.fullmatch(r"[a-z]+(?:[A-Z][a-z]+)+\d?", chain[0]) is not None
    return is_snake or is_camel


def names_itself(value: str) -> bool:
    """Whether a value is a name made of the words of the trade, such as `1Password`."""
    is_name = regex.fullmatch(r"[\w.-]+", value) is not None and not value[-2:].isdigit()
    lower = value.lower()
    return is_name and any(w in lower for w in ("password", "passwd", "token", "secret", "apikey"))


def is_mixed(value: str) -> bool:
    """Whether letters stand beside digits (6 characters or more), or beside signs (8 or more)."""
    has_letter = any(c.isalpha() for c in value)
    has_digit = any(c.isdigit() for c in value)
    has_sign = any(c in "!@#$%^&*?~+" for c in value)
    return has_letter and ((has_digit and len(value) >= 6) or (has_sign and len(value) >= 8))


def is_two_cased(value: str) -> bool:
    """Whether upper and lower case stand together, 8 characters or more."""
    is_two = any(c.isupper() for c in value) and any(c.islower() for c in value)
    return is_two and len(value) >= 8


def is_words(value: str) -> bool:
    """Whether a value is words with at most two digits each, joined by separators."""
    parts = [part for part in regex.split(r"[-_./: ]", value) if part]
    is_word = regex.compile(
        r"v?\d{1,2}|(?:19|20)\d\d|[A-Za-z]?[a-z]{1,15}\d{0,2}|[A-Z]{1,12}\d{0,2}|(?:[A-Z][a-z]+)+"
    ).fullmatch
    return all(is_word(part) for part in parts)


def is_random(value: str) -> bool:
    """Whether a value is as random as keys are; the bars stand at the top of the module."""
    sampled = value[:256]
    if _HEX.fullmatch(sampled):
        return len(value) >= HEX_MIN_CHARS and entropy_bits(sampled) >= HEX_MIN_BITS
    is_encoded = _BASE64.fullmatch(sampled) is not None and len(value) >= BASE64_MIN_CHARS
    return is_encoded and is_mixed(value) and entropy_bits(sampled) >= BASE64_MIN_BITS
