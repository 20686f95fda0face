"""`fleet init`: a fleet of one's own, and its generated files of another version."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Annotated

import typer

from fleet.cli.output import ask_consent, say
from fleet.core.files import write_atomically
from fleet.core.project_root import project_root, project_roots
from fleet.findings import CannotRunError
from fleet.scaffold.files import EXAMPLES, EXTRAS, NONE, SENTENCES, NewFleet, generated_files, own_files
from fleet.scaffold.pin import PACKAGE, own_requirement
from fleet.scaffold.validation import require_valid, require_writable


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the fleet.")] = Path(),
    account: Annotated[
        str | None,
        typer.Option(
            help="The AWS account of all environments, 12 digits. Default: a placeholder that you replace."
        ),
    ] = None,
    region: Annotated[str, typer.Option(help="The region of all environments.")] = "us-east-1",
    environments: Annotated[
        str, typer.Option(metavar="NAMES", help="Names of environments, separated by commas.")
    ] = "dev,staging,prod",
    example: Annotated[
        str, typer.Option(help=f"A first endpoint that runs on this machine: {' or '.join(EXAMPLES)}.")
    ] = SENTENCES,
    upgrade: Annotated[
        bool,
        typer.Option(
            "--upgrade",
            help="Update the generated files of a fleet to this version; each change is shown first.",
        ),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="With --upgrade: do not ask before a file is written.")
    ] = False,
) -> None:
    """Write the files of a new fleet; no file is overwritten.

    In the folder of an existing fleet, lists how its generated files differ from those of this version.
    """
    above = _fleet_at(folder.absolute())
    if upgrade:
        _upgrade(above or project_root(folder.absolute()), yes=yes)
    elif above and (folder == Path() or above == folder.absolute()):
        _compare(above)
    elif above:
        raise CannotRunError(f"{folder} is inside the fleet at {above}", "name a folder outside it")
    else:
        if example not in EXAMPLES:
            raise typer.BadParameter(
                f"{example!r}: write one of {', '.join(EXAMPLES)}", param_hint="--example"
            )
        names = tuple(dict.fromkeys(name.strip() for name in environments.split(",")))
        _create(folder, NewFleet(environments=names, account=account, region=region, example=example))


def _fleet_at(folder: Path) -> Path | None:
    """The fleet at a folder or above it; one without environments is not written to its end."""
    return next((each for each in project_roots(folder) if any((each / "environments").glob("*.yaml"))), None)


def _create(folder: Path, fleet: NewFleet) -> None:
    require_valid(folder, fleet)
    contents = {**generated_files(folder), **own_files(fleet)}
    require_writable(folder, contents)
    differing, kept = {file for file, _ in _differences(folder, contents)}, 0
    for path, text in contents.items():
        if (folder / path).exists():
            kept += 1
            say(f"kept  {folder / path}{', which differs' if path in differing else ''}")
        else:
            write_atomically(folder / path, text, root=folder)
    say(f"wrote {len(contents) - kept} files to {folder}")
    if "requirements.txt" in differing and PACKAGE not in _text(folder / "requirements.txt"):
        say(f"next: add to requirements.txt: {own_requirement(EXTRAS)}")
    if not fleet.account:
        say("next: write your accounts into environments/*.yaml")
    say(f"next: cd {shlex.quote(str(folder))} && make setup && source .venv/bin/activate")
    if fleet.example == NONE:
        say("      fleet new NAME --from-repository DIR")
    else:
        say(f"      make weights && fleet local up {fleet.example}")


def _compare(root: Path) -> None:
    """List the generated files that differ, and write nothing."""
    differing = list(_differences(root, generated_files(root)))
    for path, exists in differing:
        say(f"{path} {'differs from the file of this version' if exists else 'does not exist'}")
    if differing:
        say("run `fleet init --upgrade` to see each difference and write the files")
    else:
        say(f"the generated files of {root} are up to date")


def _upgrade(root: Path, *, yes: bool) -> None:
    contents, kept = generated_files(root), 0
    for path, exists in list(_differences(root, contents)):
        before = _text(root / path) if exists else ""
        for line in unified_diff(before.splitlines(), contents[path].splitlines(), path, path, lineterm=""):
            say(line)
        if ask_consent(f"Write {path}?", yes=yes):
            write_atomically(root / path, contents[path], root=root)
            say(f"wrote {path}")
        else:
            kept += 1
    say(f"kept {kept} files as they are" if kept else "the generated files are up to date; run `make setup`")


def _differences(root: Path, contents: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """The paths of files that differ, and whether each exists."""
    for path, text in contents.items():
        exists = (root / path).exists()
        if not exists or _text(root / path) != text:
            yield path, exists


def _text(file: Path) -> str:
    return file.read_text("utf-8", errors="replace")
