"""Web addresses that contain a key: whoever reads one can post there."""

from __future__ import annotations

import re

KEY_IN_URL = "a URL contains its key, which does not belong in a file"
NEW_KEY = "if it was committed, replace its key at the service, because the history has it"
_WEBHOOK = re.compile(
    r"https?://([^/]*\.)?"
    r"(hooks?\.[^/]+|webhooks?\.[^/]+|chat\.googleapis\.com|events\.(eu\.)?pagerduty\.com|api\.telegram\.org"
    r"|api\.(eu\.)?opsgenie\.com|alert\.victorops\.com|maker\.ifttt\.com|[^/]*logic\.azure\.com)(:[0-9]+)?(/|$)"
    r"|https?://[^?#]*/(incoming-?)?web-?hooks?(b2)?/",
    re.IGNORECASE,
)
"""Hosts and paths of chats and paging services, by their documentation."""


def holds_key(url: str) -> bool:
    """Whether an address is that of a known webhook; a long random part may be the name of a document."""
    return _WEBHOOK.match(url) is not None
