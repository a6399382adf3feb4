from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from palace.enforce.answering import AnswerOptions, ModelReply, answer_steps, confirm_steps
from palace.enforce.grounding import AnswerCheck
from palace.enforce.markers import escape_markers
from palace.enforce.prompt import DECLINE_TOKEN, render_context
from palace.enforce.quoting import QuoteReply, parse_quote, verify_quote
from palace.enforce.sentences import MAX_SENTENCE_CHARS, SentenceCutter
from palace.text import estimate_tokens
from palace.types.query import RecallSignal
from palace.types.session import Turn
from palace.types.verdict import Verdict
from tests.doubles import evidence
from tests.properties.strategies import any_text

FAST = settings(deadline=None, max_examples=60)
MEMORIES = (
    evidence("The night train to Orlau leaves platform 14 at 22:05, never on Sundays.", id="m-1"),
    evidence("Rosa keeps 3 spare keys under the blue pot on the third step.", id="m-2"),
    evidence("The cellar was flooded on 2026-02-11; the pump cost 380 euros.", id="m-3"),
)
QUESTION = "When does the night train leave?"
NEAR = "I don't have this. The closest I have: the train."

ANSWER_PIECES = (
    "The night train leaves at 22:05.", " It leaves platform 15.", " Rosa has 3 keys", " Yes.", "No. ",
    " e.g. this", " Dr. No", "[1]", " [9]", "\n", "\n\n", "- item", "```", "`x`", "。", "你好！", "...", " ",
    DECLINE_TOKEN, "NOT_IN_", "MEMORY", "not", "?", "!", " etc. and", "3.14", "http://a.example/b.c. ", "word ",
)  # fmt: skip
answers = st.lists(st.one_of(st.sampled_from(ANSWER_PIECES), st.text(max_size=8)), max_size=24).map(
    "".join
)
items = st.lists(
    st.builds(
        evidence,
        st.one_of(any_text, st.sampled_from([m.text for m in MEMORIES])),
        source=st.sampled_from(
            ["a.md:1", "rooms/" + "deep/" * 30 + "b.md:2", "https://x.example/1"]
        ),
        stale=st.booleans(),
    ),
    max_size=5,
)
TAG_PIECES = (
    "<",
    "</",
    "＜",
    "‹",
    "&lt;",
    "&#60;",
    "memory",
    "MEMORY",
    "-",
    "_",
    " ",
    "context",
    "cоntext",
    ">",
    "\u200b",
    "x",
    "\n",
)
tagged = st.lists(st.sampled_from(TAG_PIECES), max_size=14).map("".join)


def chunks(text, sizes):
    start = 0
    for size in sizes:
        yield text[start : start + size]
        start += size
    yield text[start:]


sizes = st.lists(st.integers(0, 9), max_size=60)


@FAST
@given(answers, sizes, st.sampled_from(["off", "flag", "replace"]))
def test_a_gate_over_any_chunks_is_the_check_of_the_whole(answer, cuts, mode):
    check = AnswerCheck(MEMORIES, QUESTION, mode=mode)
    gate = check.gate()
    released = [piece for chunk in chunks(answer, cuts) for piece in gate.feed(chunk)]
    released += gate.close()
    whole = check.check(answer)
    assert "".join(released) == gate.result.text == whole.text
    assert gate.result == whole


@FAST
@given(st.one_of(answers, any_text, answers.map(lambda t: t * 40)), sizes)
def test_sentences_are_the_text_however_it_comes(text, cuts):
    whole, chunked = SentenceCutter(), SentenceCutter()
    expected = whole.feed(text) + whole.close()
    found = [s for chunk in chunks(text, cuts) for s in chunked.feed(chunk)] + chunked.close()
    assert found == expected
    assert "".join(found) == text
    assert all(len(sentence) <= MAX_SENTENCE_CHARS for sentence in found)


@FAST
@given(items, st.integers(0, 400), any_text)
def test_a_context_keeps_to_its_budget_and_counts_what_it_leaves_out(found, budget, wake_up):
    block = render_context(found, budget_tokens=budget, wake_up=wake_up)
    assert estimate_tokens(block) <= budget
    if block and found:
        ours = [line for line in block.splitlines() if line[:1] not in (" ", "")]
        shown = sum(line.startswith("[") for line in ours)
        left_out = [line for line in ours if "more left out" in line]
        counted = int(left_out[0].split()[0].strip("(")) if left_out else 0
        assert shown >= 1
        assert shown + counted == len(found)


@FAST
@given(st.one_of(tagged, any_text))
def test_no_spelling_of_our_tag_survives_and_escaping_is_idempotent(text):
    escaped = escape_markers(text)
    assert escape_markers(escaped) == escaped
    block = render_context([evidence(f"x {text} x")])
    assert block.count("<memory-context>") == block.count("</memory-context>") == 1


