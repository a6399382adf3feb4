"""Generated palaces whose words are spread as in real notes, and questions to ask them.

In: a number of memories and a seed. Out: Markdown drawers on disk, and questions of several kinds.
Nothing is taken from any text: the 15,000 most frequent words are those of the table of related
words, in an order of chance, so that looking for related ones costs what it does in English; all
others are made of syllables.

Source: term frequencies follow Zipf's law as corrected by Mandelbrot, f(r) ~ 1 / (r + 2.7) ^ 1.07,
from rank 20 on, because function words stand before; the vocabulary grows with the text as Heaps
observed, because rare ranks are drawn late.
"""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

from palace.recall.related import listed_tokens

MEMORIES_A_DRAWER = 200
DRAWERS_A_ROOM = 25
_VOCABULARY = 400_000
_FIRST_RANK, _SHIFT, _EXPONENT = 20, 2.7, 1.07
_SHORT_WORDS = 3000
_REAL_WORDS = 15_000
_TOPIC_WORDS = 60
_TOPIC_SHARE = 0.35
_NAME_SHARE = 0.35
_NUMBER_SHARE = 0.3
_ONSETS = "b br c ch d dr f fl g gr h j k l m n p pl pr qu r s sh sk st t tr v w z".split()
_VOWELS = "a e i o u ai ea ee oa ou".split()
_CODAS = ["", "", "", "l", "m", "n", "r", "t", "nd", "rk", "st", "x"]
_OPENINGS = (
    "We {v} the", "The {n} was {v} because of the", "{P} {v} a", "Since then the {n} has",
    "Nobody {v} the", "After the {n} we {v} the", "{P} and {Q} agreed that the",
    "We used the {n} for the",
)  # fmt: skip
_LINKS = ("of the", "with a", "and the", "for our", "in the", "by the", "before the", "to a")
# Syllables that happen to be words of the frame.
_ENGLISH = frozenset("we do go he she for to a no be me so near his has".split())
_TEMPLATES = {
    "named": "What did {P} say about the {a} {b}?",
    "answerable": "When did we {a} the {b} {c}?",
    "frequent": "Which {x} did we use for the {y} and the {z}?",
    "half_known": "Why did we put the {a} in the {x} by the {u}?",
    "unknown_name": "Where did {U} go with the {x} last week?",
    "no_hit": "What was the {u} of our {v} called?",
    "task": "Write a short {x} about the {y} of a {z}, please.",
}
# How often each kind of question is asked, in the order of the templates.
_MIX = (30, 30, 12, 10, 8, 5, 5)


class Words:
    """A vocabulary of made-up words, drawn as often as their rank says.

    Args:
        seed: The same seed gives the same words.
        size: How many words there are.
    """

    def __init__(self, seed: int, *, size: int = _VOCABULARY) -> None:
        rng = random.Random(seed)
        seen = dict.fromkeys(rng.sample(_real_words(), _REAL_WORDS))
        while len(seen) < size:
            short = len(seen) < _REAL_WORDS + _SHORT_WORDS
            word = _word(rng, syllables=(1, 2) if short else (2, 3))
            if word not in _ENGLISH:
                seen.setdefault(word)
        self.ranked = list(seen)
        self.known = frozenset(seen)
        ranks = range(_FIRST_RANK, _FIRST_RANK + size)
        weights = (1.0 / (rank + _SHIFT) ** _EXPONENT for rank in ranks)
        self._cumulated = list(itertools.accumulate(weights))
        names = (_word(rng).title() for _ in range(4000))
        self.names = [name for name in dict.fromkeys(names) if name.lower() not in seen]
        self.people = frozenset(self.names)

    def draw(self, rng: random.Random) -> str:
        """Return one word, frequent ones more often."""
        return self.ranked[bisect.bisect(self._cumulated, rng.random() * self._cumulated[-1])]

    def name(self, rng: random.Random) -> str:
        """Return one name; a few people are named most of the time."""
        return self.names[int(len(self.names) * rng.random() ** 3)]

    def unknown(self, rng: random.Random) -> str:
        """Return a word that no memory holds."""
        return _word(rng) + "zzyx"


def _real_words() -> list[str]:
    """Return the words of the table but for those of the frame."""
    frame = " ".join((*_OPENINGS, *_LINKS, *_TEMPLATES.values())).lower().split()
    return [word for word in listed_tokens("en") if word not in _ENGLISH.union(frame)]


