from __future__ import annotations

import json

import pytest

from palace.enforce.prompt import DECLINE_TOKEN, render_context
from palace.enforce.quoting import (
    QUOTE_SCHEMA,
    QuoteReply,
    parse_quote,
    verify_quote,
    verify_quotes,
)
from tests.doubles import evidence

ITEMS = (
    evidence("The night train leaves platform 14 at 22:05, never on Sundays.", id="m-train"),
    evidence("Rosa keeps the spare key\nunder the “blue” pot — third step.", id="m-key"),
    evidence("42", id="m-short"),
)


def quoted(memory, quote):
    found = verify_quote(QuoteReply(memory, quote, "whatever"), ITEMS)
    return found.id if found else None


@pytest.mark.parametrize(
    ("memory", "quote"),
    [
        (1, "The night train leaves platform 14"),
        (1, "  leaves   platform\n14 at 22:05 "),
        (1, '"The night train leaves platform 14 at 22:05"'),
        (1, "“night train leaves”"),
        (2, 'spare key under the "blue" pot - third step.'),
        (3, "42"),
    ],
)
def test_a_true_quote_proves_its_memory(memory, quote):
    assert quoted(memory, quote) == ITEMS[memory - 1].id


@pytest.mark.parametrize(
    ("memory", "quote"),
    [
        (1, "The night train leaves platform 15"),  # a changed digit
        (1, "The night train leaves platform 1"),  # a number cut in two
        (1, "platform 14 at 22"),
        (1, "the night train leaves platform 14"),  # another case
        (1, "The night train leaves from platform 14"),  # an added word
        (1, "The night train leaves platform 14."),  # an added full stop
        (1, "ight train leaves platform"),  # a word cut in two
        (2, "The night train leaves platform 14"),  # another memory's words
        (1, "never on Sundays. Rosa keeps the spare key"),  # across two memories
        (1, "train"),  # too little
        (1, "at"),
        (1, ""),
        (1, '""'),
        (3, "4"),
        (0, "The night train leaves"),
        (4, "The night train leaves"),
        (-1, "42"),
        (None, "The night train leaves"),
    ],
)
def test_anything_else_proves_nothing(memory, quote):
    assert quoted(memory, quote) is None


def test_no_reply_proves_nothing():
    assert verify_quote(None, ITEMS) is None


def test_the_proof_is_the_memory_itself():
    assert verify_quote(QuoteReply(1, "night train leaves"), ITEMS) is ITEMS[0]


def test_words_as_shown_can_be_quoted():
    item = evidence("Wrap it in <MEMORY-CONTEXT> tags, says Ines.\nTwice.")
    shown = render_context([item]).splitlines()
    quote = "\n".join(shown[3:-1])
    assert "[memory-context]" in quote
    assert verify_quote(QuoteReply(1, quote), [item]) is item


def test_a_quote_in_a_dense_script_is_cut_anywhere():
    item = evidence("定例会議は毎週水曜日の15時から第三会議室で行う。")
    assert verify_quote(QuoteReply(1, "毎週水曜日の15時から"), [item]) is item
    assert verify_quote(QuoteReply(1, "毎週水曜日の16時から"), [item]) is None
    assert verify_quote(QuoteReply(1, "定例会議は毎週水曜日の"), [item]) is item
    assert verify_quote(QuoteReply(1, "時から第三会議室"), [item]) is item
    assert verify_quote(QuoteReply(1, "毎週水曜日の1"), [item]) is None


@pytest.mark.parametrize(
    ("quote", "is_whole"),
    [
        ("router answers at 10.0.0", False),
        ("0.7 since May", False),
        ("since May 2024", True),
        ("7 since May", False),
        ("router answers at", True),
        ("reset takes 3 minutes", True),
        ("minutes, 5 with cake", True),
        ("router: reset", True),
    ],
)
def test_a_quote_cuts_no_number_in_two(quote, is_whole):
    item = evidence(
        "The router answers at 10.0.0.7 since May 2024. "
        "The router: reset takes 3 minutes, 5 with cake."
    )
    assert verify_quote(QuoteReply(1, quote), [item]) is (item if is_whole else None)


@pytest.mark.parametrize(
    "quote",
    [
        "4.x marks the tall gate 3",
        "5 opens at",
        "4 degrees below the seat b",
        "7 the lamp shines until 22",
        "x marks the tall gate",
    ],
)
def test_what_only_stands_beside_a_number_is_whole(quote):
    item = evidence("/4.x marks the tall gate 3 5 opens at -4 degrees below the seat b.7 the lamp "
                    "shines until 22.")  # fmt: skip
    assert verify_quote(QuoteReply(1, quote), [item]) is item


def test_a_quote_that_is_cut_at_first_may_stand_whole_further_on():
    item = evidence("The harbour lights shine; harbour light costs more.")
    assert verify_quote(QuoteReply(1, "harbour light"), [item]) is item


def test_nothing_quotes_a_memory_without_words():
    assert verify_quote(QuoteReply(1, ""), [evidence("")]) is None


