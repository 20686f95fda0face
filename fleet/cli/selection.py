"""The endpoints that a command's arguments select, and what is printed where they select none."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

import typer

from fleet.findings import FindingsError
from fleet.printers.lines import print_error
from fleet.selection.condition import shown, wrong_selector
from fleet.selection.forms import is_selector, refuse_misspelt
from fleet.selection.paths import UNUSED, Selection
from fleet.selection.selector import Selector
from fleet.spec.membership import ABSENT
from fleet.spec.project import Fleet, Project

ELSEWHERE = {ABSENT, "FL120", UNUSED, "FL506"}
"""The codes of arguments that match nothing in one environment, and may in another."""


def chosen_project(
    fleet: Fleet, env: str, arguments: Sequence[str] | None, *, may_be_empty: bool = False
) -> Project:
    """An environment with the endpoints that the arguments select; without arguments, all.

    Args:
        fleet: The fleet.
        env: The environment.
        arguments: Names and other selectors, as the user wrote them.
        may_be_empty: Whether the command has something to print for no endpoint, such as an empty document.

    Raises:
        FindingsError: a selector is wrong or fits nothing, or the environment is wrong.
        typer.Exit: files were named, or changes asked for, that concern no endpoint; that is not an error.
    """
    if not arguments:
        return fleet.open(env)
    selection = Selector(fleet, env).select(arguments)
    project = replace(fleet.open(env, selection.endpoints), endpoints=tuple(selection.endpoints))
    print_notes(selection, env)
    if not (selection.endpoints or may_be_empty):
        raise typer.Exit
    return project


def deployed_names(fleet: Fleet, env: str, arguments: Sequence[str]) -> list[str]:
    """Names as they are, as a stack needs no spec; what globs and conditions select.

    Raises:
        FindingsError: a selector is wrong or fits nothing, or an argument is a path.
    """
    selector = Selector(fleet, env, files=False)
    names = list[str]()
    for argument in dict.fromkeys(arguments):
        refuse_misspelt(argument)
        if is_selector(argument):
            names += selector.select([argument]).endpoints
        elif {*"/."} & {*argument}:  # no name has either
            hint = "name the endpoints, or select them by a glob or a condition"
            message = f"{shown(argument)} is not an endpoint's name, and this command does not accept paths"
            raise wrong_selector(message, hint)
        else:
            names.append(argument)
    return list(dict.fromkeys(names))


def selection_or_refusal(selector: Selector, argument: str) -> Selection | FindingsError:
    """What an argument selects in one environment, or why it matches nothing there: in another one it may.

    Raises:
        FindingsError: it is wrong in every environment, or this one is.
    """
    try:
        return selector.select([argument])
    except FindingsError as error:
        if {each.code for each in error.findings} <= ELSEWHERE:
            return error
        raise


def print_notes(selection: Selection, env: str) -> None:
    """Print which endpoints are gone, and why nothing is selected if nothing is."""
    for name in selection.gone:
        destroy = f"`fleet destroy --env {env} {shlex.quote(name)}` removes the endpoint, if it is deployed"
        print_error(f"{name} no longer has a spec: {destroy}")
    if selection.endpoints or selection.drafts:
        return
    one = selection.reasons[0] if len(selection.reasons) == 1 else ""
    print_error(f"{env}: no endpoint is selected{f': {one}' if one else ''}")
