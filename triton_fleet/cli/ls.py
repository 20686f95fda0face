"""`fleet ls`: each endpoint's files and what the account has of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from triton_fleet.aws.inventory import FileState, InventoryEntry, Runs, take_inventory
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.cli.arguments import Endpoints, Environments, Profile, TableFormat
from triton_fleet.cli.aws_access import connect
from triton_fleet.cli.current_fleet import current_fleet
from triton_fleet.cli.output import say
from triton_fleet.cli.selection import print_notes, selection_or_refusal
from triton_fleet.findings import FindingsError
from triton_fleet.printers.console import OutputConsole, unfolded_console
from triton_fleet.printers.lines import print_json
from triton_fleet.project.project import Fleet, Project
from triton_fleet.selection.forms import is_selector
from triton_fleet.selection.paths import Selection
from triton_fleet.selection.selector import Selector


def ls(
    env: Environments,
    endpoints: Endpoints = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Compare specs, locks and repositories; do not call AWS.")
    ] = False,
    profile: Profile = None,
    format: Annotated[TableFormat, typer.Option("--format", help="A table or JSON.")] = TableFormat.TABLE,
) -> None:
    """Compare specs, locks and live stacks.

    For each difference, prints the command that resolves it.
    """
    fleet, found = current_fleet(), list[InventoryEntry]()
    chosen = [_choose(fleet, name, endpoints or ()) for name in dict.fromkeys(env)]
    _require_found(filter(is_selector, endpoints or ()), chosen)
    for one in chosen:
        found += _entries(one, profile, is_all=not endpoints, offline=offline)
    listed = {each.name for each in found}
    _require_found((endpoint for endpoint in endpoints or () if endpoint not in listed), chosen)
    if format is TableFormat.JSON:
        print_json([asdict(each) for each in found])
        return
    if not found:
        if not endpoints:
            say(f"{', '.join(env)}: no specs, no locks, no stacks")
        return
    several, has_owners = len(set(env)) > 1, any(each.owner for each in found)
    unfolded_console().print_widest(
        [_table(found, several=several, owners=owners) for owners in dict.fromkeys((has_owners, False))]
    )
    for each in found:
        if each.remedy:
            where = f" in {each.environment}" if several else ""
            say(f"{each.name}{where}: {each.remedy}")


@dataclass(frozen=True)
class _EnvironmentSelection:
    """What arguments select in one environment, and those that it does not have."""

    project: Project
    selection: Selection
    unknown: dict[str, FindingsError]

    @property
    def without_spec(self) -> list[str]:
        """The unknown names, which may have a lock or a stack alone."""
        return [each for each in self.unknown if not is_selector(each)]


def _choose(fleet: Fleet, env: str, arguments: Sequence[str]) -> _EnvironmentSelection:
    project, selector = fleet.open(env), Selector(fleet, env)
    found, unknown = list[Selection](), dict[str, FindingsError]()
    for argument in arguments:
        selection = selection_or_refusal(selector, argument)
        if argument in project.absent:
            unknown[argument] = FindingsError([project.absent[argument]])
        elif isinstance(selection, Selection):
            found.append(selection)
        else:
            unknown[argument] = selection
    chosen = _EnvironmentSelection(project, Selection.union(found), unknown)
    if found and not chosen.without_spec:
        print_notes(chosen.selection, env)
    return chosen


def _require_found(arguments: Iterable[str], chosen: Sequence[_EnvironmentSelection]) -> None:
    """Raise the refusal of an argument that no environment has; another one may have it."""
    for argument in arguments:
        if all(argument in one.unknown for one in chosen):
            raise chosen[0].unknown[argument]


def _entries(
    chosen: _EnvironmentSelection, profile: str | None, *, is_all: bool, offline: bool
) -> list[InventoryEntry]:
    names = {*chosen.selection.endpoints, *chosen.without_spec}
    if not (is_all or names):
        return []
    project = chosen.project
    access = None if offline else connect(project, profile)
    console = OutputConsole(stderr=True)
    reading = (
        console.status(f"comparing {project.environment.environment}")
        if console.is_terminal
        else nullcontext()
    )
    with reading, aws_errors_as_findings():
        listed = take_inventory(project, access)
    return [each for each in listed if is_all or each.name in names]


def _table(found: list[InventoryEntry], *, several: bool, owners: bool) -> Table:
    table = Table(box=None, pad_edge=False)
    headings = ["env"] if several else []
    headings += ["endpoint", *(["owner"] if owners else []), "files", "deployed", "behind"]
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for each in found:
        files, state = _files(each), _state(each)
        table.add_row(
            *([each.environment] if several else []),
            Text(each.name, "bold"),
            *([each.owner or "-"] if owners else []),
            Text(files, "" if files == "ok" else "yellow"),
            _deployed(each),
            Text(state, "" if state in ("-", "nothing", Runs.NO_ANSWER, Runs.LIVE_SET) else "yellow"),
        )
    return table


def _files(each: InventoryEntry) -> str:
    """The state of spec and lock in two words."""
    match each.spec, each.lock:
        case FileState.YES, FileState.YES:
            return "ok"
        case FileState.NO, _:
            return "no spec"
        case FileState.ELSEWHERE, _:
            return f"not in {each.environment}"
        case FileState.NO_PROMOTION, _:
            return "not promoted"
        case FileState.INVALID, _:
            return "broken spec"
        case _, FileState.NO:
            return "no lock"
    return f"{each.lock} lock"


def _deployed(each: InventoryEntry) -> str:
    """Instances in service; else the statuses of stack and endpoint."""
    parts = (
        []
        if each.stack is None or each.stack.endswith(("CREATE_COMPLETE", "UPDATE_COMPLETE"))
        else [each.stack]
    )
    if each.live is not None:
        counted = f"{each.live.instances} × {each.live.instance_type}"
        parts += [counted] if each.live.status == "InService" else [each.live.status, counted]
    elif each.stack is not None and not parts:
        parts = [each.stack, "no endpoint"]
    return ", ".join(parts) or "-"


def _state(each: InventoryEntry) -> str:
    if each.runs in (Runs.NO_ENDPOINT, Runs.NO_ANSWER):
        return "-"
    if each.runs is Runs.UNKNOWN:
        return "unknown"
    content = ["content"] if each.runs is Runs.OTHER_CONTENT and "models" not in each.behind else []
    return ", ".join([*content, *each.behind]) or (
        "nothing" if each.runs is Runs.LOCK_CONTENT else str(each.runs)
    )
