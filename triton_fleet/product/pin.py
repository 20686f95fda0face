"""Which triton-fleet is installed, by the file, commit or folder it came from, and how a fleet pins it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from triton_fleet.core.folders import source_path
from triton_fleet.findings import CannotRunError
from triton_fleet.product.distributions import (
    DEPLOY_EXTRA,
    DISTRIBUTIONS,
    LOCAL_EXTRA,
    NAME_WHEELS,
    PACKAGE,
    Distribution,
    Wheels,
    distributions,
    wheel_name,
    wheels_in,
)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where an installed distribution came from.

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

    @property
    def is_wheel(self) -> bool:
        """Whether it is a wheel, beside which those of the other distributions are."""
        return self.url.endswith(".whl")

    def requirements(self, extras: str) -> Sequence[str]:
        """The requirements of triton-fleet and what its extras bring; none where only an index has them."""
        if not self.url:
            return []
        parts = distributions(extras)
        return [
            f"{part.name}{extras if part.name == PACKAGE else ''} @ {self._address(part)}" for part in parts
        ]

    def _address(self, part: Distribution) -> str:
        """The URL of one distribution: a wheel has the others beside it, anything else has all inside."""
        if self.is_folder:
            return f"{self.url}/{part.folder}".rstrip("/")
        url, fragments = self.repository or self.url, []
        if self.is_wheel and part.name != PACKAGE:
            return f"{self.url.rpartition('/')[0]}/{wheel_name(part, self.version)}"
        if self.digest:
            fragments.append(f"sha256={self.digest}")
        if part.folder:
            fragments.append(f"subdirectory={part.folder}")
        return f"{url}#{'&'.join(fragments)}" if fragments else url

    def __str__(self) -> str:
        """The words of a message."""
        return str(self.path or self.repository or self.url or "a package index")


@dataclass(frozen=True)
class Commit:
    """A commit of the product's repository that a fleet is installed from; pip has no hash of it."""

    origin: Origin

    @property
    def extras(self) -> str:
        """The extras of a new fleet: those that are installed."""
        return LOCAL_EXTRA if find_spec("fleet_emulator") else DEPLOY_EXTRA

    def lines(self, extras: str) -> Sequence[str]:
        """The lines of a fleet's requirements.txt."""
        return self.origin.requirements(extras)

    def local_lock(self, name: str) -> str:
        """A lock that the distribution of the embedded AWS has."""
        spec = find_spec("fleet_emulator")
        if spec is None or spec.origin is None:
            raise CannotRunError(
                "triton-fleet-emulator is not installed, which lists what `fleet local` needs",
                install_command(LOCAL_EXTRA),
            )
        sources = Path(spec.origin).parent / "sources"
        return (sources / name if sources.is_dir() else source_path(name)).read_text("utf-8")


Pin = Wheels | Commit
"""The sources that a fleet installs triton-fleet from."""


def own_origin(files: metadata.Distribution | None = None) -> Origin:
    """Where a distribution came from; triton-fleet of this Python environment where none is given."""
    files = files or metadata.distribution(PACKAGE)
    record: Any = json.loads(files.read_text("direct_url.json") or "{}")
    repository, archive = record.get("vcs_info"), record.get("archive_info", {})
    url = record.get("url", "")
    return Origin(
        version=files.version,
        url=url.rstrip("/"),
        repository=f"{repository['vcs']}+{url}@{repository['commit_id']}" if repository else "",
        digest=archive.get("hashes", {}).get("sha256", ""),
        is_folder="dir_info" in record,
    )


def install_command(extras: str, origin: Origin | None = None) -> str:
    """How a remedy adds extras, such as "[local]", to the triton-fleet that is installed."""
    origin = origin or own_origin()
    if requirements := origin.requirements(extras):
        return f"pip install {_quote(requirements)}"
    return f"install {PACKAGE}{extras} in its version {origin.version}, as you installed it before"


def own_pin(folder: Path | None = None, origin: Origin | None = None) -> Pin:
    """The source that a fleet installs triton-fleet from: wheels, which it keeps, or a commit.

    Args:
        folder: That of the wheels; the one that triton-fleet was installed from where none is given.
        origin: Where it was installed from; asked of this Python environment where none is given.

    Raises:
        CannotRunError: it was installed from something else, or the folder lacks a wheel of this version.
    """
    origin = origin or own_origin()
    if folder is None and origin.repository:
        return Commit(origin)
    if folder is None and not (origin.is_wheel and origin.path):
        raise CannotRunError(
            f"a fleet has wheels of triton-fleet or a commit, but this one was installed from {origin}",
            f"{_way_to_wheels(origin)}, and name their folder: {NAME_WHEELS}",
        )
    wheels = wheels_in(folder or _folder(origin), origin.version)
    if folder is None:
        _require_same_digests(wheels, origin)
    return wheels


def _folder(origin: Origin) -> Path:
    assert origin.path is not None  # noqa: S101
    return origin.path.parent


def _require_same_digests(wheels: Wheels, origin: Origin) -> None:
    """Compare the digests that pip recorded with those of the files now.

    Raises:
        CannotRunError: a file is another one.
    """
    for part in DISTRIBUTIONS:
        wheel = wheels.by_name.get(part.name)
        try:
            part_origin = origin if part.name == PACKAGE else own_origin(metadata.distribution(part.name))
        except metadata.PackageNotFoundError:
            continue
        if wheel and part_origin.digest not in {"", wheel.digest}:
            raise CannotRunError(
                f"{wheel.name} is another file than this {part.name} was installed from: its SHA-256 differs",
                f"install it again from that file, or name the folder of its wheel: {NAME_WHEELS}",
            )


def _quote(requirements: Sequence[str]) -> str:
    return " ".join(f"'{requirement}'" for requirement in requirements)


def _way_to_wheels(origin: Origin) -> str:
    if origin.is_folder:
        return f"build them with `make wheel` in {origin}"
    if origin.url:
        return f"build them with `pip wheel --no-deps {_quote(origin.requirements(LOCAL_EXTRA))}`"
    return f"download them from where you got version {origin.version}"
