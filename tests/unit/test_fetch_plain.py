from hypothesis import given, settings
from hypothesis import strategies as st

from palace.fetch.plain import clip_bytes, decode_text, one_line, printable


@settings(deadline=None, max_examples=60)
@given(st.text(), st.integers(min_value=0, max_value=40))
def test_clipped_text_fits_and_is_the_beginning(text: str, max_bytes: int) -> None:
    clipped, cut = clip_bytes(text, max_bytes)
    assert len(clipped.encode()) <= max_bytes
    assert text.startswith(clipped)
    assert cut == (clipped != text)


def test_lone_surrogates_do_not_break_clipping() -> None:
    assert clip_bytes("a\ud800b", 10) == ("a?b", False)


@settings(deadline=None, max_examples=60)
@given(st.text())
def test_printable_is_idempotent_and_keeps_line_ends(text: str) -> None:
    plain = printable(text)
    assert printable(plain) == plain
    assert not any(ord(char) < 32 and char not in "\n\t" for char in plain)


def test_one_line() -> None:
    assert one_line(" a\n\tb \x00c ") == "a b c"
    assert one_line("x" * 20, max_chars=5) == "xxxx…"


def test_decoding() -> None:
    assert decode_text("\ufeffä".encode()) == "ä"
    assert decode_text("ä".encode()[:1], whole=False) == ""
    assert decode_text("ä".encode()[:1]) is None
    assert decode_text(b"") == ""
    assert decode_text("ä\r\n".encode("utf-16")) == "ä\r\n"
    assert decode_text("ä\n".encode("utf-16")[:-1], whole=False) == "ä"
    assert decode_text(b"a" * 9000 + b"\0") == "a" * 9000 + "\0"
    assert decode_text("\N{REPLACEMENT CHARACTER}".encode() * 5) == "\N{REPLACEMENT CHARACTER}" * 5
