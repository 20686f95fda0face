"""Which triton-fleet is installed, by the file, commit or folder it came from, and how a fleet pins it."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from fleet.findings import CannotRunError

PACKAGE = "triton-fleet"
VENDOR = "vendor"
"""The folder of a fleet with the wheel and what it needs."""
_LINE = re.compile(
    rf"^(?:triton[-_.]fleet|\./{VENDOR}/triton_fleet-[^\s\[]+\.whl)(?P<extras>\[[^\]\n]*\])?"
    r"[ \t]*(?=[=<>!~@;#]|--|$)[^\n]*$",
    re.MULTILINE | re.IGNORECASE,
)


class Installed(Protocol):
    """An installed distribution."""

    @property
    def version(self) -> str:
        """Its version."""

    def read_text(self, filename: str, /) -> str | None:
        """A file of its metadata; None where there is none."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where an installed triton-fleet came from.

    Source: PyPA specification "Recording the Direct URL Origin of installed distributions".

    Attributes:
        version: Its version.
        url: That of an archive, a repository or a folder; "" where pip found it by its name.
        repository: How pip names the repository and the commit; "" for anything else.
        digest: The SHA-256 of an archive; "" where none is recorded.
        is_folder: Whether the URL is that of a folder.
    """

    version: str
    url: str = ""
    repository: str = ""
    digest: str = ""
    is_folder: bool = False

    @property
    def path(self) -> Path | None:
        """The file or the folder of this machine."""
        parts = urlsplit(self.url)
        return Path(unquote(parts.path)) if parts.scheme == "file" and not self.repository else None

    def requirement(self, extras: str = "") -> str:
        """The requirement that installs it again; "" where only an index can."""
        address = self.repository or self.url
        digest = f"#sha256={self.digest}" if self.digest else ""
        return f"{PACKAGE}{extras} @ {address}{digest}" if address else ""

    def __str__(self) -> str:
        """The words of a message."""
        return str(self.path or self.repository or self.url or "a package index")


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """A wheel of triton-fleet."""

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

    def requirement(self, extras: str) -> str:
        """The line of a fleet's requirements.txt, with such as "[local]"."""
        return f"./{self.path}{extras} --hash=sha256:{self.digest}"


def own_origin(installed: Installed | None = None) -> Origin:
    """Where a distribution came from; that of this Python environment where none is given."""
    found = installed or distribution(PACKAGE)
    record: Any = json.loads(found.read_text("direct_url.json") or "{}")
    repository, archive = record.get("vcs_info"), record.get("archive_info", {})
    url = record.get("url", "")
    return Origin(
        version=found.version,
        url=url,
        repository=f"{repository['vcs']}+{url}@{repository['commit_id']}" if repository else "",
        digest=archive.get("hashes", {}).get("sha256", ""),
        is_folder="dir_info" in record,
    )


def install_command(extras: str, origin: Origin | None = None) -> str:
    """How a remedy adds extras, such as "[local]", to the triton-fleet that is installed."""
    origin = origin or own_origin()
    if requirement := origin.requirement(extras):
        return f"pip install '{requirement}'"
    return f"install {PACKAGE}{extras} in its version {origin.version}, as you installed it before"


def own_wheel(file: Path | None = None, origin: Origin | None = None) -> Wheel:
    """The wheel that a fleet is to have.

    Args:
        file: The wheel; that of which triton-fleet was installed where none is given.
        origin: Where it was installed from; asked of this Python environment where none is given.

    Raises:
        CannotRunError: it was installed from something else, or the file is not a wheel of this version.
    """
    origin = origin or own_origin()
    path = file or (None if origin.is_folder else origin.path)
    if path is None:
        raise CannotRunError(
            f"a fleet has the wheel of triton-fleet, but this triton-fleet was installed from {origin}",
            f"{_wheel_of(origin)}, and name it: --wheel FILE",
        )
    if not re.fullmatch(rf"triton_fleet-{re.escape(origin.version)}-[\w.]+-\w+-\w+\.whl", path.name):
        raise CannotRunError(
            f"{path} is not a wheel of triton-fleet {origin.version}, which runs and writes the files",
            "name a wheel of this version: --wheel FILE",
        )
    if not zipfile.is_zipfile(path):
        raise CannotRunError(f"{path} does not exist, or is not a wheel", "name the wheel: --wheel FILE")
    wheel = Wheel(name=path.name, content=path.read_bytes())
    if file is None and origin.digest not in {"", wheel.digest}:
        raise CannotRunError(
            f"{path} is another file than this triton-fleet was installed from: its SHA-256 differs",
            "install it again from that file, or name the wheel: --wheel FILE",
        )
    return wheel


def _wheel_of(origin: Origin) -> str:
    if origin.is_folder:
        return f"build it with `make wheel` in {origin}"
    if origin.url:
        return f"build it with `pip wheel --no-deps '{origin.requirement()}'`"
    return f"download it from where you got version {origin.version}"


def product_line(requirements: str) -> re.Match[str] | None:
    """The line of a requirements.txt that pins triton-fleet, with its `extras`; None without one."""
    return _LINE.search(requirements)
