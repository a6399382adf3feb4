"""Personal data is found by kind; numbers that are nothing of it are left alone."""

from __future__ import annotations

import time

import pytest

from palace.secrets.personal_data import (
    find_personal_data,
    passes_luhn,
    passes_mod_97,
    redact_personal_data,
)

FOUND = [
    ("email", "ann.lee@lakeside.io", "write to {} today"),
    ("email", "ann+news@mail.lakeside.co.uk", "<{}>"),
    ("email", "jürgen@lakeside.de", "mailto:{}"),
    ("phone", "+49 30 901820", "call {}"),
    ("phone", "+1 (415) 555-0132", "{}"),
    ("phone", "+33 6 12 34 56 78", "mobile {}."),
    ("phone", "0049 30 901820", "{}"),
    ("phone", "415-555-0132", "call {} tomorrow"),
    ("phone", "(415) 555-0132", "{}"),
    ("phone", "030/901820", "phone: {}"),
    ("phone", "030 / 90 18 20", "Tel. {} (Büro)"),
    ("phone", "030 90 18 20", "Telefon {} (Büro)"),
    ("phone", "0171 2345678", "My mobile number is {}"),
    ("payment-card", "4111 1111 1111 1111", "card {}"),
    ("payment-card", "5500-0055-5555-5559", "{}"),
    ("payment-card", "4012888888881881", "paid with {}."),
    ("payment-card", "3714 496353 98431", "{}"),
    ("payment-card", "378282246310005", "{}"),
    ("iban", "DE89 3704 0044 0532 0130 00", "to {} please"),
    ("iban", "GB29NWBK60161331926819", "{}"),
    ("iban", "FR14 2004 1010 0505 0001 3M02 606", "{} AXAB"),
    ("iban", "NO93 8601 1117 947", "account {}"),
]
NOTHING = [
    "see user@example.com and a@b.invalid",
    "git clone git@github.com:owner/name.git",
    "noreply@lakeside.io",
    "icon@2x.png",
    "npm install left-pad@1.3.0 @types/node@20.1",
    "https://user@lakeside.io/path",
    "version 4.1.0, build 20260508, port 5432",
    "2026-05-08 14:30:00",
    "issue 4111 1111 and order 1234 5678 9012 3456",
    "0000 0000 0000 0000",
    "sha 4012888888881881f",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "+35236450.6 and +1.5 and 1e+10",
    "DE89 3704 0044 0532 0130 01",
    "DE44 is a plate; AB12 CDEF 3456 7890",
    "call 3 of 12",
    "we call it done on 2026-05-20",
    "ISBN 978-3-16-148410-0",
    "192.168.100.200:8080",
    "text: 12 lines",
    "the sum of 1234567890 and 9876543210",
    "range 100-200-3000",
    "",
]


@pytest.mark.parametrize(("kind", "value", "text"), FOUND)
def test_it_is_found_and_covered_alone(kind, value, text):
    whole = text.format(value)
    (finding,) = find_personal_data(whole)
    assert (finding.kind, whole[finding.start : finding.end]) == (kind, value)
    redacted = redact_personal_data(whole)
    assert redacted == whole.replace(value, f"[personal data removed: {kind}]")
    assert redact_personal_data(redacted) == redacted


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_nobodys_is_left_alone(text):
    assert find_personal_data(text) == ()
    assert redact_personal_data(text) == text


def test_one_wrong_digit_is_no_card_and_no_account():
    assert passes_luhn([4, 5, 3, 9, 1, 4, 8, 8, 0, 3, 4, 3, 6, 4, 6, 7])
    assert not passes_luhn([4, 5, 3, 9, 1, 4, 8, 8, 0, 3, 4, 3, 6, 4, 6, 8])
    assert passes_mod_97("DE89370400440532013000")
    assert not passes_mod_97("DE98370400440532013000")


@pytest.mark.parametrize(
    "piece", ["a@", "a.b@c.", "+1 ", "12 ", "4111 1111 ", "DE89 3704 ", "call ", "(4)", "tel " * 3]
)
def test_hostile_text_takes_linear_time(piece):
    text = piece * (100_000 // len(piece))
    start = time.process_time()
    find_personal_data(text)
    assert time.process_time() - start < 3
