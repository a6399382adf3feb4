"""What holds of the check of every answer, whatever stands in it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from palace.enforce.grounding import AnswerCheck
from tests.doubles import evidence

LAWFUL = settings(deadline=None, max_examples=60)
NOTES = (
    "The invoice has the number 48213.",
    "The pump weighs 735 kg.",
    "The night train leaves platform 14 at 22:05.",
)
PAGES = st.lists(
    st.sampled_from(
        [
            "The invoice has the number 48213.",
            "- The pump weighs 735 kg.\r\n",
            "> The **pump** weighs `735 kg`.\n\n",
            "| pump | 735 kg |\n",
            "```\nThe pump weighs 735 kg.\n```\n",
            "\t The night train leaves at 22:05.  \n",
            "The night train leaves platform 14 [3].",
        ]
    ),
    min_size=1,
    max_size=8,
).map("\n\n".join)
MENTIONS = st.sampled_from(
    [
        "It is {}.",
        "Number {}",
        "The number: **{}**",
        "| number | {} |",
        "```\n{}\n```",
        "- {}\n- it",
    ]
)


def check(*notes):
    return AnswerCheck([evidence(text, id=text) for text in notes], "What do I know of it?")


@LAWFUL
@given(PAGES)
def test_what_passes_comes_out_as_it_went_in(answer):
    checked = check(*NOTES).check(answer)
    assert checked.supported
    assert checked.text == answer


@LAWFUL
@given(st.integers(1_000, 10**20), st.data())
def test_an_altered_digit_of_the_only_number_never_passes(number, data):
    written = str(number)
    place = data.draw(st.integers(0, len(written) - 1))
    digit = data.draw(st.sampled_from("123456789").filter(lambda d: d != written[place]))
    altered = written[:place] + digit + written[place + 1 :]
    said = data.draw(MENTIONS)
    memory = check(f"The number is {number} and no other.")
    assert memory.check(said.format(number)).supported
    assert not memory.check(said.format(altered)).supported


@LAWFUL
@given(
    st.permutations(NOTES),
    st.sampled_from(
        ["It weighs {} kg.", "It leaves platform {}.", "The invoice has the number {}."]
    ),
    st.sampled_from(["735", "753", "14", "41", "48213", "48231"]),
)
def test_the_order_of_evidence_makes_no_difference(notes, said, number):
    answer = said.format(number)
    assert check(*notes).check(answer).unsupported == check(*NOTES).check(answer).unsupported
