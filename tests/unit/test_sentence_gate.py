from __future__ import annotations

import pytest

from palace.enforce.grounding import AnswerCheck
from palace.enforce.prompt import DECLINE_TOKEN
from palace.enforce.sentences import MAX_SENTENCE_CHARS, SentenceCutter
from tests.doubles import evidence

ITEM = evidence(
    "The ferry to Norrholm costs 18 euros, takes 40 minutes and leaves from pier 3.", id="m-ferry"
)
FALLBACK = "Nothing known."


def gate(mode="replace"):
    check = AnswerCheck([ITEM], "How do I get to Norrholm?", mode=mode, fallback_text=FALLBACK)
    return check.gate()


def cut(text):
    cutter = SentenceCutter()
    found = [piece for character in text for piece in cutter.feed(character)]
    return [*found, *cutter.close()]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Dr. Ines Alba and Mr. J. Smith, e.g. at 5 p.m. on Monday, came.", 1),
        ("Il dott. Galli e la sig.ra Conti vengono lunedì.", 1),
        ("It is v3.14.2 at 2.5 h, see https://a.example/b.c?d=e.f. Next.", 2),
        ("It closes at 5 p.m. We open again at 9.", 2),
        ("Op. 27 no. 2 is hard. So is no. 3.", 2),
        ('She said "fine." Then she left.', 2),
        ("Costs 18 euros. [1] Takes long. [1][2]", 2),
        ("1. first\n2. second\n- third", 3),
        ("First line\n\nSecond block", 2),
        ("prose that is\nwrapped by hand.", 1),
        ("Code:\n```py\na = 1. b\nc()\n```\nDone.", 3),
        ("| Level | State |\n|:---|---:|\n| Warn | on |\n| Page | off |\n", 4),
        ("A | b\n--- | ---\nC | d", 2),
        ("| Level | State |\n| - off | on |", 2),
        ("| Level | State |\n- off", 2),
        ("今天下雨。明天晴！后天呢？", 3),
        ("彼は「行く。」と言った。次。", 3),
        ("Wait… what? Yes.", 2),
        ("Yes. It does.", 1),
        ("Well... maybe.", 1),
        ("", 0),
        ("   \n", 1),
    ],
)
def test_sentences_are_cut_where_a_reader_would(text, count):
    found = cut(text)
    assert len(found) == count, found
    assert "".join(found) == text


def test_endless_text_is_cut_at_a_bound():
    found = cut("word " * 1000)
    assert max(map(len, found)) <= MAX_SENTENCE_CHARS
    found = cut("x" * 5000)
    assert [len(piece) for piece in found] == [MAX_SENTENCE_CHARS] * 4 + [200]


def test_an_endless_code_block_stays_code():
    text = "```\n" + "line. two\n" * 300 + "```\nDone."
    found = cut(text)
    assert "".join(found) == text
    assert found[-1].strip() == "Done."
    assert max(map(len, found)) <= MAX_SENTENCE_CHARS


def test_a_sentence_is_released_as_soon_as_it_is_verified():
    stream = gate()
    assert stream.feed("The ferry costs 18 eu") == []
    assert stream.feed("ros. It") == ["The ferry costs 18 euros."]
    assert stream.feed(" takes 40 minutes") == []
    assert stream.close() == [" It takes 40 minutes"]
    assert stream.result.supported
    assert stream.result.text == "The ferry costs 18 euros. It takes 40 minutes"


def test_nothing_unverified_is_released():
    stream = gate()
    pieces = [p for c in "The ferry costs 19 euros. It leaves from pier 3." for p in stream.feed(c)]
    pieces += stream.close()
    assert "19" not in "".join(pieces)
    assert pieces[0].startswith(ITEM.text)
    assert stream.result.unsupported == ("19 euros",)
    assert not stream.result.supported


@pytest.mark.parametrize("token", [DECLINE_TOKEN, DECLINE_TOKEN.replace("_", r"\_")])
@pytest.mark.parametrize("mode", ["off", "replace"])
def test_a_decline_in_pieces_becomes_the_fallback(mode, token):
    stream = gate(mode)
    pieces = [p for c in f"**{token}**\n" for p in stream.feed(c)]
    assert pieces == []
    assert stream.close() == [FALLBACK]
    assert stream.result.declined


def test_unchecked_text_flows_at_once_but_a_decline_is_held():
    stream = gate("off")
    assert stream.feed("NOT_IN") == []
    assert stream.feed(" stock, ") == ["NOT_IN stock, "]
    assert stream.feed("99 euros") == ["99 euros"]
    assert stream.close() == []
    declined = gate("off")
    assert [*declined.feed("NOT_IN_"), *declined.feed("MEMORY, sorry")] == []
    assert declined.close() == [FALLBACK]


def test_a_short_unchecked_beginning_is_released_at_the_end():
    stream = gate("off")
    assert stream.feed("No") == []
    assert stream.close() == ["No"]


def test_a_closed_gate_takes_no_more():
    stream = gate()
    stream.close()
    assert stream.close() == []
    with pytest.raises(ValueError, match="ended"):
        stream.feed("more")
