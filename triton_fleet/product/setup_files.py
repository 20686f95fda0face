"""The files of a fleet that `make setup` reads. A wheel writes them before anything is installed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

from triton_fleet.core.files import replace_file, require_writable
from triton_fleet.core.folders import source_path
from triton_fleet.findings import CannotRunError
from triton_fleet.product.distributions import (
    DEPLOY_EXTRA,
    LOCAL_EXTRA,
    VENDOR,
    product_line,
    product_lines,
    wheels_in,
)
from triton_fleet.product.pin import Commit, Pin

REQUIREMENTS = "requirements.txt"
DEPENDENCIES = f"{VENDOR}/dependencies.txt"
LOCAL = f"{VENDOR}/local.txt"
"""With those of `fleet local` and Triton itself; taken in place of the other where Triton can run."""
BUILD = f"{VENDOR}/build.txt"
"""The build backend of a commit of the product."""
EXAMPLE = "examples/requirements.txt"
_TEMPLATES = files("triton_fleet.product") / "templates"
_COMMENT = re.compile(r"^[ \t]*#.*\n", re.MULTILINE)


def setup_files(root: Path, pin: Pin) -> Mapping[str, str | bytes]:
    """The files by their path in the fleet.

    Lines that requirements.txt has besides those of the product stay. The extras decide what is locked.
    """
    requirements = _requirements(root / REQUIREMENTS, pin)
    extras = fleet_extras(requirements, pin)
    return {
        "Makefile": template("Makefile"),
        "package.json": template("package.json"),
        "package-lock.json": template("package-lock.json"),
        **(
            {BUILD: locked_requirements("requirements-release.txt")}
            if isinstance(pin, Commit)
            else pin.files(extras)
        ),
        REQUIREMENTS: requirements,
        DEPENDENCIES: locked_requirements("requirements.txt"),
        **(
            {
                LOCAL: _lock_text(
                    pin.local_lock("requirements-local.txt"), pin.local_lock("requirements-triton.txt")
                )
            }
            if extras == LOCAL_EXTRA
            else {}
        ),
        **({EXAMPLE: locked_requirements("requirements-payload.txt")} if (root / EXAMPLE).exists() else {}),
    }


def locked_requirements(*names: str) -> str:
    """The pins of locks of this version with their hashes, without their comments."""
    return _lock_text(*(source_path(name).read_text("utf-8") for name in names))


def _lock_text(*pins: str) -> str:
    return f"{template('locked.txt')}{_COMMENT.sub('', ''.join(pins))}"


def fleet_extras(requirements: str, pin: Pin) -> str:
    """The extras of triton-fleet in a requirements.txt: a fleet has those to deploy at least."""
    line = product_line(requirements)
    if line is None:
        return pin.extras
    return LOCAL_EXTRA if "local" in (line["extras"] or "") else DEPLOY_EXTRA


def template(name: str) -> str:
    """A template of the package, by its name."""
    return (_TEMPLATES / name).read_text("utf-8")


def _requirements(file: Path, pin: Pin) -> str:
    """The file with the lines of the product for this pin, which are added where there are none.

    Where one of them is continued, it has hashes that its owner wrote: all stay.
    """
    text = file.read_text("utf-8") if file.is_file() else None
    pin_lines = "\n".join(pin.lines(fleet_extras(text or "", pin)))
    if text is None:
        return Template(template("requirements.txt")).substitute(pin=pin_lines)
    lines = product_lines(text)
    if any(line[0].rstrip().endswith("\\") for line in lines):
        return text
    first = product_line(text)
    if first is None:
        return f"{text.rstrip()}\n{pin_lines}\n".lstrip()
    for line in reversed(lines):
        end = line.end() if line.start() == first.start() else line.end() + 1
        text = text[: line.start()] + (pin_lines if line.start() == first.start() else "") + text[end:]
    return text


def first_install(file: Path, arguments: Sequence[str]) -> int:
    """Set up the fleet that is named, and run `fleet init` in it; no file is overwritten.

    Only the standard library is needed.

    Args:
        file: The wheel of triton-fleet; beside it are those of the other distributions.
        arguments: Those of the command: `init`, the folder, options.

    Returns:
        The exit code of `fleet init`.

    Raises:
        CannotRunError: the arguments are others, or a file or an installation is in the way.
    """
    if len(arguments) < 2 or arguments[0] != "init" or arguments[1].startswith("-"):
        raise CannotRunError(
            f"{file.name} only sets up a fleet",
            f"python3 {file.name}/triton_fleet init DIR, then the options of `fleet init`",
        )
    folder = Path(arguments[1])
    wheels = wheels_in(file.parent, file.name.split("-")[1])
    contents = setup_files(folder, wheels)
    require_writable(folder, contents)
    for path, content in contents.items():
        if not (folder / path).exists():
            replace_file(folder / path, content, root=folder)
    if product_line((folder / REQUIREMENTS).read_text("utf-8", "replace")) is None:
        lines = "\n".join(wheels.lines(wheels.extras))
        raise CannotRunError(
            f"{folder / REQUIREMENTS} exists, without triton-fleet", f"add these lines:\n{lines}"
        )
    try:
        process = subprocess.run(["make", "--no-print-directory", "-C", str(folder), "setup"], check=False)
    except FileNotFoundError as error:
        raise CannotRunError("make is not installed", "install it, and run this command again") from error
    if process.returncode:
        raise CannotRunError(f"`make setup` in {folder} failed", "run this command again to continue")
    command = [str(folder / ".venv" / "bin" / "fleet"), *arguments]
    return subprocess.run(command, check=False).returncode
