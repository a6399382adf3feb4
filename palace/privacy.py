"""What may be written, and what may be shown: secrets and personal data, as the settings say.

In: any text. Out: the text as it may be kept or shown, or an error that names kind and place. The
same filter stands before every write and before every injection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from palace.errors import PersonalDataRefusedError, SecretRefusedError
from palace.kept import Kept
from palace.secrets import find_secrets, redact
from palace.secrets.findings import describe

# What is found is shown again and again. What holds something to be taken out is not kept.
_KEPT_CHARS = 2000
_shown_whole: Kept[tuple[bool, str], bool] = Kept(1024)


@dataclass(frozen=True, slots=True)
class PrivacyFilter:
    """The filter at both boundaries.

    Attributes:
        secrets: A text with a secret is refused, or written without it. Shown never.
        personal_data: `off` leaves it alone; `redact` writes and shows texts without it; `block`
            refuses to write them, and shows without it what was there before.
    """

    secrets: Literal["refuse", "redact"] = "refuse"
    personal_data: Literal["off", "redact", "block"] = "off"

    def refusal(self, text: str) -> str:
        """Return why a text may not be written, with kinds and places, or ""."""
        findings = find_secrets(text) if self.secrets == "refuse" else ()
        if findings:
            return f"it holds a secret: {describe(findings, text)}"
        if self.personal_data != "block":
            return ""
        from palace.secrets.personal_data import find_personal_data

        findings = find_personal_data(text)
        return f"it holds personal data: {describe(findings, text)}" if findings else ""

    def name_refusal(self, name: str) -> str:
        """Return why a tag, a key or another name may not be written, or "".

        A name is refused where a text would be redacted: without a part it is another name.
        """
        return PrivacyFilter("refuse", self.personal_data).refusal(name)

    def check_name(self, name: str) -> None:
        """Refuse a name that may not be written.

        Raises:
            SecretRefusedError: If it holds a secret.
            PersonalDataRefusedError: If it holds personal data and that is blocked.
        """
        _refuse(self.name_refusal(name))

    def written(self, text: str) -> str:
        """Return a text as it may be written.

        Raises:
            SecretRefusedError: If it holds a secret, unless secrets are redacted.
            PersonalDataRefusedError: If it holds personal data and that is blocked.
        """
        _refuse(self.refusal(text))
        return self.shown(text)

    def shown(self, text: str) -> str:
        """Return a text as it may be shown to a model; doing it twice changes nothing more."""
        looked_at = self.personal_data != "off", text
        if _shown_whole.get(looked_at):
            return text
        shown = redact(text)
        if self.personal_data != "off":
            from palace.secrets.personal_data import redact_personal_data

            shown = redact_personal_data(shown)
        if shown == text and len(text) <= _KEPT_CHARS:
            _shown_whole.put(looked_at, True)
        return shown


def _refuse(reason: str) -> None:
    if reason.startswith("it holds a secret"):
        raise SecretRefusedError(
            f"refused, nothing was written: {reason}",
            hint="remember where the secret is kept instead of the secret itself; with"
            " write.secrets: redact the text is kept without it",
        )
    if reason:
        raise PersonalDataRefusedError(
            f"refused, nothing was written: {reason}",
            hint="leave it out, or set write.personal_data to redact or off",
        )
