"""What an argument looks like, before a file of the fleet is read: a name, or one of the other selectors."""

from __future__ import annotations

import re

from triton_fleet.selection.condition import GLOB, read_condition, shown, wrong_selector

CHANGED = "changed:"
AND = ","
_SPACED = re.compile(r"(?<!\s)\s*(,|!=|<=|>=|=|<|>)\s*")
"""A comma or an operator, with the spaces that some write around it; many spaces are looked at once."""


def is_selector(argument: str) -> bool:
    """Whether an argument is a glob, or has a condition or a change in it, so that it is not a plain name."""
    terms = argument.split(AND)
    return bool(GLOB & {*argument}) or any(term.startswith(CHANGED) or read_condition(term) for term in terms)


def is_condition(term: str) -> bool:
    """Whether a part of a selector is a change or a condition by a key that specs have."""
    condition = read_condition(term)
    return term.startswith(CHANGED) or (condition is not None and condition.is_known)


def refuse_selector(argument: str) -> None:
    """Refuse what may match several endpoints, for a command that takes one.

    Raises:
        FindingsError: it is a glob, a condition or a change, or was meant as one.
    """
    if is_selector(_without_spaces(argument)):
        hint = "`fleet ls --env ENV SELECTOR` lists the endpoints that a selector matches"
        raise wrong_selector(f"{shown(argument)}: this command takes the name of one endpoint", hint)


def refuse_spaces(argument: str) -> None:
    """Refuse a selector with spaces around an operator or a comma.

    Raises:
        FindingsError: it is such a selector.
    """
    tight = _without_spaces(argument)
    if tight != argument and any(map(is_condition, tight.split(AND))):
        hint = f"write it without spaces: {shown(tight)}"
        raise wrong_selector(f"{shown(argument)}: a selector has no spaces between its parts", hint)


def _without_spaces(argument: str) -> str:
    return _SPACED.sub(r"\1", argument.strip())
