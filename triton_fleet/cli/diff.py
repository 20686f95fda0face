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
    promotions = {
        pending_promotion.endpoint: pending_promotion
        for pending_promotion in pending_promotions(project, policy_day(today))
    }
    entries, names = backlog(project, promotions), list[str]()
    if endpoints:
        selection = promotion_selection(project, endpoints).promotable
        print_notes(selection, env)
        names = selection.endpoints
        entries = [entry for entry in entries if entry.name in names]
    if format is OutputFormat.JSON:
        print_json(
            {
                "version": VERSION,
                "environment": env,
                "endpoints": [_record(entry, promotions.get(entry.name)) for entry in entries],
            }
        )
        return
    if endpoints and not names:
        return
    origin = project.environment.promoted_from
    if not entries:
        subject = f"{', '.join(sorted(names))} in {env}" if names else env
        say(f"{subject} {'are' if len(names) > 1 else 'is'} up to date with main and {origin}")
    for entry in entries:
        for line in _lines(entry, env, origin or "", promotions.get(entry.name)):
            say(line)
    promotable = [entry.name for entry in entries if entry.promotable]
    if promotable:
        say(f"run `fleet promote --to {env} {' '.join(promotable)}` to copy what {origin} runs")


def _lines(entry: BacklogEntry, env: str, origin: str, promotion: PendingPromotion | None) -> list[str]:
    """The line of `fleet check`; then keys that it leaves out, and those that are tested already."""
    if entry.state == "new":
        return [*_line(promotion), f"  {env} does not have it; {entry.content[0]}"]
    if entry.state == "removed":
        return _line(promotion)
    if entry.problem:
        return [f"{entry.name}: cannot be compared: {entry.problem}"]
    is_whole = promotion is not None and len(promotion.words) <= MAX_WORDS
    keys = [] if is_whole else [f"  main     {change}" for change in entry.spec]
    of_origin = (f"  {origin:<8} {text}" for text in (*entry.tested, *entry.content))
    return [*(_line(promotion) or [f"{entry.name}:"]), *keys, *of_origin]


def _line(promotion: PendingPromotion | None) -> list[str]:
    return [pending_line(promotion)] if promotion else []


def _record(entry: BacklogEntry, promotion: PendingPromotion | None) -> dict[str, object]:
    keys = {
        name: [{"key": change.key, "change": str(change)} for change in changes]
        for name, changes in (("spec", entry.spec), ("tested", entry.tested))
    }
    return {**asdict(entry), **keys, "pending": None if promotion is None else pending_record(promotion)}
