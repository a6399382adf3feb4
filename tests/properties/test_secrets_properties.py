"""Laws of the secrets filter that hold for any text."""

from __future__ import annotations

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from palace.secrets import find_secrets, redact

_ALNUM = string.ascii_letters + string.digits
_PIECES = st.sampled_from(
    [
        "password", "token", "secret", "api_key", "key", " = ", "=", ": ", ":", "'", '"', "`", "\n",
        " ", ";", ",", "&", "?", "//", "://", "@", "user", "https", "[secret removed: password]",
        "[secret removed: ", "]", "[", "<", ">", "Bearer ", "Authorization: ", "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----", "eyJ", ".", "sk-", "ghp_", "AKIA", "hunter2", "Xy12Xy12Xy12Xy12Xy12",
        "a1B2" * 12, "\\", "${X}", "****", "--", "-u ", "data:image/png;base64,", "日本", "is ",
    ]
)  # fmt: skip
_TEXTS = st.lists(st.one_of(_PIECES, st.text(max_size=8)), max_size=24).map("".join)
_SECRETS = st.text(_ALNUM, min_size=24, max_size=40).filter(
    lambda s: (
        any(c.isdigit() for c in s[:-1])
        and any(c.islower() for c in s)
        and any(c.isupper() for c in s)
        and len(set(s)) > 14
    )
)


@settings(deadline=None, max_examples=300)
@given(_TEXTS)
def test_redacting_twice_changes_nothing_more(text):
    once = redact(text)
    assert redact(once) == once
    assert find_secrets(once) == ()


@settings(deadline=None, max_examples=100)
@given(_TEXTS)
def test_findings_are_ordered_disjoint_and_inside(text):
    position = 0
    for finding in find_secrets(text):
        assert position <= finding.start < finding.end <= len(text)
        assert finding.kind == finding.kind.lower()
        position = finding.end


@settings(deadline=None, max_examples=60)
@given(_SECRETS, st.sampled_from(["password = {}", "API_KEY={}", '"secret": "{}"', "token: {}\n"]))
def test_random_values_never_survive(secret, form):
    assert secret not in redact("before\n" + form.format(secret) + "\nafter")


@settings(deadline=None, max_examples=60)
@given(st.text(string.ascii_lowercase + " .,\n'", max_size=300))
def test_lower_case_prose_is_left_alone(text):
    assert redact(text) == text