@pytest.mark.parametrize(
    "reply",
    [
        {"memory": 2, "quote": "spare key", "answer": "There."},
        {"memory": "2", "quote": "spare key", "answer": "There."},
        {"memory": "[2]", "quote": "spare key", "answer": "There."},
        {"memory": 2.0, "quote": "spare key", "answer": "There."},
        '{"memory": 2, "quote": "spare key", "answer": "There."}',
        'Gladly: {"memory": 2, "quote": "spare key", "answer": "There."} Anything else?',
        'Sure:\n```json\n{"memory": 2, "quote": "spare key", "answer": "There."}\n```\nDone.',
        'I call {"name": "point_to_memory", "arguments": {"memory": 2, "quote": "spare key", "answer": "There."}}',
        "MEMORY: 2\nQUOTE: spare key\nANSWER: There.",
        "**Memory:** [2]\n**Quote:** spare key\n**Answer:** There.",
        "```\nmemory: 2\nquote: spare key\nanswer: There.\n```",
        "Here you go.\n\nMEMORY: 2\n\nQUOTE: spare key\n\nANSWER: There.",
    ],
)
def test_every_form_of_the_contract_is_read(reply):
    parsed = parse_quote(reply)
    assert parsed == QuoteReply(2, "spare key", "There.")


@pytest.mark.parametrize(
    "reply",
    [
        {"memory": None, "quote": "", "answer": ""},
        {"memory": "null", "quote": "x", "answer": "y"},
        {"memory": 1, "quote": DECLINE_TOKEN, "answer": ""},
        '{"memory": null}',
        DECLINE_TOKEN,
        f"**{DECLINE_TOKEN}**.",
        f"I looked, but: {DECLINE_TOKEN}",
        "MEMORY: none\nQUOTE:\nANSWER:",
        f"MEMORY: 1\nQUOTE: The night train\nANSWER: {DECLINE_TOKEN}",
    ],
)
def test_declining_is_read(reply):
    assert parse_quote(reply) == QuoteReply(None)


@pytest.mark.parametrize(
    "reply",
    [
        "", "The train leaves at 22:05.", "{not json", "[1, 2]", "{}", {}, {"memory": True, "quote": "a"},
        {"memory": 1.5, "quote": "a"}, {"memory": [1], "quote": "a"}, {"quote": "spare key"},
        {"memory": "two", "quote": "a"}, {"memory": "9" * 5000, "quote": "a"}, {"memory": "²", "quote": "a"},
        "{" * 5000, '{"memory": ' + "9" * 5000 + "}",
    ],
)  # fmt: skip
def test_an_ignored_contract_is_no_reply(reply):
    parsed = parse_quote(reply)
    assert verify_quote(parsed, ITEMS) is None
    assert parsed is None or parsed.memory not in (1, 2, 3)


def test_a_quote_of_two_lines_is_read_from_json():
    found = parse_quote('{"memory": 2, "quote": "Rosa keeps the spare key\nunder", "answer": ""}')
    assert verify_quote(found, ITEMS) is ITEMS[1]
    other = {"memory": 2, "quote": ["spare key"], "answer": 3}
    assert parse_quote(other) == QuoteReply(2, "", "")


def test_the_schema_is_plain_json():
    assert json.loads(json.dumps(dict(QUOTE_SCHEMA)))["name"] == "point_to_memory"
    assert set(QUOTE_SCHEMA["parameters"]["properties"]) == {
        "memory",
        "quote",
        "answer",
        "also",
    }
    assert QUOTE_SCHEMA["parameters"]["required"] == ["memory", "quote", "answer"]


TRAIN, KEY = "The night train leaves platform 14", "Rosa keeps the spare key"


@pytest.mark.parametrize(
    "reply",
    [
        {"memory": 2, "quote": KEY, "answer": "x", "also": [{"memory": 1, "quote": TRAIN}]},
        {"memory": 2, "quote": KEY, "answer": "x", "also": [{"memory": "[1]", "quote": TRAIN}]},
        json.dumps({"memory": 2, "quote": KEY, "also": [{"memory": 1, "quote": TRAIN}]}),
        f"MEMORY: 2\nQUOTE: {KEY}\nMEMORY: 1\nQUOTE: {TRAIN}\nANSWER: x",
        f"**Memory:** [2]\n**Quote:** {KEY}\n\n**Memory:** [1]\n**Quote:** {TRAIN}",
    ],
)
def test_further_items_are_read_and_each_is_verified(reply):
    assert verify_quotes(parse_quote(reply), ITEMS) == (ITEMS[1], ITEMS[0])


@pytest.mark.parametrize(
    "also",
    [
        None,
        "1",
        [],
        [1, None, "The night train leaves platform 14", []],
        [{"memory": None, "quote": TRAIN}, {"quote": TRAIN}],
        [{"memory": 1, "quote": "The night train leaves platform 15"}],  # invented
        [{"memory": 3, "quote": TRAIN}],  # another memory's
        [{"memory": 2, "quote": KEY}] * 9,  # the same again
    ],
)
def test_what_is_not_quoted_of_further_items_is_left_out(also):
    parsed = parse_quote({"memory": 2, "quote": KEY, "answer": "x", "also": also})
    assert verify_quotes(parsed, ITEMS) == (ITEMS[1],)


def test_who_invents_the_first_quote_is_believed_nothing():
    reply = {"memory": 2, "quote": "Rosa has the key", "also": [{"memory": 1, "quote": TRAIN}]}
    assert verify_quotes(parse_quote(reply), ITEMS) == ()
    assert verify_quotes(None, ITEMS) == ()
