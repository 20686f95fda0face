"""The files of a fleet that `make setup` reads. A wheel writes them before anything is installed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template

from fleet.core.sources import source_path
from fleet.scaffold.pin import VENDOR, Wheel, product_line

EXTRAS = "[local]"
REQUIREMENTS = "requirements.txt"
DEPENDENCIES = f"{VENDOR}/dependencies.txt"
LOCAL = f"{VENDOR}/local.txt"
"""With those of `fleet local` and Triton itself; taken in place of the other where Triton can run."""
EXAMPLE = "examples/requirements.txt"
_TEMPLATES = files("fleet.scaffold") / "templates"
_COMMENT = re.compile(r"^[ \t]*#.*\n", re.MULTILINE)


def setup_files(root: Path, wheel: Wheel) -> Mapping[str, str | bytes]:
    """The files by their path in the fleet.

    Lines that requirements.txt has besides the one of triton-fleet stay. Its extras decide what is locked.
    """
    requirements = _requirements(root / REQUIREMENTS, wheel)
    line = product_line(requirements)
    is_local = bool(line and "local" in (line["extras"] or ""))
    return {
        "Makefile": template("Makefile"),
        "package.json": template("package.json"),
        "package-lock.json": template("package-lock.json"),
        wheel.path: wheel.content,
        REQUIREMENTS: requirements,
        DEPENDENCIES: locked_requirements("requirements.txt"),
        **(
            {LOCAL: locked_requirements("requirements-local.txt", "requirements-triton.txt")}
            if is_local
            else {}
        ),
        **({EXAMPLE: locked_requirements("requirements-payload.txt")} if (root / EXAMPLE).exists() else {}),
    }


def locked_requirements(*names: str) -> str:
    """The pins of locks of this version with their hashes, without their comments."""
    pins = "".join(source_path(name).read_text("utf-8") for name in names)
    return f"{template('locked.txt')}{_COMMENT.sub('', pins)}"


def template(name: str) -> str:
    """A template of the package, by its name."""
    return (_TEMPLATES / name).read_text("utf-8")


def _requirements(file: Path, wheel: Wheel) -> str:
    """The file with the line of triton-fleet for this wheel, which is added where there is none.

    A line that is continued has hashes that its owner wrote: it stays.
    """
    if not file.is_file():
        return Template(template("requirements.txt")).substitute(pin=wheel.requirement(EXTRAS))
    text = file.read_text("utf-8")
    found = product_line(text)
    if found is None:
        return f"{text.rstrip()}\n{wheel.requirement(EXTRAS)}\n".lstrip()
    if found[0].rstrip().endswith("\\"):
        return text
    return text[: found.start()] + wheel.requirement(found["extras"] or "") + text[found.end() :]
