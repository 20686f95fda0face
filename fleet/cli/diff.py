"""`fleet diff`: what a promotion would change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from fleet.artifacts.promote.backlog import BacklogEntry, backlog
from fleet.check.pending_promotions import pending_promotions
from fleet.cli.arguments import Endpoints, Env, OutputFormat
from fleet.cli.current_fleet import current_project
from fleet.cli.output import say
from fleet.cli.policy_day import Today, policy_day
from fleet.cli.selection import print_notes, selection_or_refusal
from fleet.findings import FindingsError
from fleet.printers.lines import print_json
from fleet.report.document import pending_record
from fleet.report.pending_promotion import MAX_WORDS, PendingPromotion
from fleet.selection.forms import AND, CHANGED
from fleet.selection.paths import Selection
from fleet.selection.selector import Selector
from fleet.spec.project import Project

VERSION = 1
"""Raised when a field of the JSON is removed or changes its meaning, not when one is added."""


def diff(
    env: Env,
    endpoints: Endpoints = None,
    format: Annotated[OutputFormat, typer.Option("--format", help="Text or JSON.")] = OutputFormat.HUMAN,
    today: Today = None,
) -> None:
    """Show what has not been promoted to an environment.

    Compares an environment that has `promoted_from` with that environment and with model_specs/. Does not
    call AWS.
    """
    project = current_project(env)
    pending = {each.endpoint: each for each in pending_promotions(project, policy_day(today))}
    found, chosen = backlog(project, pending), list[str]()
    if endpoints:
        chosen = _chosen(project, endpoints, {each.name for each in found})
        found = [each for each in found if each.name in chosen]
    if format is OutputFormat.JSON:
        print_json(
            {
                "version": VERSION,
                "environment": env,
                "endpoints": [_record(each, pending.get(each.name)) for each in found],
            }
        )
        return
    if endpoints and not chosen:
        return
    origin = project.environment.promoted_from
    if not found:
        what = f"{', '.join(sorted(chosen))} in {env}" if chosen else env
        say(f"{what} {'are' if len(chosen) > 1 else 'is'} up to date with main and {origin}")
    for each in found:
        for line in _lines(each, env, origin or "", pending.get(each.name)):
            say(line)
    promotable = [each.name for each in found if each.promotable]
    if promotable:
        say(f"run `fleet promote --to {env} {' '.join(promotable)}` to copy what {origin} runs")


def _chosen(project: Project, arguments: Sequence[str], waiting: Collection[str]) -> list[str]:
    """The endpoints that the arguments select, here or where specs reach an environment without a promotion.

    A changed spec selects nothing here, as it is what waits.

    Raises:
        FindingsError: a selector is wrong, or matches nothing in either environment.
    """
    env, absent = project.environment.environment, project.absent
    main = project.origins[-1].environment.environment
    selectors = [Selector(project.fleet, each) for each in (env, main)]
    selected = list[Selection]()
    for argument in arguments:
        if argument in waiting:
            selected.append(Selection([argument]))
        elif argument in absent:
            raise FindingsError([absent[argument]])
        else:
            selected += [_selected_by(selectors, argument), Selection(gone=_gone(selectors, argument))]
    found = Selection.union(selected)
    gone = [name for name in found.gone if name not in waiting]
    names = [name for name in found.endpoints if name in waiting or name not in absent]
    found.endpoints[:] = [*names, *(name for name in found.gone if name in waiting)]
    found.gone[:] = gone
    print_notes(found, env)
    return found.endpoints


def _selected_by(selectors: Sequence[Selector], argument: str) -> Selection:
    """What an argument selects in any of the environments.

    Raises:
        FindingsError: it is wrong, or matches nothing in all of them.
    """
    found, refused = list[Selection](), list[FindingsError]()
    for selector in selectors:
        selection = selection_or_refusal(selector, argument)
        if isinstance(selection, Selection):
            found.append(selection)
        else:
            refused.append(selection)
    if not found:
        raise refused[0]
    return Selection.union(found)


def _gone(selectors: Sequence[Selector], argument: str) -> list[str]:
    """The endpoints whose specs were deleted, and that all parts of a selector match.

    An environment that still has such a spec knows its owner; the one that follows main knows the deletion.
    """
    terms = argument.split(AND)
    if not any(each.startswith(CHANGED) for each in terms):
        return []
    parts = [_selected_by(selectors, each) for each in terms]
    gone = {name for each in parts for name in each.gone}
    return sorted(gone.intersection(*({*each.endpoints, *each.gone} for each in parts)))


def _lines(each: BacklogEntry, env: str, origin: str, pending: PendingPromotion | None) -> list[str]:
    """What waits, as `fleet check` shows it; then what is missing in that line, or tested already."""
    if each.state == "new":
        return [*_line(pending), f"  {env} does not have it; {each.content[0]}"]
    if each.state == "removed":
        return _line(pending)
    if each.problem:
        return [f"{each.name}: cannot be compared: {each.problem}"]
    is_whole = pending is not None and len(pending.words) <= MAX_WORDS
    keys = [] if is_whole else [f"  main     {change}" for change in each.spec]
    of_origin = (f"  {origin:<8} {text}" for text in (*each.tested, *each.content))
    return [*(_line(pending) or [f"{each.name}:"]), *keys, *of_origin]


def _line(pending: PendingPromotion | None) -> list[str]:
    return [str(pending)] if pending else []


def _record(each: BacklogEntry, pending: PendingPromotion | None) -> dict[str, object]:
    keys = {
        name: [{"key": change.key, "change": str(change)} for change in changes]
        for name, changes in (("spec", each.spec), ("tested", each.tested))
    }
    return {**asdict(each), **keys, "pending": None if pending is None else pending_record(pending)}
