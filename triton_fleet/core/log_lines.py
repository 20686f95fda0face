"""Lines of a shared container's log, which are JSON, in the form that Triton gives its own."""

from __future__ import annotations

import json


def plain_line(text: str) -> str:
    """The message of a line; of Triton's with its head, and of any other text the text itself."""
    if not text.startswith("{"):
        return text
    try:
        line = json.loads(text)
        level, message = line["level"], line["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return text
    if "where" not in line:
        return f"error: {message}" if level == "error" else str(message)
    quoted = str(message).replace("\n", "\\n")
    return f'{str(level)[:1].upper()}0000 00:00:00.000000 0 {line["where"]}] "{quoted}"'
