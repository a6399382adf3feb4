"""What every fetcher must keep.

In: the fixtures `fetcher`, `prompt`, `missing` and `forbidden`. Out: inherited tests.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from palace.errors import FetchDeniedError, FetchError, FetchNotFoundError
from palace.ports import ArtifactRef, Fetcher


class FetcherContract:
    """What every `Fetcher` keeps.

    A subclass gives the fixtures `fetcher`; `prompt`, which names one artifact that exists;
    `missing`, a reference to an artifact that does not; and `forbidden`, a reference to one
    that the fetcher is not configured for.
    """

    def test_recognises_what_a_prompt_names(self, fetcher: Fetcher, prompt: str) -> None:
        """A reference carries the fetcher's own host, and asking twice gives the same."""
        refs = list(fetcher.recognise(prompt))
        assert len(refs) == 1
        assert refs[0].host == fetcher.host
        assert refs[0].target
        assert list(fetcher.recognise(prompt)) == refs

    def test_recognised_artifact_can_be_fetched(self, fetcher: Fetcher, prompt: str) -> None:
        """An artifact says what it is, where it is and when it was fetched."""
        [ref] = fetcher.recognise(prompt)
        artifact = fetcher.fetch(ref)
        assert artifact.ref.startswith(f"{fetcher.host}:{ref.target}")
        assert artifact.title
        assert "\n" not in artifact.title
        assert artifact.text
        assert artifact.url
        assert artifact.fetched_at.utcoffset() == timedelta(0)
        assert not artifact.truncated

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " \n\t ",
            "good morning",
            "the #tag, and/or 3/4, e.g. v2.0.1 on 2026-03-04 at 12:30",
            "\x00\ufeff\u202e ((( \\ ' \" ` #",
            "ascii, 漢字, emoji 🏛️, \ud800",
            "#" * 30_000,
            "a/" * 30_000,
        ],
    )
    def test_other_text_names_nothing(self, fetcher: Fetcher, text: str) -> None:
        """No text makes `recognise` raise, and none without a name is recognised."""
        assert list(fetcher.recognise(text)) == []

    def test_missing_artifact(self, fetcher: Fetcher, missing: ArtifactRef) -> None:
        """What does not exist is an error of its own, never an artifact."""
        with pytest.raises(FetchNotFoundError) as error:
            fetcher.fetch(missing)
        assert error.value.hint

    def test_forbidden_artifact(self, fetcher: Fetcher, forbidden: ArtifactRef) -> None:
        """What is not configured is denied, with a hint that says what to set."""
        with pytest.raises(FetchDeniedError) as error:
            fetcher.fetch(forbidden)
        assert error.value.hint

    @pytest.mark.parametrize("target", ["", "/", "..", "a/b#1/../..", "\x00", "x" * 10_000])
    @pytest.mark.parametrize("kind", ["issue", "pull", "repo_file", "file", "log", "odd"])
    def test_strange_references_are_fetch_errors(
        self, fetcher: Fetcher, kind: str, target: str
    ) -> None:
        """References are data: whatever they hold, nothing but `FetchError` comes out."""
        with pytest.raises(FetchError):
            fetcher.fetch(ArtifactRef(kind, fetcher.host, target, {}))

    def test_reference_of_another_host(self, fetcher: Fetcher, prompt: str) -> None:
        """A reference made for another fetcher is refused."""
        [ref] = fetcher.recognise(prompt)
        with pytest.raises(FetchError):
            fetcher.fetch(replace(ref, host="another"))
