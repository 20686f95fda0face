"""`fleet diff`: the changes that a promotion would make."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from triton_fleet.changes.pending_promotion import PendingPromotion
from triton_fleet.changes.promotion_lines import pending_line
from triton_fleet.changes.wording import MAX_WORDS
from triton_fleet.check.pending_promotions import pending_promotions
from triton_fleet.cli.arguments import Endpoints, Env, OutputFormat, Today, policy_day
from triton_fleet.cli.current_fleet import current_project
from triton_fleet.cli.output import say
from triton_fleet.cli.selection import print_notes, promotion_selection
from triton_fleet.printers.lines import print_json
from triton_fleet.review.document import pending_record
from triton_fleet.store.promote.backlog import BacklogEntry, backlog

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
    pending = {
        pending_promotion.endpoint: pending_promotion
        for pending_promotion in pending_promotions(project, policy_day(today))
    }
    found, chosen = backlog(project, pending), list[str]()
    if endpoints:
        selection = promotion_selection(project, endpoints).waiting
        print_notes(selection, env)
        chosen = selection.endpoints
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


def _lines(each: BacklogEntry, env: str, origin: str, pending: PendingPromotion | None) -> list[str]:
    """The line of `fleet check`; then keys that it leaves out, and those that are tested already."""
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
    return [pending_line(pending)] if pending else []


def _record(each: BacklogEntry, pending: PendingPromotion | None) -> dict[str, object]:
    keys = {
        name: [{"key": change.key, "change": str(change)} for change in changes]
        for name, changes in (("spec", each.spec), ("tested", each.tested))
    }
    return {**asdict(each), **keys, "pending": None if pending is None else pending_record(pending)}