def _word(rng: random.Random, *, syllables: Sequence[int] = (2, 3)) -> str:
    return "".join(
        rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS)
        for _ in range(rng.choice(syllables))
    )


class Topic:
    """What one drawer is about: words that keep coming back, and other words for the same."""

    def __init__(self, words: Words, rng: random.Random) -> None:
        self.people = [words.name(rng) for _ in range(5)]
        self.words = [
            words.ranked[int(len(words.ranked) * rng.random() ** 4)] for _ in range(_TOPIC_WORDS)
        ]

    def draw(self, rng: random.Random) -> str:
        """Return one word of the topic; its first words are the usual ones."""
        return self.words[int(_TOPIC_WORDS * rng.random() ** 2)]


def statement(words: Words, topic: Topic, rng: random.Random) -> str:
    """Return one sentence of 8 to 40 words about a topic."""

    def content() -> str:
        return topic.draw(rng) if rng.random() < _TOPIC_SHARE else words.draw(rng)

    opening = rng.choice(_OPENINGS).format(
        v=content() + "ed", n=content(), P=rng.choice(topic.people), Q=words.name(rng)
    )
    parts = [opening, content()]
    for _ in range(min(int(rng.expovariate(1 / 4)) + 1, 14)):
        parts += [rng.choice(_LINKS), content()]
    if rng.random() < _NAME_SHARE:
        parts += ["with", words.name(rng)]
    if rng.random() < _NUMBER_SHARE:
        parts += ["for", f"{int(rng.paretovariate(0.6))}", "euros"]
    return " ".join(parts) + "."


def drawers(memories: int, *, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Yield (path in the palace, statements) of a palace of so many memories.

    Args:
        memories: How many statements altogether, >= 1.
        seed: The same seed gives the same palace; a smaller palace is the beginning of a larger.
    """
    words, rng = Words(seed), random.Random(seed + 1)
    for number in itertools.count():
        left = memories - number * MEMORIES_A_DRAWER
        if left <= 0:
            return
        topic = Topic(words, rng)
        path = f"rooms/room-{number // DRAWERS_A_ROOM:04}/drawer-{number:05}.md"
        yield path, [statement(words, topic, rng) for _ in range(min(left, MEMORIES_A_DRAWER))]


def write_palace(root: Path, memories: int, *, seed: int) -> None:
    """Write a palace's Markdown; a statement has the comment that `remember` would have written."""
    start = datetime(2024, 1, 1, tzinfo=timezone.utc)
    for path, statements in drawers(memories, seed=seed):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        title = file.stem
        lines = [f"# {title}", ""]
        for number, text in enumerate(statements):
            created = start + timedelta(minutes=len(lines) + 400 * number)
            stamp = f"{created:%Y-%m-%dT%H:%M:%SZ}"
            lines.append(f"- {text}")
            lines.append(
                f"  <!-- memory id=m-{title[-5:]}{number:08}{'0' * 13} kind=fact source=user"
                f" confidence=1 created={stamp} -->"
            )
        file.write_text("\n".join(lines) + "\n", "utf-8")


def questions(sample: Sequence[str], number: int, *, seed: int) -> list[str]:
    """Return questions of all kinds in the usual mix.

    Args:
        sample: Statements that stand in the palace.
        number: How many questions.
        seed: The seed the palace was made with.
    """
    words, rng = Words(seed), random.Random(seed + 7)
    chosen = rng.choices(list(_TEMPLATES.values()), weights=_MIX, k=number)
    return [_filled(template, rng.choice(sample), words, rng) for template in chosen]


def _filled(template: str, statement: str, words: Words, rng: random.Random) -> str:
    said = [w.strip(".") for w in statement.split()]
    names = [w for w in said if w[0].isupper() and w in words.people] or [words.name(rng)]
    content = [w for w in said if w.islower() and w.removesuffix("ed") in words.known]
    a, b, c = (rng.choice(content or ["plan"]) for _ in range(3))
    x, y, z = (words.ranked[rng.randrange(300)] for _ in range(3))
    return template.format(
        P=rng.choice(names), U=words.unknown(rng).title(), a=a, b=b, c=c, x=x, y=y, z=z,
        u=words.unknown(rng), v=words.unknown(rng),
    )  # fmt: skip