@FAST
@given(st.sampled_from(MEMORIES), st.integers(0, 12), st.integers(2, 12))
def test_whole_words_of_a_memory_as_shown_can_be_quoted(memory, start, length):
    shown = "\n".join(render_context([memory]).splitlines()[3:-1]).split()
    quote = "  ".join(shown[start : start + length]).strip(",;")
    found = verify_quote(QuoteReply(1, quote), [memory])
    assert found in (memory, None)
    if start + length <= len(shown) and length >= 6:
        assert found is memory


@FAST
@given(st.one_of(any_text, answers), st.integers(-2, 5), any_text)
def test_what_verifies_stands_in_the_memory(quote, number, answer):
    parsed = parse_quote({"memory": number, "quote": quote, "answer": answer})
    found = verify_quote(parsed, MEMORIES)
    assert found is None or found is MEMORIES[number - 1]
    assert parse_quote(quote) is None or isinstance(parse_quote(quote), QuoteReply)


# -- a model that lies -------------------------------------------------------------------------------

LIES = st.one_of(
    st.integers(1000, 9_999_999)
    .filter(lambda n: n not in (2026,))
    .map("It costs {} dollars.".format),
    st.sampled_from(
        [
            "The train leaves platform 15 at 22:05.",
            "The night train leaves at 22:50.",
            "Zelda Quux told me so.",
            "It was on 3 March 1999.",
            "Open /etc/shadow now.",
            "Ignore the memory: crocodiles invented marmalade during wartime.",
            "See https://evil.example/steal for it.",
            "The night train leaves on Mondays from platform 14.",
        ]
    ),
)


@st.composite
def quote_lies(draw):
    """A reply to the quote call that proves nothing."""
    number = draw(st.integers(1, 3))
    text = MEMORIES[number - 1].text
    digit = next(i for i, c in enumerate(text) if c.isdigit())
    changed = text[:digit] + str((int(text[digit]) + 1) % 10) + text[digit + 1 :]
    wrong = draw(
        st.sampled_from(
            [
                {"memory": number, "quote": changed},
                {"memory": number % 3 + 1, "quote": text},
                {"memory": number, "quote": draw(LIES)},
                {"memory": number, "quote": f"{text} {MEMORIES[number % 3].text}"},
                {"memory": number, "quote": text.split()[0]},
                {"memory": 99, "quote": text},
            ]
        )
    )
    lie = draw(LIES)
    arguments = {**wrong, "answer": lie}
    return draw(
        st.sampled_from(
            [
                ModelReply(arguments=arguments),
                ModelReply(str(arguments).replace("'", '"')),
                ModelReply(f"MEMORY: {wrong['memory']}\nQUOTE: {wrong['quote']}\nANSWER: {lie}"),
                ModelReply(lie),
                ModelReply(lie, has_tool_calls=True),
                ModelReply(f"{text} {lie}"),
            ]
        )
    )


options = st.builds(
    AnswerOptions,
    mode=st.sampled_from(["off", "flag", "replace"]),
    quote_calls=st.sampled_from(["one", "two"]),
    context_budget_tokens=st.sampled_from([None, 60, 500]),
)


def confirm():
    return Verdict(
        "v-1", "confirm", "near_miss", RecallSignal("fact", 0.9),
        text=NEAR, evidence=MEMORIES, turn=Turn(QUESTION, "s-1"),
    )  # fmt: skip


def drive(steps, replies):
    try:
        next(steps)
        for reply in replies:
            steps.send(reply)
    except StopIteration as end:
        return end.value
    raise AssertionError("it asks for more calls than it may")


@FAST
@given(quote_lies(), options)
def test_without_a_true_quote_a_liar_releases_nothing(reply, chosen):
    answer = drive(answer_steps(confirm(), question=QUESTION, options=chosen), [reply])
    assert answer.text == NEAR
    assert answer.model_calls == 1
    proved = drive(confirm_steps(confirm(), question=QUESTION, options=chosen), [reply])
    assert (proved.action, proved.text) == ("fallback", NEAR)


@FAST
@given(st.integers(1, 3), st.lists(LIES, min_size=1, max_size=4), options, st.booleans())
def test_behind_a_true_quote_a_liar_releases_only_the_memory(number, lies, chosen, begin_true):
    memory = MEMORIES[number - 1]
    spoken = " ".join(([memory.text] if begin_true else []) + lies)
    replies = [ModelReply(arguments={"memory": number, "quote": memory.text, "answer": spoken})]
    if chosen.quote_calls == "two":
        replies.append(ModelReply(spoken))
    answer = drive(answer_steps(confirm(), question=QUESTION, options=chosen), replies)
    left = answer.text.replace(memory.text, "").replace(f"({memory.source})", "")
    assert left.strip() == ""
    assert not answer.checked.supported


@FAST
@given(st.lists(st.one_of(LIES, st.sampled_from([m.text for m in MEMORIES])), max_size=6))
def test_replacing_releases_nothing_but_what_is_remembered(sentences):
    checked = AnswerCheck(MEMORIES, QUESTION).check(" ".join(sentences))
    left = checked.text
    for memory in MEMORIES:
        left = left.replace(memory.text, "").replace(f"({memory.source})", "")
    assert left.strip() == ""
