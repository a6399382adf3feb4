"""What a lexicon file may hold, and what is wrong with one that holds something else.

In: the two YAML documents of one language. Out: what they say, or an error that names the key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, cast, get_args

import yaml

from palace.errors import ConfigError
from palace.types.query import AnswerType, TimeOrder

_Check = Callable[[object], bool]


def _is_words(value: object) -> bool:
    return isinstance(value, str) and bool(value.split())


def _is_list(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_words(entry) for entry in value)


def _is_lists(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_list, value.values()))


_WORDS = (_is_words, "words with blanks between them")
_LIST = (_is_list, "a list of texts in quotes")
_LISTS = (_is_lists, "names, each with a list of texts in quotes")
WordKind = Literal[
    "particles", "enclitics", "stopwords", "soft", "question_words", "relative_dates", "feasts",
    "before_weekdays", "before_names", "everyday_names", "insisting_words", "surname_particles",
    "clock_words", "number_words", "own_number_words", "naming_words", "linking_words",
    "price_words", "paying_words", "reason_words", "first_person", "address", "going_on_words",
    "framing_words", "days_of_week", "doing_words", "counted_ago",
    "asker_words", "leading_words",
]  # fmt: skip
PhraseKind = Literal[
    "courtesies", "insisting", "asking_why", "greetings", "question_openers", "interjections",
    "closings", "to_be_told", "introductions", "who_speaks", "speaking", "framing_phrases",
    "asking_words",
]  # fmt: skip
_FIRST: Mapping[str, tuple[_Check, str]] = {
    "language": _WORDS,
    "about_somebody": (
        lambda value: isinstance(value, str) and "{}" in value,
        "a question with `{}` in place of a name",
    ),
    **dict.fromkeys(
        ("capitals_mark_names", "names_inflect"),
        (lambda value: isinstance(value, bool), "true or false"),
    ),
    **dict.fromkeys(("typical_letters", "own_letters", "own_endings"), _WORDS),
    "alternating": (
        lambda value: _is_words(value) and all(len(pair) == 2 for pair in str(value).split()),
        "pairs of letters with blanks between them",
    ),
    **dict.fromkeys(("scripts", "spelt", "misspelt", "people", "endings"), _LIST),
    **dict.fromkeys(("weekdays", "dated_weekdays"), _LIST),
    **dict.fromkeys(get_args(WordKind), _WORDS),
    **dict.fromkeys(get_args(PhraseKind), _LIST),
    **dict.fromkeys(("tells", "openings", "requests"), _LISTS),
}
_SECOND: Mapping[str, tuple[_Check, str]] = {
    "question_types": _LISTS,
    "labels": _LISTS,
    "follow_up": _LIST,
    "cues": _LISTS,
}
_NAMES = {
    "openings": ("clock", "date", "number", "person", "thing"),
    "tells": ("clock", "date", "money"),
    "requests": tuple(
        "answer_so fill_in keep keep_that keep_whole correct to_the_model as_of believed"
        " believed_at former several points_back of_a_kind one in_time of_now"
        " last_talk left_off open_tasks left_to_do told of_asker"
        " today tomorrow in_two_days yesterday two_days_ago this_week this_month"
        " last_week last_month days_ago weeks_ago months_ago last_year early mid late last".split()
    ),
    "question_types": get_args(AnswerType),
    "labels": ("phone", "e_mail"),
}
# The groups that a pattern must have.
_GROUPS = {
    "people": ("name",),
    "keep_whole": ("statement",),
    "correct": ("new",),
    "as_of": ("cut", "when"),
    "believed": ("belief",),
    "of_a_kind": ("kind",),
    "in_time": get_args(TimeOrder),
}
# What other code asks every language for.
_NEEDED_NAMES = {"openings": _NAMES["openings"], "cues": ("question", "task")}


def read_words(text: str, where: str) -> Mapping[str, Any]:
    """Return the first document of a lexicon: words and requests.

    Args:
        text: YAML.
        where: The name of the file, for errors.

    Raises:
        ConfigError: If a key is missing, unknown or of the wrong kind.
    """
    return _read(text, where, _FIRST, needed=("language", "about_somebody", "stopwords"))


def read_patterns(text: str, where: str) -> Mapping[str, Any]:
    """Return the second document of a lexicon: patterns over a prompt; see `read_words`."""
    return _read(text, where, _SECOND, needed=("question_types", "follow_up", "cues"))


def _read(
    text: str, where: str, known: Mapping[str, tuple[_Check, str]], *, needed: tuple[str, ...]
) -> Mapping[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        node = loader.get_single_node()
        _check_no_key_twice(node, where)
        data = None if node is None else loader.construct_document(node)
    except yaml.YAMLError as error:
        raise ConfigError(f"{where} is no YAML: {error}", hint="compare with en.yaml") from error
    finally:
        loader.dispose()
    if not isinstance(data, dict):
        raise ConfigError(f"{where} holds no keys", hint=f"there are: {', '.join(known)}")
    for key in needed:
        if key not in data:
            raise ConfigError(f"{where} lacks `{key}`", hint=f"add {known[key][1]}")
    for key, value in data.items():
        if key not in known:
            hint = f"there are: {', '.join(known)}"
            raise ConfigError(f"{where} has an unknown key `{key}`", hint=hint)
        is_right, shape = known[key]
        if not is_right(value):
            raise ConfigError(f"`{key}` in {where} is of the wrong kind", hint=f"write {shape}")
        _check_names(key, value, where)
    _check_groups({**data.get("requests", {}), "people": data.get("people", ())}, where)
    return cast(Mapping[str, Any], data)


def _check_names(key: str, names: Collection[str], where: str) -> None:
    for name in names if key in _NAMES else ():
        if name not in _NAMES[key]:
            hint = f"there are: {', '.join(_NAMES[key])}"
            raise ConfigError(f"`{key}` in {where} has an unknown name `{name}`", hint=hint)
    for name in _NEEDED_NAMES.get(key, ()):
        if name not in names:
            hint = f"it needs: {', '.join(_NEEDED_NAMES[key])}"
            raise ConfigError(f"`{key}` in {where} lacks `{name}`", hint=hint)


def _check_groups(patterns: Mapping[str, Sequence[str]], where: str) -> None:
    for name, groups in _GROUPS.items():
        for pattern in patterns.get(name, ()):
            for group in groups:
                if f"(?P<{group}>" not in pattern:
                    message = f"a pattern of `{name}` in {where} has no group `{group}`"
                    raise ConfigError(message, hint=f"put `(?P<{group}>…)` into {pattern!r}")


def _check_no_key_twice(node: yaml.Node | None, where: str) -> None:
    """Refuse a key that is set twice: YAML would take the last and say nothing."""
    if not isinstance(node, yaml.MappingNode):
        return
    for mapping in (node, *(value for _, value in node.value)):
        keys: set[str] = set()
        for key, _ in mapping.value if isinstance(mapping, yaml.MappingNode) else ():
            if str(key.value) in keys:
                line = key.start_mark.line + 1
                message = f"{where} sets `{key.value}` twice, again in line {line} of its document"
                raise ConfigError(message, hint="make one of both")
            keys.add(str(key.value))
