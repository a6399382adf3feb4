"""Prompts that a machine wrote are recognised by their shape, people's are not."""

from __future__ import annotations

import json
import time

import pytest

from palace.recall.shape import LOOKED_AT_CHARS, code_share, machine_reason

MACHINE = {
    "": "empty",
    " \n\t": "empty",
    '{"status": "ok"}': "json",
    "[1, 2, 3]": "json",
    '{"status": "ok", "items": [{"a": 1}, ': "json",
    'Tool result: {"status": "ok"}': "json",
    'function output (calendar.search):\n[{"at": "16:20"}]': "json",
    'Observation: {"rows": 3, "items": [': "json",
    "<notification>done</notification>": "markup",
    '<?xml version="1.0"?><a/>': "markup",
    "<div class='x'>hi</div>": "markup",
    "[notification] the build is done": "notification",
    "[System reminder] stand up": "notification",
    "What was it? <memory-context>old</memory-context>": "own_evidence",
    "< / MEMORY-CONTEXT >": "own_evidence",
    "2026-03-14 09:30:00 INFO started\n2026-03-14 09:30:01 INFO ready": "log",
    "ERROR: the worker died": "log",
    "INFO asked: why?\nERROR db: retry?": "log",
    "diff --git a/x b/x\n--- a/x\n+++ b/x": "diff",
    'Traceback (most recent call last):\n  File "a.py", line 1': "trace",
    "make: *** [all] Error 2\nmake: leaving": "tool_output",
    "[tool_result] ok": "notification",
    "[Events] three are new": "notification",
    "[[1, 2], [3, ": "json",
    "=====\nFAILED test_app.py\n=====": "tool_output",
    "-----\n-----": "tool_output",
    "app.py:14:2: unused name\napp.py:15:2: unused name": "tool_output",
    "From: a@example.org\nSubject: keys\n\nHi all, do we know who has the key?\n\nBest, A": "mail",
    "| who | what |\n|---|---|\n| Mira | key |": "table",
    "def last(boat):\n    # when did we last paint it?\n    return find(boat)[-1]": "code",
}
HUMAN = [
    "Which kettle did we buy?",
    "ERROR: did we see this one before?",
    "WARNING: the boiler leaks again, what did we do last time?",
    "2026-03-14 09:30: what did we decide?",
    "KeyError: 'port' - how did we fix this last time?",
    "ERROR: the worker died\nHow did we fix this last time?",
    'Traceback (most recent call last):\n  File "a.py", line 1\n\nWhat was it that time?',
    "ERROR: the worker died\nhow did we fix this last time",
    "TypeError: no port\n    at list (list.ts:41)\nthird time now, what was it before that",
    "$ 40 for the plumber\n$ 20 for the keys\nWhat did we pay in all?",
    "what does [WIP] mean in our titles?",
    "I saw ERROR in the log, what did we do last time?",
    "When did we set max_size = 3?",
    "Is 2 < 3 and 4 > 3?",
    "a <b and c> d, did we decide that?",
    "[x] is done, right?",
    "[Toolbox](notes/toolbox.md): where did we put it?",
    "[Event](https://example.org/e) who pays for it?",
    "[Botany] where are the seeds?",
    "[Information] when did we move?",
    "[[Kettle]] when did we buy it?",
    "[[2026-03-14]] what did we decide?",
    "-----\nWhen did we move?\n-----",
    "=====\nWhen did we move?",
    "数据库在哪里?",
    "What did we decide on 2026-03-14?",
    "Did we see this before?\n\n2026-03-14 09:30:00 ERROR no port\n2026-03-14 09:30:01 INFO up",
    "Which of these did Mira keep?\n| who | what |\n|---|---|",
    "did we answer this?\n\nFrom: a@example.org\nSubject: keys\n\nHi all",
    "From: a@example.org\nSubject: keys\n\nHi all\n\nDid we answer this?",
    "From: whoever we asked\nwhat was the price",
    "when did we change this: int x = 3;\nint y = 4;",
    "class starts at nine\nwe bring the keys",
    "- buy milk\n- call Mira\nwhich of these did we do?",
    "?",
    "{ I never closed this brace",
    'which result: {"a": 1} or {"a": 2} did we keep?',
    "Tool results: which of them did we keep?",
    "Observation: [the kettle] is where we left it, right?",
]


@pytest.mark.parametrize("prompt", MACHINE)
def test_machine_prompts(prompt: str) -> None:
    assert machine_reason(prompt) == MACHINE[prompt]


@pytest.mark.parametrize("prompt", HUMAN)
def test_human_prompts(prompt: str) -> None:
    assert machine_reason(prompt) is None


def test_code_share() -> None:
    assert code_share("Which kettle did we buy?") == 0.0
    assert code_share("one line only {") == 0.0
    assert code_share("def f():\n    return x;\nimport os") == 1.0
    assert code_share("why does this fail?\n```\nx y\n```") == 0.5
    assert 0 < code_share("what is this?\nconst a = 1;\nthanks") < 1


@pytest.mark.parametrize(
    "prompt",
    [
        "[" * 100_000,
        "{" + '"a": {' * 50_000,
        "<a " * 100_000,
        "\n" * 200_000 + "x",
        "a" * 500_000,
        "[warn" + "x" * 100_000,
        json.dumps({"k": "v" * 200_000}),
        " at x(" * 50_000,
    ],
)
def test_hostile_shapes_are_judged_quickly(prompt: str) -> None:
    started = time.process_time()
    machine_reason(prompt)
    assert 0 <= code_share(prompt) <= 1
    assert time.process_time() - started < 2


def test_what_stands_far_below_does_not_matter() -> None:
    prompt = "Which kettle did we buy?\n" + "words and words\n" * LOOKED_AT_CHARS
    assert machine_reason(prompt + "<memory-context>") is None
