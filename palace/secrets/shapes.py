"""Keys and tokens whose form gives them away: prefix and length, as their issuers document them.

In: any text. Out: where such keys stand; examples of documentation and hyphenated words are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import regex

from palace.secrets.findings import Finding
from palace.secrets.values import EXAMPLE

_L = r"(?<![A-Za-z0-9])"
_R = r"(?![A-Za-z0-9])"
# No key of these is shorter, and none holds a blank.
_SHORTEST_CHARS = 13

# (kind, literals of which one must occur, pattern); the literals keep ordinary text quick, and a
# pattern is compiled for the first text that holds one.
_SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = tuple(
    (kind, tuple(literals.split()), pattern)
    for kind, literals, pattern in (
        ("aws-access-key", "AKIA ASIA", rf"{_L}(?:AKIA|ASIA)[A-Z0-9]{{16}}{_R}"),
        ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_L}gh[pousr]_[A-Za-z0-9]{{30,}}+"),
        ("github-token", "github_pat_", rf"{_L}github_pat_\w{{22,}}+"),
        ("gitlab-token", "gl", rf"{_L}gl[a-z]{{2,6}}-[\w-]{{20,}}+(?:\.[\w-]++)*+"),
        ("anthropic-key", "sk-ant-", rf"{_L}sk-ant-[\w-]{{16,}}+"),
        ("openai-key", "sk-", rf"{_L}sk-[\w-]{{20,}}+"),
        ("google-api-key", "AIza", rf"{_L}AIza[\w-]{{35}}+"),
        ("google-oauth-token", "ya29. GOCSPX-", rf"{_L}(?:ya29\.|GOCSPX-)[\w-]{{20,}}+"),
        ("slack-token", "xox xapp-", rf"{_L}(?:xox[abeoprs]|xapp)-[\w.-]{{10,}}+"),
        (
            "slack-webhook",
            "hooks.slack",
            r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[\w/-]{20,}+",
        ),
        ("stripe-key", "sk_ rk_", rf"{_L}[sr]k_(?:live|test)_[A-Za-z0-9]{{10,}}+"),
        ("stripe-key", "whsec_", rf"{_L}whsec_[A-Za-z0-9+/=]{{20,}}+"),
        ("npm-token", "npm_", rf"{_L}npm_[A-Za-z0-9]{{36,}}+"),
        ("pypi-token", "pypi-", rf"{_L}pypi-(?:AgE[\w-]{{16,}}+|[\w-]{{60,}}+)"),
        ("sendgrid-key", "SG.", rf"{_L}SG\.[\w-]{{16,}}+\.[\w-]{{16,}}+"),
        ("twilio-key", "SK AC", rf"{_L}(?:SK|AC)[0-9a-f]{{32}}{_R}"),
        ("telegram-bot-token", ":", r"(?:(?<![\w:.-])|(?<=\bbot))\d{8,10}+:[\w-]{35}+(?![\w:-])"),
        (
            "discord-token",
            "M N O",
            r"(?<![\w.-])[MNO][\w-]{22,28}+\.[\w-]{6,7}+\.[\w-]{27,40}+(?![\w.-])",
        ),
        (
            "discord-webhook",
            "/api/webhooks/",
            r"discord(?:app)?\.com/api/webhooks/\d++/[\w-]{20,}+",
        ),
        ("jwt", "eyJ", rf"{_L}eyJ[\w-]{{8,}}+\.eyJ[\w-]{{8,}}+\.[\w-]{{8,}}+"),
        ("jwt", "eyJ", rf"{_L}eyJ[\w-]{{12,}}+\.eyJ[\w-]{{12,}}+"),
        ("huggingface-token", "hf_", rf"{_L}hf_[A-Za-z0-9]{{30,}}+"),
        ("digitalocean-token", "_v1_", rf"{_L}do[opr]_v1_[0-9a-f]{{64}}"),
        ("shopify-token", "shp", rf"{_L}shp(?:at|ca|pa|ss)_[0-9a-fA-F]{{32}}"),
        ("docker-token", "dckr_", rf"{_L}dckr_(?:pat|oat)_[\w-]{{20,}}+"),
        ("notion-token", "ntn_", rf"{_L}ntn_[A-Za-z0-9]{{40,}}+"),
        ("notion-token", "secret_", rf"{_L}secret_[A-Za-z0-9]{{43}}{_R}"),
        ("replicate-token", "r8_", rf"{_L}r8_[A-Za-z0-9]{{37}}{_R}"),
        ("sentry-token", "sntry", rf"{_L}sntry[su]_[\w+/=-]{{40,}}+"),
        ("linear-key", "lin_api_", rf"{_L}lin_api_[A-Za-z0-9]{{32,}}+"),
        ("databricks-token", "dapi", rf"{_L}dapi[0-9a-f]{{32}}(?:-\d)?{_R}"),
        ("groq-key", "gsk_", rf"{_L}gsk_[A-Za-z0-9]{{40,}}+"),
        ("xai-key", "xai-", rf"{_L}xai-[A-Za-z0-9]{{60,}}+"),
        ("vault-token", "hvs. hvb.", rf"{_L}hv[sb]\.[\w-]{{20,}}+"),
        ("age-key", "AGE-SECRET-KEY-", rf"{_L}AGE-SECRET-KEY-1[A-Z0-9]{{40,}}+"),
        ("mailchimp-key", "-us", rf"{_L}[0-9a-f]{{32}}-us\d{{1,2}}{_R}"),
        ("artifactory-key", "AKC", rf"{_L}AKC[A-Za-z0-9]{{10,}}+"),
        ("square-key", "sq0", rf"{_L}sq0[a-z]{{3}}-[\w\\-]{{22,}}+"),
        ("softlayer-key", "softlayer", r"(?<=softlayer\.com/soap/v\d(?:\.\d)?/)[0-9a-z]{64}(?!\w)"),
        ("mailgun-key", "key-", rf"(?<![\w-])key-[0-9a-f]{{32}}{_R}"),
        ("grafana-token", "glsa_ glc_", rf"{_L}gl(?:sa|c)_[\w+/=]{{32,}}+"),
        ("new-relic-key", "NRAK-", rf"{_L}NRAK-[A-Z0-9]{{27}}{_R}"),
        ("postman-key", "PMAK-", rf"{_L}PMAK-[0-9a-f]{{24}}-[0-9a-f]{{34}}"),
        ("atlassian-token", "ATATT3", rf"{_L}ATATT3[\w=+/-]{{50,}}+"),
        ("supabase-token", "sbp_", rf"{_L}sbp_[0-9a-f]{{40}}{_R}"),
        ("figma-token", "figd_", rf"{_L}figd_[\w-]{{40,}}+"),
        ("doppler-token", "dp.", rf"{_L}dp\.(?:pt|ct|sa|st\.[\w-]++)\.[A-Za-z0-9]{{40,}}+"),
        ("pulumi-token", "pul-", rf"{_L}pul-[0-9a-f]{{40}}{_R}"),
        ("airtable-token", "pat", rf"{_L}pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}{_R}"),
        ("terraform-token", ".atlasv1.", rf"{_L}[A-Za-z0-9]{{14}}\.atlasv1\.[\w-]{{60,}}+"),
        ("rubygems-key", "rubygems_", rf"{_L}rubygems_[0-9a-f]{{48}}{_R}"),
        ("paypal-token", "access_token$", rf"{_L}access_token\$\w++\$\w++\$[0-9a-f]{{32}}{_R}"),
        ("tailscale-key", "tskey-", rf"{_L}tskey-[a-z]{{2,10}}-[\w-]{{16,}}+"),
        ("azure-key", "Key=", r"(?<=\b(?:Account|SharedAccess)Key=)[A-Za-z0-9+/]{40,}+={0,2}"),
        ("azure-key", "sig=", r"(?<=[?&]sig=)[A-Za-z0-9%+/_-]{40,}+={0,2}"),
    )
)
_LITERALS = tuple(
    (literal, number) for number, (_, literals, _) in enumerate(_SHAPES) for literal in literals
)


@lru_cache(maxsize=128)
def _shape(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)


def find_shapes(text: str) -> Iterator[Finding]:
    """Find the keys that are known by their form, kind by kind."""
    long = " ".join([word for word in text.split() if len(word) >= _SHORTEST_CHARS])
    if not long:
        return
    for number in sorted({number for literal, number in _LITERALS if literal in long}):
        kind, _, pattern = _SHAPES[number]
        for found in _shape(pattern).finditer(text):
            if _is_plausible_key(found[0], kind):
                yield Finding(kind, found.start(), found.end())


def _is_plausible_key(value: str, kind: str) -> bool:
    """Whether a shape is a key rather than a documented example or hyphenated words."""
    if EXAMPLE.search(value) or set(value[-12:]) <= set("xX0*._-"):
        return False
    has_digit = any(c.isdigit() for c in value)
    has_upper = any(c.isupper() for c in value)
    if kind in ("openai-key", "gitlab-token", "anthropic-key"):
        run = max(regex.findall(r"[A-Za-z0-9]+", value[3:]), key=len, default="")
        return len(run) >= 20 or (len(run) >= 8 and has_digit and has_upper)
    if kind in ("telegram-bot-token", "discord-token", "slack-token"):
        return has_digit and (has_upper or kind == "slack-token")
    return True
