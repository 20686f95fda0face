"""The endpoints that a command's arguments select, and the notes that are printed where they select none."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

import typer

from triton_fleet.findings import FindingsError
from triton_fleet.printers.lines import print_error
from triton_fleet.project.membership import ABSENT
from triton_fleet.project.project import Fleet, Project
from triton_fleet.selection.condition import AND, CHANGED, is_selector, quote, refuse_spaces, wrong_selector
from triton_fleet.selection.paths import UNUSED_CODE, Selection
from triton_fleet.selection.selector import Selector

ELSEWHERE = {ABSENT, "FL120", UNUSED_CODE, "FL506"}
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
        refuse_spaces(argument)
        if is_selector(argument):
            names += selector.select([argument]).endpoints
        elif {*"/."} & {*argument}:  # no name has either
            hint = "name the endpoints, or select them by a glob or a condition"
            message = f"{quote(argument)} is not an endpoint's name, and this command does not accept paths"
            raise wrong_selector(message, hint)
        else:
            names.append(argument)
    return list(dict.fromkeys(names))


@dataclass(frozen=True)
class PromotionSelection:
    """The endpoints that arguments select of an environment that is promoted to.

    Attributes:
        own: Those that the environment has, selected by what it has of them.
        promotable: All whose promotion is meant: also those that main's files select, or that main has alone.
    """

    own: Selection
    promotable: Selection


def promotion_selection(
    project: Project, arguments: Sequence[str], own: Selector | None = None
) -> PromotionSelection:
    """The endpoints that the arguments select, here or where specs reach an environment without a promotion.

    A changed spec selects nothing here, as it is what waits.

    Args:
        project: An environment that is promoted to.
        arguments: Names and other selectors, as the user wrote them.
        own: The selector of the environment itself. Default: one that takes no drafts.

    Raises:
        FindingsError: a selector is wrong, or matches nothing in either environment, or an endpoint is named
            that no promotion brings.
    """
    absent, promotable = project.absent, {*project.spec_files, *project.unpromoted_names}
    mine, selections, selectors = list[Selection](), list[Selection](), list[Selector]()
    for argument in arguments:
        if argument in promotable:
            mine.append(Selection([argument]))
            selections.append(mine[-1])
        elif argument in absent:
            raise FindingsError([absent[argument]])
        else:
            if not selectors:  # a name needs no other environment
                main = project.origins[-1].environment.environment
                selector = own or Selector(project.fleet, project.environment.environment)
                selectors = [selector, Selector(project.fleet, main)]
            selection, first = _selected_by(selectors, argument)
            mine.append(first)
            selections += [selection, Selection(former_names=_removed_names(selectors, argument))]
    candidates = Selection.union(selections)
    names = [name for name in candidates.endpoints if name in promotable or name not in absent]
    candidates.endpoints[:] = [*names, *(name for name in candidates.former_names if name in promotable)]
    candidates.former_names[:] = [name for name in candidates.former_names if name not in promotable]
    present = Selection.union(mine)
    present.endpoints[:] = [name for name in present.endpoints if name not in absent]
    return PromotionSelection(present, candidates)


def _selected_by(selectors: Sequence[Selector], argument: str) -> tuple[Selection, Selection]:
    """The endpoints that an argument selects in any of the environments, and in the first.

    Raises:
        FindingsError: it is wrong, or matches nothing in all of them.
    """
    results = [selection_or_refusal(selector, argument) for selector in selectors]
    selections = [result for result in results if isinstance(result, Selection)]
    if not selections:
        raise next(result for result in results if isinstance(result, FindingsError))
    first = results[0]
    return Selection.union(selections), first if isinstance(first, Selection) else Selection()


def _removed_names(selectors: Sequence[Selector], argument: str) -> list[str]:
    """The endpoints whose specs were deleted, and that all parts of a selector match.

    An environment that still has such a spec knows its owner; the one that follows main knows the deletion.
    """
    terms = argument.split(AND)
    if not any(term.startswith(CHANGED) for term in terms):
        return []
    parts = [_selected_by(selectors, term)[0] for term in terms]
    names = {name for part in parts for name in part.former_names}
    return sorted(names.intersection(*({*part.endpoints, *part.former_names} for part in parts)))


def selection_or_refusal(selector: Selector, argument: str) -> Selection | FindingsError:
    """The endpoints that an argument selects in one environment, or why none: another may have some.

    Raises:
        FindingsError: it is wrong in every environment, or this one is.
    """
    try:
        return selector.select([argument])
    except FindingsError as error:
        if {finding.code for finding in error.findings} <= ELSEWHERE:
            return error
        raise


def print_notes(selection: Selection, env: str, *, waits: bool = False) -> None:
    """Print which endpoints are gone, and why nothing is selected if nothing is, and nothing `waits`."""
    for name in selection.former_names:
        destroy = f"`fleet destroy --env {env} {shlex.quote(name)}` removes the endpoint, if it is deployed"
        print_error(f"{name} no longer has a spec: {destroy}")
    if selection.endpoints or selection.drafts or waits:
        return
    only_reason = selection.reasons[0] if len(selection.reasons) == 1 else ""
    print_error(f"{env}: no endpoint is selected{f': {only_reason}' if only_reason else ''}")
