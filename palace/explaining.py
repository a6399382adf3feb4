"""A verdict's trace as text for a person: every step, the evidence, and how the best was judged.

In: a trace, fresh or from the journal. Out: lines of text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def explain_trace(trace: Mapping[str, Any]) -> str:
    """Return a verdict's trace, fresh or from the journal, as text for a person."""
    signal = trace["signal"]
    by = f" by {trace['layer']}" if trace.get("layer") else ""
    at = f", {trace['at']}" if trace.get("at") else ""
    prompt = trace.get("prompt")
    cues = ", ".join(signal["cues"]) or "none"
    several = "; asks for several things" if signal.get("several") else ""
    lines = [
        f"{trace['id']}: {trace['action']} ({trace['outcome']}){by}{at}",
        f"  prompt   {prompt!r}" if prompt else "  prompt   (not kept)",
        f"  recall   {signal['kind']}, score {signal['score']:.3f}, {signal['band']}; cues: {cues}"
        f"{several}",
    ]
    for step in trace["walk"]:
        best = "" if step["best"] is None else f", best {step['best']:.3f}"
        why = f" - {step['reason']}" if step["reason"] else ""
        candidates = f"{step['candidates']} candidate{'s' * (step['candidates'] != 1)}"
        lines.append(
            f"  {step['layer']}       {step['outcome']}, {candidates}{best},"
            f" {step['elapsed_ms']:.2f} ms{why}"
        )
    for number, item in enumerate(trace["evidence"], 1):
        lines.extend(_evidence_lines(number, item))
    lines += [f"  [!] {item['source']}: {item['text']}" for item in trace.get("reminders", ())]
    lines += [f"  written  {item['status']}: {item['text']}" for item in trace.get("written", ())]
    # Records of earlier versions have none.
    if trace.get("judgement"):
        lines.extend(_judgement_lines(trace["judgement"]))
    return "\n".join(lines)


def _judgement_lines(judged: Mapping[str, Any]) -> list[str]:
    bars = f"sufficient from {judged['sufficient_at']:.3f}, unclear from {judged['unclear_at']:.3f}"
    lines = [
        f"  judged   {judged['source']} as a {judged['model']}:"
        f" confidence {judged['confidence']:.3f}; {bars}",
        f"           {judged['band']} by the rule: {_RULES.get(judged['rule'], judged['rule'])}",
    ]
    if judged.get("topic") is not None:
        lines.append(
            f"           {judged['topic']:.3f} sure that the first of what was found has to do with"
            f" it; unclear evidence counts from {judged['on_topic_at']:.3f}"
        )
    lines += [
        f"           probability {judged['probability']:.3f} = bias {judged['bias']:+.2f}"
        " and (value -> log-odds):",
        *_part_lines(judged["parts"]),
    ]
    if judged.get("prior"):  # records of earlier versions have none
        lines.append(
            f"           ranked with {judged['prior']:+.2f} for source, strength and importance:"
            " that orders near ties only"
        )
    if judged["attribution"] is not None:
        lines.append(
            f"           times {judged['attribution']:.3f} for whose it is (value -> log-odds):"
        )
        lines.extend(_part_lines(judged["attribution_parts"]))
    return lines


def _part_lines(parts: Mapping[str, Sequence[float]]) -> list[str]:
    return [
        f"             {share:+6.2f}  {name} {value:.2f}" for name, (value, share) in parts.items()
    ]


_RULES: Mapping[str, str] = {
    "bars": "the confidence against the bars",
    "stranger": "nobody the question names is known here",
    "name missing": (
        "a statement that lacks a name of the question is never sufficient, nor is anything where"
        " an unknown one stands in front"
    ),
    "answer missing": (
        "a statement that tells nothing of the kind that is asked for (a time, a number, a price,"
        " somebody, a name) proves none"
    ),
    "other date": "what happened at another time is never sufficient",
    "other number": "what is told of another number of the same is never sufficient",
    "names present": "a statement that holds every name of the question is at least unclear",
    "of the day": "all that is asked is what a day holds, and it is of that day",
    "off topic": "the nearest of what was found has nothing to do with the question",
    "own words": "what only shares words with the turn before is never sufficient",
    "mended word": "what rests on a word that was misspelt is never sufficient",
    "dangling": "what answers a question that goes on with nothing is never sufficient",
    "near only": "what only comes near to the words of the question is never sufficient",
    "meaning": "what is near by meaning is at least unclear",
    "procedure": "a playbook tells how a thing is done and proves no fact",
    "former": "what holds now proves nothing of what was the case before",
    "retired": "what began after the time asked about, was retired or superseded proves nothing",
    "left out": "what vanished, or is of a source below `enforce.min_trust`, is no evidence",
}


def _evidence_lines(number: int, item: Mapping[str, Any]) -> list[str]:
    when = f", as of {item['as_of']}" if item["as_of"] else ""
    stale = ", may be out of date" if item["stale"] else ""
    if item.get("state_of"):
        stale += f", state of {item['state_of'][:10]}"
    lines = [
        f"  [{number}] {item['layer']} {item['source']}{when}{stale},"
        f" confidence {item['confidence']:.3f}: {item['text']}"
    ]
    if item.get("scores"):  # the journal does not keep them
        parts = ", ".join(f"{name} {value:.2f}" for name, value in item["scores"].items())
        lines.append(f"      {parts}")
    return lines
