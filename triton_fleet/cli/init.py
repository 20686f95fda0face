"""`fleet init`: a fleet of one's own, and its generated files of another version."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from triton_fleet.cli.output import ask_consent, say
from triton_fleet.core.files import replace_file, require_writable
from triton_fleet.core.folders import project_root, project_roots
from triton_fleet.findings import CannotRunError
from triton_fleet.new.scaffold.files import (
    EXAMPLES,
    NO_EXAMPLE,
    SENTENCES,
    NewFleet,
    generated_files,
    own_files,
    require_valid,
)
from triton_fleet.new.scaffold.github_ids import RepositorySubject, repository_subject
from triton_fleet.product.distributions import DISTRIBUTIONS, VENDOR, product_line
from triton_fleet.product.pin import Pin, own_pin
from triton_fleet.product.setup_files import BUILD, LOCAL, REQUIREMENTS
from triton_fleet.spec.github_repository import GitHubRepository, prefix_command
from triton_fleet.spec.values import Mistake

_EARLIER = ("constraints.txt", "examples/payload.txt")
"""What earlier versions wrote in place of hashes."""


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
    github: Annotated[
        str | None,
        typer.Option(
            metavar="OWNER/NAME",
            help="The repository on GitHub whose jobs may deploy; `gh` is asked for its ids, unless you write"
            " OWNER@ID/NAME@ID. Default: none.",
        ),
    ] = None,
    wheels: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder with the wheels of this version, which the fleet keeps. Default: those that were"
            " installed, or the commit that was.",
        ),
    ] = None,
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
        root = above or project_root(folder.absolute())
        _upgrade(root, own_pin(wheels), yes=yes)
    elif above and (folder == Path() or above == folder.absolute()):
        _compare(above, own_pin(wheels))
    elif above:
        raise CannotRunError(f"{folder} is inside the fleet at {above}", "name a folder outside it")
    else:
        if example not in EXAMPLES:
            raise typer.BadParameter(
                f"{example!r}: write one of {', '.join(EXAMPLES)}", param_hint="--example"
            )
        names = tuple(dict.fromkeys(name.strip() for name in environments.split(",")))
        fleet = NewFleet(environments=names, account=account, region=region, example=example)
        require_valid(folder, fleet)
        pin = own_pin(wheels)
        _create(folder, replace(fleet, github=_subject(github) if github else None), pin)


def _fleet_at(folder: Path) -> Path | None:
    """The fleet at a folder or above it; one without environments is not written to its end."""
    return next(
        (
            project_root
            for project_root in project_roots(folder)
            if any((project_root / "environments").glob("*.yaml"))
        ),
        None,
    )


def _subject(text: str) -> RepositorySubject:
    """The repository with its ids: the user's, or those that `gh` gives; it is never required."""
    try:
        repository = GitHubRepository.parse(text)
    except Mistake as mistake:
        raise typer.BadParameter(f"{text!r}: {mistake}; {mistake.hint}", param_hint="--github") from mistake
    if repository.has_ids:
        return RepositorySubject(
            repository=repository, former=repository.names, doubt="only you know whether its tokens have ids"
        )
    try:
        return repository_subject(repository)
    except CannotRunError as error:
        return RepositorySubject(repository=repository, doubt=f"{error.problem} ({error.remedy})")


def _create(folder: Path, fleet: NewFleet, pin: Pin) -> None:
    contents = {**generated_files(folder, pin), **own_files(fleet)}
    require_writable(folder, contents)
    files = {path: content for path, content in contents.items() if not (folder / path).exists()}
    for path, _ in _differences(folder, {path: contents[path] for path in contents.keys() - files.keys()}):
        say(f"kept  {folder / path}, which differs")
    for path, content in files.items():
        replace_file(folder / path, content, root=folder)
    say(f"wrote {len(files)} files to {folder}")
    if product_line((folder / REQUIREMENTS).read_text("utf-8", "replace")) is None:
        for line in pin.lines(pin.extras):
            say(f"next: add to requirements.txt: {line}")
    if not fleet.account:
        say("next: write your accounts into environments/*.yaml")
    if fleet.github and not fleet.github.repository.has_ids:
        say(f"next: write `access` into environments/*.yaml, where it is a comment: {fleet.github.doubt}")
    elif fleet.github and fleet.github.doubt:
        command = prefix_command(fleet.github.repository.names)
        say(f"next: compare `access` in environments/*.yaml with `{command}`: {fleet.github.doubt}")
    say(f"next: cd {shlex.quote(str(folder))} && make setup && source .venv/bin/activate")
    if fleet.example == NO_EXAMPLE:
        say("      fleet new NAME --from-repository DIR")
    else:
        say(f"      make weights && fleet local up {fleet.example}")


def _compare(root: Path, pin: Pin) -> None:
    """List the generated files that differ, and write nothing."""
    contents = generated_files(root, pin)
    differences = list(_differences(root, contents))
    for path, exists in differences:
        say(f"{path} {'differs from the file of this version' if exists else 'does not exist'}")
    if differences:
        say("run `fleet init --upgrade` to see each difference and write the files")
    else:
        say(f"the generated files of {root} are up to date")
    _name_obsolete(root, contents)


def _upgrade(root: Path, pin: Pin, *, yes: bool) -> None:
    contents, kept_count = generated_files(root, pin), 0
    for path, exists in list(_differences(root, contents)):
        content = contents[path]
        if isinstance(content, str):
            before = (root / path).read_text("utf-8", "replace") if exists else ""
            for line in unified_diff(before.splitlines(), content.splitlines(), path, path, lineterm=""):
                say(line)
        else:
            say(f"{path}: {len(content):,} bytes, sha256 {sha256(content).hexdigest()}")
        if ask_consent(f"Write {path}?", yes=yes):
            replace_file(root / path, content, root=root)
            say(f"wrote {path}")
        else:
            kept_count += 1
    say(
        f"kept {kept_count} files as they are"
        if kept_count
        else "the generated files are up to date; run `make setup`"
    )
    _name_obsolete(root, contents)


def _differences(root: Path, contents: Mapping[str, str | bytes]) -> Iterator[tuple[str, bool]]:
    """The paths of files that differ, and whether each exists."""
    for path, content in contents.items():
        exists = (root / path).exists()
        if not exists or (root / path).read_bytes() != (
            content.encode() if isinstance(content, str) else content
        ):
            yield path, exists


def _name_obsolete(root: Path, contents: Mapping[str, str | bytes]) -> None:
    """Name the files of an earlier version or choice."""
    wheels = sorted(
        file for distribution in DISTRIBUTIONS for file in (root / VENDOR).glob(f"{distribution.stem}-*.whl")
    )
    for path in (*_EARLIER, LOCAL, BUILD, *(f"{VENDOR}/{wheel.name}" for wheel in wheels)):
        if path not in contents and (root / path).is_file():
            say(f"delete {path}: these files do without it")
