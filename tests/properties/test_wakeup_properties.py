"""Whatever there is to say, a wake-up never exceeds its budget."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from palace.enforce.markers import harmless, indented
from palace.enforce.wakeup import RoomDigest, WakeUpSources, compose_wake_up
from palace.text import estimate_tokens
from palace.text.moments import utc_now
from palace.types.memory import Memory
from palace.types.session import ScratchEntry
from tests.doubles import memory
from tests.properties.strategies import any_text

texts = st.one_of(
    any_text, st.text(alphabet="数据 \n", max_size=300), st.text(min_size=300, max_size=500)
)


def numbered(kind: str, found: list[str]) -> tuple[Memory, ...]:
    return tuple(memory(text, n, id=f"m-{kind}-{n}") for n, text in enumerate(found))


def ranked(room: str, found: list[str]) -> list[tuple[str, Callable[[], str]]]:
    return [(f"m-{room}-{n}", partial(str, text)) for n, text in enumerate(found)]


rooms = st.lists(
    st.tuples(
        st.sampled_from(["kitchen", "attic", "garden/beds", "数据"]),
        st.lists(texts, max_size=6),
        st.integers(min_value=0, max_value=5),
        st.floats(min_value=0, max_value=1),
    ),
    max_size=4,
    unique_by=lambda room: room[0],
).map(
    lambda found: tuple(
        RoomDigest(n, len(t), partial(ranked, n, t), uses, recency) for n, t, uses, recency in found
    )
)
sources = st.builds(
    WakeUpSources,
    identity=texts,
    rooms=rooms,
    promoted=st.lists(texts, max_size=4).map(lambda found: numbered("promoted", found)),
    notes=st.lists(texts, max_size=4).map(
        lambda found: tuple(
            ScratchEntry(f"s-{n}", "s1", text, utc_now(), 60.0) for n, text in enumerate(found)
        )
    ),
)


@settings(deadline=None, max_examples=60)
@given(
    sources,
    st.integers(min_value=0, max_value=400),
    st.sampled_from([None, "", "garden", "数据"]),
    st.integers(min_value=0, max_value=4),
    st.integers(min_value=0, max_value=6),
)
def test_the_budget_is_never_exceeded(
    found: WakeUpSources, budget: int, project: str | None, max_rooms: int, per_room: int
) -> None:
    page = compose_wake_up(
        "s1", found, budget_tokens=budget, project=project, max_rooms=max_rooms, memories_per_room=per_room
    )  # fmt: skip
    assert page.used_tokens == estimate_tokens(page.text) <= budget
    assert estimate_tokens(indented(page.text)) <= budget
    assert len(page.rooms) <= max_rooms
    assert len(set(page.included)) == len(page.included)
    assert all("\n" not in line for line in page.left_out)
    everything = {"identity", *(e.id for e in found.notes), *(m.id for m in found.promoted)}
    everything |= {identifier for r in found.rooms for identifier, _ in r.ranked()}
    assert set(page.included) <= everything


@settings(deadline=None, max_examples=30)
@given(sources)
def test_with_room_enough_nothing_important_is_left_out(found: WakeUpSources) -> None:
    page = compose_wake_up("s1", found, budget_tokens=10**6)
    assert {e.id for e in found.notes} <= set(page.included)
    assert {m.id for m in found.promoted} <= set(page.included)
    # Hidden characters are not shown, so an identity of nothing else has nothing to show.
    assert ("identity" in page.included) == bool(harmless(found.identity.strip()))
    assert not [line for line in page.left_out if "did not fit" in line]
