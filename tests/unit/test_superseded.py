"""A page that says it was superseded: its memories are tagged so, and prove nothing any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from palace import Mempalace, RetrievalEnforcer
from palace.store.markdown import parse

OLD = """\
# 3. Use RabbitMQ as the message broker

## Status

{status}

## Decision

We use RabbitMQ as the message broker for all events between services.
"""
NEW = """\
# 7. Use NATS as the message broker

## Status

Accepted

## Decision

We use NATS as the message broker for all events between services.
"""


def tags_of(text: str) -> set[str]:
    return {tag for memory in parse("rooms/adr/0003.md", text).memories for tag in memory.tags}


@pytest.mark.parametrize(
    "status",
    [
        "Superseded by [7. Use NATS](0007-use-nats.md)",
        "superseded by ADR-0007",
        "**Superseded** by [[0007-use-nats]]",
        "Superseded",
        "Accepted\n\nSuperseded by [7. Use NATS](0007-use-nats.md)",
        "- Superseded by ADR 7, 2026-03-01",
    ],
)
def test_a_status_section_that_says_so_tags_every_memory_of_the_page(status: str) -> None:
    assert tags_of(OLD.format(status=status)) == {"superseded"}


@pytest.mark.parametrize(
    "head",
    [
        "---\nstatus: superseded by [ADR-0007](0007-use-nats.md)\n---\n\n# Use RabbitMQ\n\n",
        "---\nstatus: Superseded\n---\n\n# Use RabbitMQ\n\n",
        "# Use RabbitMQ\n\nStatus: superseded by ADR-0007\n\n",
        "# Use RabbitMQ\n\n* Status: superseded by [ADR-0007](0007.md)\n* Date: 2024-02-01\n\n",
        "# Use RabbitMQ\n\n- **Status:** Superseded\n\n",
        "# Use RabbitMQ\n\nstatus:: superseded\n\n",
    ],
)
def test_so_does_a_status_line_or_front_matter(head: str) -> None:
    assert tags_of(head + "We use RabbitMQ.\n") == {"superseded"}


@pytest.mark.parametrize(
    "text",
    [
        OLD.format(status="Accepted"),
        OLD.format(status="Accepted. It supersedes ADR-1."),
        OLD.format(status="Supersedes [1. Use cron](0001.md)"),
        OLD.format(status="Deprecated"),
        "# Notes\n\nThe old plan was superseded by the new one.\n\nWe use NATS.\n",
        "# Queue\n\n## Log\n\nSuperseded by hand twice.\n",
        "---\nstatus: paused\n---\n\nSuperseded drafts are in the bin.\n",
    ],
)
def test_nothing_else_does(text: str) -> None:
    assert "superseded" not in tags_of(text)


def test_tags_of_the_page_stay() -> None:
    head = "---\ntags: [broker]\nstatus: superseded\n---\n\n"
    assert tags_of(head + "We use RabbitMQ.\n") == {"broker", "superseded"}


@pytest.fixture
def root(root: Path) -> Path:
    folder = root / "rooms" / "adr"
    folder.mkdir(parents=True)
    (folder / "0003-use-rabbitmq.md").write_text(
        OLD.format(status="Superseded by [7. Use NATS](0007-use-nats.md)"), "utf-8"
    )
    return root


def test_what_was_superseded_is_pointed_at_and_never_presented(palace: Mempalace) -> None:
    verdict = RetrievalEnforcer(palace).decide("Which message broker do we use?")

    assert verdict.action == "confirm"
    assert "RabbitMQ" in verdict.evidence[0].text
    assert verdict.evidence[0].stale


def test_what_holds_now_stands_before_it_and_is_presented(palace: Mempalace) -> None:
    (palace.root / "rooms" / "adr" / "0007-use-nats.md").write_text(NEW, "utf-8")
    palace.refresh()
    verdict = RetrievalEnforcer(palace).decide("Which message broker do we use?")

    assert verdict.action == "ground"
    assert "NATS" in verdict.evidence[0].text


def test_a_tag_by_hand_does_the_same(palace: Mempalace) -> None:
    (palace.root / "rooms" / "adr" / "0003-use-rabbitmq.md").write_text(
        "# Broker\n\n- We use RabbitMQ as the message broker. #superseded\n", "utf-8"
    )
    palace.refresh()
    assert RetrievalEnforcer(palace).decide("Which message broker do we use?").action == "confirm"


def test_what_corrects_it_is_not_superseded(palace: Mempalace) -> None:
    (palace.root / "rooms" / "adr" / "0003-use-rabbitmq.md").write_text(
        "# Broker\n\n- We use RabbitMQ as the message broker.\n", "utf-8"
    )
    palace.refresh()
    (old,) = palace.memories()
    old = palace.tag(old.id, add=["superseded"])
    palace.correct(old.id, "We use NATS as the message broker.")
    verdict = RetrievalEnforcer(palace).decide("Which message broker do we use?")

    assert verdict.action == "ground"
    assert "NATS" in verdict.evidence[0].text


def test_asked_for_what_was_before_it_is_as_sure_as_it_was(palace: Mempalace) -> None:
    (palace.root / "rooms" / "adr" / "0007-use-nats.md").write_text(NEW, "utf-8")
    palace.refresh()
    verdict = RetrievalEnforcer(palace).decide("Which message broker did we use before?")

    (old,) = (item for item in verdict.evidence if "We use RabbitMQ" in item.text)
    assert old.confidence > 0.5
