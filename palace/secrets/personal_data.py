"""Personal data: mail addresses, phone numbers, payment cards and bank accounts.

In: any text. Out: where such data stands in it and of which kind, or the text with it removed. A
card must pass Luhn's check and an account number the one of ISO 13616; a phone number must be
written like one or be called one. Nothing here returns a value except as the text it was given.

Source: ISO/IEC 7812-1 annex B (Luhn); ISO 13616-1 and ISO 7064 (IBAN, mod 97-10); ITU-T E.164
(phone numbers: a plus sign and at most 15 digits).
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from palace.secrets.findings import Finding, cut_out, find_unseen_too, join_findings

_MAIL = regex.compile(
    r"(?<![\w.+%/@-])(?<!(?<!mailto):)[\w+%-]{1,64}(?:\.[\w+%-]{1,64}){0,5}+"
    r"@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,6}[a-z]{2,24}(?![\w@-])",
    regex.IGNORECASE,
)
_RESERVED = regex.compile(
    r"@(?:[\w-]+\.)*(?:example\.(?:com|org|net|edu)|[\w-]+\.(?:example|invalid|test|local)"
    r"|localhost\.\w+|users\.noreply\.github\.com)$|^(?:git|noreply|no-reply|hg|svn)@",
    regex.IGNORECASE,
)
_FILE = regex.compile(r"\.(?:png|jpe?g|gif|svg|webp|css|js|py|md)$", regex.IGNORECASE)
_CARD = regex.compile(
    r"(?<![\w.,:/#-])(?<!\d )[2-6]\d{3}"
    r"(?:([ -]?)\d{4}(?:\1\d{4}\1\d{1,7}|\1\d{6}\1?\d{5}))(?![\w-]|[.,]\d)"
)
_AMEX = regex.compile(r"(?<![\w.,:/#-])3[47]\d{2}([ -]?)\d{6}\1\d{5}(?![\w-]|[.,]\d)")
_IBAN = regex.compile(
    r"(?<![\w/-])[A-Z]{2}\d{2}(?:(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?|[A-Z0-9]{11,30})(?![\w-])"
)
_IBAN_CHARS = {
    **dict.fromkeys(("NO",), 15),
    **dict.fromkeys(("BE", "BI"), 16),
    **dict.fromkeys(("DK", "FO", "FI", "GL", "NL", "FK"), 18),
    **dict.fromkeys(("MK", "SI"), 19),
    **dict.fromkeys(("AT", "BA", "EE", "KZ", "LT", "LU", "XK"), 20),
    **dict.fromkeys(("HR", "LV", "LI", "CH"), 21),
    **dict.fromkeys(("BG", "BH", "CR", "GE", "DE", "IE", "ME", "RS", "GB", "VA"), 22),
    **dict.fromkeys(("GI", "IQ", "IL", "OM", "SO", "TL", "AE"), 23),
    **dict.fromkeys(("AD", "CZ", "MD", "PK", "RO", "SA", "SK", "ES", "SE", "TN", "VG"), 24),
    **dict.fromkeys(("LY", "PT", "ST"), 25),
    **dict.fromkeys(("IS", "TR"), 26),
    **dict.fromkeys(("FR", "GR", "IT", "MC", "MR", "SM", "DJ"), 27),
    **dict.fromkeys(("AL", "AZ", "BY", "CY", "DO", "SV", "GT", "HU", "LB", "PL"), 28),
    **dict.fromkeys(("BR", "EG", "PS", "QA", "UA"), 29),
    **dict.fromkeys(("JO", "KW", "MU"), 30),
    **dict.fromkeys(("MT", "SC"), 31),
    "LC": 32,
    "RU": 33,
}
"""Length of an account number by country, in characters; the IBAN registry of ISO 13616."""
_INTERNATIONAL = regex.compile(
    r"(?<![\w.+/=:-])(?<!\d )(?:\+|00(?=[1-9]\d[ /-]))[1-9](?:[ ./-]?(?:\(0?\d{1,4}\)|\d)){7,14}"
    r"(?<=\d\d)(?![\w-]|[.,:/]\d)"
)
_CALLED = regex.compile(
    r"\b(?:phone|telephone|mobile|cell|tel|fax|call|text|whatsapp|sms|telefon|handy|mobil|tél|téléphone"
    r"|teléfono|telefone|телефон|电话|電話)(?:\s?(?:number|no|nr|nummer|num))?\b"
    r"[^\n\d+]{0,24}?"
    r"(?P<value>(?!(?:19|20)\d\d[-./]\d)\(?\d(?:(?: / |[ ./-])?[()]?\d){6,14})(?![\w-]|[.,:/]\d)",
    regex.IGNORECASE,
)
_NORTH_AMERICAN = regex.compile(
    r"(?<![\w.+/=:-])(?:\([2-9]\d{2}\) ?|[2-9]\d{2}-)[2-9]\d{2}-\d{4}(?![\w-])"
)


def find_personal_data(text: str) -> tuple[Finding, ...]:
    """Return the personal data of a text, in order, without overlaps.

    Kinds are `email`, `phone`, `payment-card` and `iban`. Addresses reserved for examples, and
    those of machines (`git@…`, `noreply@…`), are nobody's and left out.
    """
    return join_findings(find_unseen_too(text, _SOURCES))


def redact_personal_data(text: str) -> str:
    """Return the text with personal data replaced by `[personal data removed: <kind>]`."""
    return cut_out(text, find_personal_data, what="personal data")


def _mails(text: str) -> Iterator[Finding]:
    if "@" not in text:
        return
    for found in _MAIL.finditer(text):
        if not _RESERVED.search(found[0]) and not _FILE.search(found[0]):
            yield Finding("email", found.start(), found.end())


def _cards(text: str) -> Iterator[Finding]:
    for pattern in (_CARD, _AMEX):
        for found in pattern.finditer(text):
            digits = [int(c) for c in found[0] if c.isdigit()]
            if 13 <= len(digits) <= 19 and len(set(digits)) > 1 and passes_luhn(digits):
                yield Finding("payment-card", found.start(), found.end())


def _accounts(text: str) -> Iterator[Finding]:
    for found in _IBAN.finditer(text):
        written = found[0]
        while written:
            plain = written.replace(" ", "")
            if len(plain) == _IBAN_CHARS.get(plain[:2]) and passes_mod_97(plain):
                yield Finding("iban", found.start(), found.start() + len(written))
                break
            # The word behind an account number may look like a part of it.
            written = written.rpartition(" ")[0]


def _phones(text: str) -> Iterator[Finding]:
    for pattern in (_INTERNATIONAL, _NORTH_AMERICAN):
        for found in pattern.finditer(text):
            yield Finding("phone", found.start(), found.end())
    for found in _CALLED.finditer(text):
        yield Finding("phone", found.start("value"), found.end("value"))


_SOURCES = (_mails, _accounts, _cards, _phones)


def passes_luhn(digits: list[int]) -> bool:
    """Whether the last digit is the check digit of the others (Luhn, mod 10)."""
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def passes_mod_97(account: str) -> bool:
    """Whether an account number without spaces has the right check digits (ISO 7064)."""
    moved = account[4:] + account[:4]
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1
