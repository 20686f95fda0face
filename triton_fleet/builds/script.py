"""The build script of engines and images as one zip file, which Python and CodeBuild both run."""

from __future__ import annotations

import hashlib
import io
from zipfile import ZipFile, ZipInfo

from triton_fleet.core.folders import source_path
from triton_fleet.spec.deployment import BuildKind

SOURCES = source_path("engine_build")
UNIX = 3
RUNS = frozenset({".py", ".json", ".txt"})
"""The files of the script; the rest of its folder is documentation."""


def build_script() -> tuple[bytes, str]:
    """The zip file and its digest, `sha256:...`; the same files give the same bytes."""
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        for path in sorted(path for path in SOURCES.rglob("*") if path.suffix in RUNS):
            member = ZipInfo(path.relative_to(SOURCES).as_posix())
            member.create_system, member.external_attr = UNIX, 0o644 << 16
            # Not deflated: zlib and zlib-ng give different bytes.
            archive.writestr(member, path.read_bytes())
    content = file.getvalue()
    return content, f"sha256:{hashlib.sha256(content).hexdigest()}"


def buildspec(kind: BuildKind) -> str:
    """The buildspec of a project, which calls the script."""
    return (SOURCES / f"{kind}.buildspec.yaml").read_text("utf-8")
