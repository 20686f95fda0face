"""The distributions of the product: names, folders, the lines that list them, and their wheels."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from triton_fleet.findings import CannotRunError

PACKAGE = "triton-fleet"
VENDOR = "vendor"
"""The folder of a fleet with the wheels and what they need."""
DEPLOY, LOCAL = "deploy", "local"
"""The extras of triton-fleet; the second brings what the first brings."""
DEPLOY_EXTRA, LOCAL_EXTRA = f"[{DEPLOY}]", f"[{LOCAL}]"
"""As a requirement names them."""


@dataclass(frozen=True)
class Distribution:
    """One distribution; `folder` has its pyproject.toml, "" at the top of the repository."""

    name: str
    folder: str

    @property
    def stem(self) -> str:
        """How the names of its files begin."""
        return self.name.replace("-", "_")


_COMMAND = (
    Distribution(PACKAGE, ""),
    Distribution("triton-endpoints", "constructs"),
    Distribution("triton-fleet-client", "client"),
)
EMULATOR = Distribution("triton-fleet-emulator", "emulator")
DISTRIBUTIONS = (*_COMMAND, EMULATOR)
_LINE = re.compile(
    rf"^(?:(?P<name>{'|'.join(distribution.name.replace('-', '[-_.]') for distribution in DISTRIBUTIONS)})"
    rf"|\./{VENDOR}/(?P<stem>{'|'.join(distribution.stem for distribution in DISTRIBUTIONS)})-[^\s\[]+\.whl)"
    r"(?P<extras>\[[^\]\n]*\])?[ \t]*(?=[=<>!~@;#]|--|$)[^\n]*$",
    re.MULTILINE | re.IGNORECASE,
)


def distributions(extras: str) -> Sequence[Distribution]:
    """The distributions that triton-fleet with some extras consists of."""
    if LOCAL in extras:
        return DISTRIBUTIONS
    return _COMMAND if extras else _COMMAND[:1]


def product_lines(requirements: str) -> Sequence[re.Match[str]]:
    """The lines of a requirements.txt that list distributions of the product, each with its `extras`."""
    return list(_LINE.finditer(requirements))


def product_line(requirements: str) -> re.Match[str] | None:
    """The line of a requirements.txt that pins triton-fleet, with its `extras`; None without one."""
    lines = product_lines(requirements)
    return next((line for line in lines if normal_name(line["name"] or line["stem"]) == PACKAGE), None)


def normal_name(name: str) -> str:
    """A name as PyPA's specification "Names and normalization" compares it."""
    return re.sub("[-_.]+", "-", name).lower()


NAME_WHEELS = "--wheels DIR"


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """A wheel of one distribution."""

    name: str
    content: bytes = field(repr=False)

    @property
    def path(self) -> str:
        """Where a fleet has it."""
        return f"{VENDOR}/{self.name}"

    @property
    def digest(self) -> str:
        """Its SHA-256."""
        return sha256(self.content).hexdigest()

    def requirement(self, extras: str = "") -> str:
        """The line of a fleet's requirements.txt, with such as "[local]"."""
        return f"./{self.path}{extras} --hash=sha256:{self.digest}"


@dataclass(frozen=True)
class Wheels:
    """The wheels of one version in a folder, by the names of their distributions."""

    folder: Path
    by_name: Mapping[str, Wheel]

    @property
    def extras(self) -> str:
        """The extras of a new fleet: all that the wheels can."""
        return LOCAL_EXTRA if EMULATOR.name in self.by_name else DEPLOY_EXTRA

    def files(self, extras: str) -> Mapping[str, bytes]:
        """The files in a fleet by their paths."""
        return {wheel.path: wheel.content for wheel in self._wheels(distributions(extras)).values()}

    def lines(self, extras: str) -> Sequence[str]:
        """The lines of a fleet's requirements.txt."""
        wheels = self._wheels(distributions(extras))
        return [wheel.requirement(extras if name == PACKAGE else "") for name, wheel in wheels.items()]

    def local_lock(self, name: str) -> str:
        """A lock that the wheel of the embedded AWS has."""
        [emulator] = self._wheels((EMULATOR,)).values()
        with zipfile.ZipFile(BytesIO(emulator.content)) as wheel:
            return wheel.read(f"fleet_emulator/sources/{name}").decode()

    def _wheels(self, parts: Sequence[Distribution]) -> Mapping[str, Wheel]:
        if absent := [part.name for part in parts if part.name not in self.by_name]:
            raise CannotRunError(
                f"{self.folder} has no wheel of {', '.join(absent)}, which a fleet with {LOCAL_EXTRA} needs",
                f"name the folder that has all wheels of this version: {NAME_WHEELS}",
            )
        return {part.name: self.by_name[part.name] for part in parts}


def wheel_name(distribution: Distribution, version: str) -> str:
    """The name of a distribution's file."""
    return f"{distribution.stem}-{version}-py3-none-any.whl"


def wheels_in(folder: Path, version: str) -> Wheels:
    """The wheels of a version in a folder; that of the embedded AWS may be missing.

    Raises:
        CannotRunError: another is missing, or a file is not a wheel.
    """
    wheels = {}
    for distribution in DISTRIBUTIONS:
        file = folder / wheel_name(distribution, version)
        if zipfile.is_zipfile(file):
            wheels[distribution.name] = Wheel(name=file.name, content=file.read_bytes())
        elif file.exists() or distribution != EMULATOR:
            raise CannotRunError(
                f"{file} {'is not a wheel' if file.exists() else 'does not exist'}; a fleet of version"
                f" {version} has the wheels of all parts of triton-fleet",
                f"`make wheel` builds them into one folder; name it: {NAME_WHEELS}",
            )
    return Wheels(folder, wheels)
