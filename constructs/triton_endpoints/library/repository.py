"""A model repository in a folder: its assets, and what a lock would have of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from triton_endpoints.engines.assembly import RepositoryAssets
from triton_fleet.builds.script import build_script
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.project import LoadedSpec
from triton_fleet.rules.names import allowed_codes
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.lock import Lock, LockedArchive, LockedEngine
from triton_fleet.spec.values import hexadecimal

if TYPE_CHECKING:
    from triton_fleet.spec.engine import Engine
    from triton_fleet.spec.source import KeyPath
    from triton_fleet.store.archive import Checksums
    from triton_fleet.store.engines.onnx import OnnxFile
    from triton_fleet.store.sources.folder import FolderSource
    from triton_fleet.store.sources.spec_sources import SpecRepositories


@dataclass(frozen=True, kw_only=True)
class FolderData:
    """A folder that was read, checked and packed.

    Attributes:
        lock: What a lock would have of it.
        archive: The archive, unless engines join the files.
        assets: The files and what engines are built of, where they do.
        findings: What is doubtful about it.
    """

    lock: Lock
    archive: s3_assets.Asset | None = None
    assets: RepositoryAssets | None = None
    findings: list[Finding] = field(default_factory=list)


def folder_data(
    scope: Construct, folder: Path, loaded_spec: LoadedSpec, environment: Environment
) -> FolderData:
    """Read a folder as the container of a spec would load it, and declare its assets.

    Args:
        scope: The parent of the assets.
        folder: The model repository.
        loaded_spec: The spec, in which the repository has a stand-in.
        environment: Where its engines are built.

    Raises:
        FindingsError: the folder cannot be read or packed, the container would not serve it, or no engine can
            be built of an ONNX model.
    """
    # These modules are needed here alone, and take a fifth of a second.
    from triton_fleet.check.spec_repositories import folder_findings
    from triton_fleet.repository.reading.folder import read_folder
    from triton_fleet.store.engines.lock import require_models
    from triton_fleet.store.sources.spec_sources import SpecRepositories

    repositories = SpecRepositories(loaded_spec, [read_folder(folder, is_packed=True)])
    require_models(repositories)

    def find_onnx(path: KeyPath, engine: Engine) -> OnnxFile:
        return _onnx_file(loaded_spec, path, engine)

    allowances = allowed_codes(loaded_spec.spec.allow)
    findings = [
        finding for finding in folder_findings(repositories, find_onnx) if finding.code not in allowances
    ]
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise FindingsError(findings)
    source = repositories.folder(0)
    source.served_models()  # refused before the weights are read, which happens once
    name = loaded_spec.spec.packed_archives[0].name
    if loaded_spec.spec.models[0].engines:
        locked_archive, assets = _assets(scope, repositories, environment)
        lock = Lock(endpoint=loaded_spec.spec.endpoint, archives={name: locked_archive})
        return FolderData(lock=lock, assets=assets, findings=findings)
    locked_archive, archive = _packed_asset(scope, source)
    lock = Lock(endpoint=loaded_spec.spec.endpoint, archives={name: locked_archive})
    return FolderData(lock=lock, archive=archive, findings=findings)


def _onnx_file(loaded_spec: LoadedSpec, path: KeyPath, engine: Engine) -> OnnxFile:
    """The file of an ONNX model: an app may have it anywhere."""
    from triton_fleet.store.engines.onnx import OnnxFile

    return OnnxFile(file=Path(engine.onnx), mark=loaded_spec.source.mark((*path, "onnx")))


def _packed_asset(scope: Construct, source: FolderSource) -> tuple[LockedArchive, s3_assets.Asset]:
    """An archive that the CDK publishes, named by its content, and what a lock has of it."""
    from triton_fleet.store.archive import pack

    size = sum(size or 0 for _, size in source.contents.packed_entries)
    checksums: list[Checksums] = []
    with TemporaryDirectory() as temporary:
        file = Path(temporary, "model.tar.gz")
        with file.open("wb") as sink:
            stream = pack(lambda tar: checksums.append(source.write(tar)), sink, size)
        asset = s3_assets.Asset(scope, "Archive", path=str(file), asset_hash=hexadecimal(stream.digest))
    archive = LockedArchive(digest=stream.digest, size=stream.size, models=source.models(*checksums))
    return archive, asset


def _assets(
    scope: Construct, repositories: SpecRepositories, environment: Environment
) -> tuple[LockedArchive, RepositoryAssets]:
    """The files, the ONNX models and the build script, and what a lock has of files and engines."""
    from triton_fleet.repository.plan import plan_place
    from triton_fleet.store.engines.lock import archive_engines, with_engines

    loaded_spec, source = repositories.loaded_spec, repositories.folder(0)
    engines, onnx, places = dict[str, LockedEngine](), dict[str, s3_assets.Asset](), dict[str, str]()
    for engine in archive_engines(loaded_spec, environment, None):
        file = _onnx_file(loaded_spec, engine.path, engine.engine)
        content, model = file.measure(), engine.model
        engines[model] = LockedEngine(
            key=engine.build(content.digest).key, onnx=content.digest, size=content.size
        )
        onnx[model] = s3_assets.Asset(
            scope, f"Onnx{model}", path=str(file.file.absolute()), asset_hash=hexadecimal(content.digest)
        )
        places[model] = f"{model}/{plan_place(source.contents, model, engine.compute_capability)}"
    content_of_script, script_digest = build_script()
    with TemporaryDirectory() as temporary:
        script = Path(temporary, "script.zip")
        script.write_bytes(content_of_script)
        files = Path(temporary, "repository.tar")
        archive = _write_files(source, files, places)
        assets = {
            name: s3_assets.Asset(scope, name, path=str(file), asset_hash=hexadecimal(digest))
            for name, file, digest in (
                ("Repository", files, archive.digest),
                ("Script", script, script_digest),
            )
        }
    archive = with_engines(archive, loaded_spec.spec.packed_archives[0], {0: engines})
    return archive, RepositoryAssets(
        digest=hexadecimal(archive.digest),
        files=assets["Repository"],
        script=assets["Script"],
        script_digest=script_digest,
        onnx=onnx,
        places=places,
    )


def _write_files(source: FolderSource, file: Path, places: Mapping[str, str]) -> LockedArchive:
    """Write the tar stream of the files, with one in each folder that would be empty in S3."""
    from triton_fleet.store.archive import (
        PLACEHOLDER_CONTENT,
        DigestWriter,
        Entry,
        placeholders,
        write_tar,
    )

    entries = source.contents.packed_entries
    paths = [path for path, size in entries if size is not None]
    folders = [path for path, size in entries if size is None]
    stand_ins = [
        Entry(path, len(PLACEHOLDER_CONTENT), lambda: iter((PLACEHOLDER_CONTENT,)))
        for path in placeholders([*paths, *places.values()], folders)
    ]
    with file.open("wb") as sink:
        stream = DigestWriter(sink)
        checksums = write_tar([*source.entries(), *stand_ins], stream)
    return LockedArchive(digest=stream.digest, size=stream.size, models=source.models(checksums))
