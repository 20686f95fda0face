"""Text of files and names of others, made safe for a terminal and a log."""

from __future__ import annotations


def visible(text: str) -> str:
    r"""The text with everything that does not print as `\x1b`, `\u202e` or the like.

    Control characters drive the terminal, and marks of direction show another order than there is.
    Python's `str.isprintable` counts both among what does not print, and every space but the plain one.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()
