"""Text of others in Markdown: without power over the page, its readers and the people that it names."""

from __future__ import annotations

import re

MAX_CHARACTERS = 300
"""Of one text in a line; the details of a fenced block have `MAX_LINE`."""
MAX_LINE = 2_000
_SIGNS = re.compile(r"[\\`*_\[\]<>|~&#]")
_JOINER = "\u2060"
"""Is not seen, and takes no room."""
_REFERENCE = re.compile(
    r'@|:(?=//)|#(?=\w)|[!$%&](?=\d)|~(?=[\w"])|\bwww(?=\.)|\bGH(?=-\d)|[0-9a-f]{6}(?=[0-9a-f])',
    re.IGNORECASE,
)
"""What begins an address, a mention or a reference; GitHub and GitLab look for them even after a backslash.

Source: GitHub Flavored Markdown Spec, "Autolinks (extension)"; GitHub Docs, "Autolinked references and URLs";
GitLab Docs, "GitLab-specific references".
"""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def inline_code(text: str, limit: int = MAX_CHARACTERS) -> str:
    """A text whose parts between single backticks stay code; without power over the page elsewhere."""
    return "".join(
        f"`{part.replace('|', '') or ' '}`" if index % 2 else inline(part, limit)
        for index, part in enumerate(code_parts(clean(text, limit)))
    )


def code_parts(text: str) -> list[str]:
    """A text split at its backticks: every second part is code.

    One part, the whole text, if a backtick has no partner or two are side by side: in Markdown a run of
    backticks is one delimiter, which only a run of the same length closes.
    """
    return [text] if "``" in text or text.count("`") % 2 else text.split("`")


def inline(text: str, limit: int = MAX_CHARACTERS) -> str:
    """A text without power over the page: no markup, HTML, link, reference or mention of a person."""
    separated = _REFERENCE.sub(lambda sign: f"{sign[0]}{_JOINER}", clean(text, limit))
    return _SIGNS.sub(lambda sign: f"\\{sign[0]}", separated)


def clean(text: str, limit: int = MAX_CHARACTERS) -> str:
    """A text on one line without control characters, and shortened."""
    plain = _CONTROL.sub(" ", text)
    return plain if len(plain) <= limit else f"{plain[:limit]}…"
