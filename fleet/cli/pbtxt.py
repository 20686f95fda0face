"""`fleet pbtxt`: the config.pbtxt files themselves."""

from __future__ import annotations

import difflib
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fleet.cli.output import say
from fleet.findings import Finding, FindingsError
from fleet.printers.lines import print_bytes, print_line
from fleet.repository.text_format.files import canonical_of, pbtxt_files

app = typer.Typer(help="The config.pbtxt files of models.", no_args_is_help=True)

STDIN = Path("-")


@dataclass(frozen=True)
class CanonicalFile:
    """What a file says, and its canonical form."""

    file: Path
    before: bytes
    after: bytes


@app.command("format")
def format_files(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Files, or folders with all *.pbtxt below that are not hidden; the working directory if none"
            " is named; `-` reads standard input and writes standard output.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 where a file would change.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Change nothing; print what would change.")] = False,
) -> None:
    """Rewrite config.pbtxt files in one canonical form; comments are kept.

    Nothing is changed if Triton could not parse one of the files. Of a link that is named, the target is
    rewritten; links below folders are left out.
    """
    formatted, findings = _read(paths or [Path()])
    changed = [each for each in formatted if each.before != each.after]
    if diff:
        for each in changed:
            for line in _diff(each):
                print_line(line)
    if check:
        findings += [_not_canonical(each.file) for each in changed]
    if findings:
        raise FindingsError(findings)
    if not check and not diff:
        _write(formatted)
    files = [each for each in formatted if each.file != STDIN]
    if files and not changed:
        say(f"nothing to change in {len(files)} file{'s' * (len(files) != 1)}")


def _read(paths: Sequence[Path]) -> tuple[list[CanonicalFile], list[Finding]]:
    formatted: list[CanonicalFile] = []
    findings: list[Finding] = []
    files = pbtxt_files([path for path in paths if path != STDIN])
    for file in [*([STDIN] if STDIN in paths else []), *files]:
        try:
            if file == STDIN:
                formatted.append(CanonicalFile(file, *canonical_of(sys.stdin.buffer, file)))
            else:
                with file.open("rb") as stream:
                    formatted.append(CanonicalFile(file, *canonical_of(stream, file)))
        except FindingsError as error:
            findings += error.findings
    return formatted, findings


def _write(formatted: Sequence[CanonicalFile]) -> None:
    for each in formatted:
        if each.file == STDIN:
            print_bytes(each.after)
        elif each.before != each.after:
            _replace(each.file.resolve(), each.after)
            say(f"rewrote {each.file}")


def _replace(file: Path, content: bytes) -> None:
    """A reader or a crash never sees half of it; the file's mode stays."""
    mode = stat.S_IMODE(file.stat().st_mode)
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(draft).chmod(mode)
        Path(draft).replace(file)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _diff(formatted: CanonicalFile) -> Iterator[str]:
    name = str(formatted.file)
    for line in difflib.unified_diff(_lines(formatted.before), _lines(formatted.after), name, name):
        yield from line.removesuffix("\n").split("\n")


def _lines(content: bytes) -> list[str]:
    """As `diff` has them, which says where the last newline is missing."""
    *lines, rest = content.decode().split("\n")
    return [*(f"{line}\n" for line in lines), *([f"{rest}\n\\ No newline at end of file\n"] if rest else [])]


def _not_canonical(file: Path) -> Finding:
    message = "this file is not in its canonical form"
    return Finding(code="FL481", message=message, hint=f"run `fleet pbtxt format {file}`", file=file)
