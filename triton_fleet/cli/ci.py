"""`fleet ci`: what the product writes for continuous integration."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from triton_fleet.cli.output import say
from triton_fleet.core.files import require_no_link, write_atomically
from triton_fleet.core.project_root import project_root, repository_top
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
Locked = Annotated[
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
    places = [file] if file else [top / each for each in PLACES if (top / each).is_file()]
    if file is None:
        for each in PLACES:
            require_no_link(top, top / each)
    texts = {each: _text(each, newline="") for each in places or [top / PLACES[0]]}
    if gone := [found for each, text in texts.items() if (found := missing_fleet(each, text, top))]:
        raise FindingsError(gone)
    if check and not any(has_block(text, fleet) for text in texts.values()):
        say("no CODEOWNERS file has lines of `fleet ci codeowners`: nothing to compare")
        return
    place = next(iter(texts))
    fallback = fallback_lines(root, top, text_above(texts[place], fleet))
    text = with_block(place, texts[place], [*fallback, *lines_of(root, top)], fleet)
    if missing := missing_fallback(place, text, root, top):
        show_findings([missing])
    if text == texts[place]:
        say(f"{_shown(place)} is up to date")
    elif check:
        message = "this file does not match the owners of the specs"
        raise FindingsError(
            [Finding(code="FL501", message=message, hint="run `fleet ci codeowners`", file=place)]
        )
    else:
        write_atomically(place, text, root=None if file else top)
        say(f"wrote {_shown(place)}")


@app.command()
def github(check: Check = False, locked: Locked = False) -> None:
    """Write GitHub Actions workflows: check, deploy, promote, find drift.

    Environments with `access.github` are deployed, compared and promoted to; see docs/ci.md.
    """
    root = project_root(Path.cwd())
    top = repository_top(root)
    require_no_link(top, top / of_github.FOLDER)
    made = of_github.workflows(root, top, locked=locked)
    stale = [
        file
        for file in sorted((top / of_github.FOLDER).glob("fleet-*.yml"))
        if file.relative_to(top).as_posix() not in made and _text(file).startswith(of_github.HEAD)
    ]
    command = "fleet ci github --locked" if locked else "fleet ci github"
    texts = {top / path: text for path, text in made.items()}
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
    locked: Locked = False,
) -> None:
    """Write a GitLab CI pipeline: check, deploy, find drift.

    Environments with `access.gitlab` are deployed and compared; see docs/ci.md.
    """
    root = project_root(Path.cwd())
    top = repository_top(root)
    place = Path(os.path.normpath((file or top / of_gitlab.FILE).absolute()))
    if not place.is_relative_to(top):
        raise CannotRunError(f"{place} is outside the repository at {top}", "name a file in it")
    named = place.relative_to(top).as_posix()
    text = of_gitlab.pipeline(root, top, locked=locked, file=named)
    options = [*(["--file", str(_shown(place))] if file else []), *(["--locked"] if locked else [])]
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
                f"{_shown(file)} was not written by `fleet ci`",
                "rename it, or with GitLab name another: --file",
            )
    differing = [file for file, text in texts.items() if before[file] != text]
    if check and (differing or stale):
        message = "this file does not match the environments, or the options of the command"
        hint = f"run `{command}`"
        found = [
            Finding(code="FL501", message=message, hint=hint, file=file) for file in (*differing, *stale)
        ]
        raise FindingsError(found)
    for file in differing:
        write_atomically(file, texts[file], root=top)
        say(f"wrote {_shown(file)}")
    for file in stale:
        file.unlink()
        say(f"deleted {_shown(file)}")
    if not differing and not stale:
        say(f"{', '.join(str(_shown(file)) for file in texts)}: up to date")


def _text(file: Path, *, newline: str | None = None) -> str:
    """What a file holds; with `newline=""` the ends of its lines stay as they are."""
    try:
        with file.open(encoding="utf-8", newline=newline) as stream:
            return stream.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise CannotRunError(f"{file} cannot be read: {error}", "rename it, or name another file") from error


def _shown(place: Path) -> Path:
    here = Path.cwd().resolve()
    return place.relative_to(here) if place.is_relative_to(here) else place
