"""`fleet ci`: what the product writes for continuous integration."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from triton_fleet.cli.output import say
from triton_fleet.core.files import replace_file, require_no_link
from triton_fleet.core.folders import project_root, repository_top
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.new.ci import github as of_github
from triton_fleet.new.ci import gitlab as of_gitlab
from triton_fleet.new.ci.codeowners import codeowners as lines_of
from triton_fleet.new.ci.codeowners import fallback_lines, missing_fallback
from triton_fleet.new.ci.marked_block import has_block, missing_fleet, text_above, with_block
from triton_fleet.printers.human import show_findings

app = typer.Typer(help="Write the workflows, pipeline and CODEOWNERS for CI.", no_args_is_help=True)
PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Where GitHub or GitLab looks."""
Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit code 1 if a file is stale.")]
LockedOption = Annotated[
    bool,
    typer.Option(
        "--locked", help="Trust the locks in every check and deploy: for fleets whose weights are not in CI."
    ),
]


@app.callback()
def _group() -> None:
    pass


@app.command()
def codeowners(
    file: Annotated[
        Path | None,
        typer.Option("--file", help="The file. Default: the one that exists, else .github/CODEOWNERS."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Write nothing; exit code 1 if the file is stale, 0 if the command never wrote it.",
        ),
    ] = False,
) -> None:
    """Write CODEOWNERS from the `owner` of each spec.

    Assigns specs, locks, model repositories and policies; all else to the owner of policies/platform.yaml.
    Lines outside the marked block are not changed.
    """
    root = project_root(Path.cwd())
    top = repository_top(root)
    fleet = root.resolve().relative_to(top).as_posix()
    places = [file] if file else [top / path for path in PLACES if (top / path).is_file()]
    if file is None:
        for path in PLACES:
            require_no_link(top, top / path)
    texts = {path: _text(path, newline="") for path in places or [top / PLACES[0]]}
    if absent_fleets := [
        fleet_line for path, text in texts.items() if (fleet_line := missing_fleet(path, text, top))
    ]:
        raise FindingsError(absent_fleets)
    if check and not any(has_block(text, fleet) for text in texts.values()):
        say("no CODEOWNERS file has lines of `fleet ci codeowners`: nothing to compare")
        return
    place = next(iter(texts))
    fallback = fallback_lines(root, top, text_above(texts[place], fleet))
    text = with_block(place, texts[place], [*fallback, *lines_of(root, top)], fleet)
    if problem := missing_fallback(place, text, root, top):
        show_findings([problem])
    if text == texts[place]:
        say(f"{_display_path(place)} is up to date")
    elif check:
        message = "this file does not match the owners of the specs"
        raise FindingsError(
            [Finding(code="FL501", message=message, hint="run `fleet ci codeowners`", file=place)]
        )
    else:
        replace_file(place, text, root=None if file else top)
        say(f"wrote {_display_path(place)}")


@app.command()
def github(check: Check = False, locked: LockedOption = False) -> None:
    """Write GitHub Actions workflows: check, deploy, promote, find drift.

    Environments with `access.github` are deployed, compared and promoted to; see `fleet docs ci`.
    """
    root = project_root(Path.cwd())
    top = repository_top(root)
    require_no_link(top, top / of_github.FOLDER)
    workflows = of_github.workflows(root, top, locked=locked)
    stale = [
        file
        for file in sorted((top / of_github.FOLDER).glob("fleet-*.yml"))
        if file.relative_to(top).as_posix() not in workflows and _text(file).startswith(of_github.HEAD)
    ]
    command = "fleet ci github --locked" if locked else "fleet ci github"
    texts = {top / path: text for path, text in workflows.items()}
    _write(top, texts, stale, of_github.HEAD, command, check=check)
    for line in of_github.omissions(root):
        say(line)
    if doubts := of_github.doubts(root):
        show_findings(doubts)


@app.command()
def gitlab(
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", help=f"The file, which your .gitlab-ci.yml can include. Default: {of_gitlab.FILE}."
        ),
    ] = None,
    check: Check = False,
    locked: LockedOption = False,
) -> None:
    """Write a GitLab CI pipeline: check, deploy, find drift.

    Environments with `access.gitlab` are deployed and compared; see `fleet docs ci`.
    """
    root = project_root(Path.cwd())
    top = repository_top(root)
    place = Path(os.path.normpath((file or top / of_gitlab.FILE).absolute()))
    if not place.is_relative_to(top):
        raise CannotRunError(f"{place} is outside the repository at {top}", "name a file in it")
    relative_path = place.relative_to(top).as_posix()
    text = of_gitlab.pipeline(root, top, locked=locked, file=relative_path)
    options = [*(["--file", str(_display_path(place))] if file else []), *(["--locked"] if locked else [])]
    command = shlex.join(["fleet", "ci", "gitlab", *options])
    _write(top, {place: text}, [], of_gitlab.HEAD, command, check=check)
    for line in of_gitlab.omissions(root):
        say(line)


def _write(
    top: Path, texts: Mapping[Path, str], stale: Sequence[Path], head: str, command: str, *, check: bool
) -> None:
    """Write files and delete those that are stale; a file that begins with another line is its author's.

    Raises:
        CannotRunError: somebody else wrote a file, it cannot be read, or is or is in a link below `top`.
        FindingsError: with `check`, every file that differs.
    """
    before = {file: _text(require_no_link(top, file)) for file in texts}
    for file, text in before.items():
        if text and not text.startswith(head):
            raise CannotRunError(
                f"{_display_path(file)} was not written by `fleet ci`",
                "rename it, or with GitLab name another: --file",
            )
    changes = [file for file, text in texts.items() if before[file] != text]
    if check and (changes or stale):
        message = "this file does not match the environments, or the options of the command"
        hint = f"run `{command}`"
        problems = [
            Finding(code="FL501", message=message, hint=hint, file=file) for file in (*changes, *stale)
        ]
        raise FindingsError(problems)
    for file in changes:
        replace_file(file, texts[file], root=top)
        say(f"wrote {_display_path(file)}")
    for file in stale:
        file.unlink()
        say(f"deleted {_display_path(file)}")
    if not changes and not stale:
        say(f"{', '.join(str(_display_path(file)) for file in texts)}: up to date")


def _text(file: Path, *, newline: str | None = None) -> str:
    """Text of a file; with `newline=""` the ends of its lines stay as they are."""
    try:
        with file.open(encoding="utf-8", newline=newline) as stream:
            return stream.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise CannotRunError(f"{file} cannot be read: {error}", "rename it, or name another file") from error


def _display_path(place: Path) -> Path:
    working_directory = Path.cwd().resolve()
    return place.relative_to(working_directory) if place.is_relative_to(working_directory) else place
