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
from triton_fleet.printers.console import OutputConsole, plain_table, unfolded_console
from triton_fleet.printers.lines import print_json
from triton_fleet.project.project import Fleet, Project
from triton_fleet.selection.condition import is_selector
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
    fleet, entries = current_fleet(), list[InventoryEntry]()
    selections = [_choose(fleet, name, endpoints or ()) for name in dict.fromkeys(env)]
    _require_match(filter(is_selector, endpoints or ()), selections)
    for selection in selections:
        entries += _entries(selection, profile, is_all=not endpoints, offline=offline)
    names = {entry.name for entry in entries}
    _require_match((endpoint for endpoint in endpoints or () if endpoint not in names), selections)
    if format is TableFormat.JSON:
        print_json([asdict(entry) for entry in entries])
        return
    if not entries:
        if not endpoints:
            say(f"{', '.join(env)}: no specs, no locks, no stacks")
        return
    several, has_owners = len(set(env)) > 1, any(entry.owner for entry in entries)
    unfolded_console().print_widest(
        [_table(entries, several=several, owners=owners) for owners in dict.fromkeys((has_owners, False))]
    )
    for entry in entries:
        if entry.remedy:
            location = f" in {entry.environment}" if several else ""
            say(f"{entry.name}{location}: {entry.remedy}")


@dataclass(frozen=True)
class _EnvironmentSelection:
    """The selection of arguments in one environment, and those that it does not have."""

    project: Project
    selection: Selection
    unknown: dict[str, FindingsError]

    @property
    def without_spec(self) -> list[str]:
        """The unknown names, which may have a lock or a stack alone."""
        return [name for name in self.unknown if not is_selector(name)]


def _choose(fleet: Fleet, env: str, arguments: Sequence[str]) -> _EnvironmentSelection:
    project, selector = fleet.open(env), Selector(fleet, env)
    selections, unknown = list[Selection](), dict[str, FindingsError]()
    for argument in arguments:
        selection = selection_or_refusal(selector, argument)
        if argument in project.absent:
            unknown[argument] = FindingsError([project.absent[argument]])
        elif isinstance(selection, Selection):
            selections.append(selection)
        else:
            unknown[argument] = selection
    environment_selection = _EnvironmentSelection(project, Selection.union(selections), unknown)
    if selections and not environment_selection.without_spec:
        print_notes(environment_selection.selection, env)
    return environment_selection


def _require_match(arguments: Iterable[str], selections: Sequence[_EnvironmentSelection]) -> None:
    """Raise the refusal of an argument that no environment has; another one may have it."""
    for argument in arguments:
        if all(argument in selection.unknown for selection in selections):
            raise selections[0].unknown[argument]


def _entries(
    selection: _EnvironmentSelection, profile: str | None, *, is_all: bool, offline: bool
) -> list[InventoryEntry]:
    names = {*selection.selection.endpoints, *selection.without_spec}
    if not (is_all or names):
        return []
    project = selection.project
    access = None if offline else connect(project, profile)
    console = OutputConsole(stderr=True)
    reading = (
        console.status(f"comparing {project.environment.environment}")
        if console.is_terminal
        else nullcontext()
    )
    with reading, aws_errors_as_findings():
        inventory = take_inventory(project, access)
    return [entry for entry in inventory if is_all or entry.name in names]


def _table(entries: list[InventoryEntry], *, several: bool, owners: bool) -> Table:
    owner = ["owner"] if owners else []
    table = plain_table(*(["env"] if several else []), "endpoint", *owner, "files", "deployed", "behind")
    for entry in entries:
        files, state = _files(entry), _state(entry)
        table.add_row(
            *([entry.environment] if several else []),
            Text(entry.name, "bold"),
            *([entry.owner or "-"] if owners else []),
            Text(files, "" if files == "ok" else "yellow"),
            _deployment(entry),
            Text(state, "" if state in ("-", "nothing", Runs.NO_ANSWER, Runs.LIVE_SET) else "yellow"),
        )
    return table


def _files(entry: InventoryEntry) -> str:
    """The state of spec and lock in two words."""
    match entry.spec, entry.lock:
        case FileState.YES, FileState.YES:
            return "ok"
        case FileState.NO, _:
            return "no spec"
        case FileState.ELSEWHERE, _:
            return f"not in {entry.environment}"
        case FileState.NO_PROMOTION, _:
            return "not promoted"
        case FileState.INVALID, _:
            return "broken spec"
        case _, FileState.NO:
            return "no lock"
    return f"{entry.lock} lock"


def _deployment(entry: InventoryEntry) -> str:
    """Instances in service; else the statuses of stack and endpoint."""
    parts = (
        []
        if entry.stack is None or entry.stack.endswith(("CREATE_COMPLETE", "UPDATE_COMPLETE"))
        else [entry.stack]
    )
    if entry.live is not None:
        instances = f"{entry.live.instances} × {entry.live.instance_type}"
        parts += [instances] if entry.live.status == "InService" else [entry.live.status, instances]
    elif entry.stack is not None and not parts:
        parts = [entry.stack, "no endpoint"]
    return ", ".join(parts) or "-"


def _state(entry: InventoryEntry) -> str:
    if entry.runs in (Runs.NO_ENDPOINT, Runs.NO_ANSWER):
        return "-"
    if entry.runs is Runs.UNKNOWN:
        return "unknown"
    content = ["content"] if entry.runs is Runs.OTHER_CONTENT and "models" not in entry.behind else []
    return ", ".join([*content, *entry.behind]) or (
        "nothing" if entry.runs is Runs.LOCK_CONTENT else str(entry.runs)
    )
