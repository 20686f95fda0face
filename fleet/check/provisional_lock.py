"""What a lock would contain of an endpoint's models, for a spec that has no lock yet."""

from __future__ import annotations

import tarfile
from pathlib import Path

from fleet.artifacts.engines.lock import require_models, require_place
from fleet.artifacts.engines.onnx import OnnxFile, onnx_of
from fleet.artifacts.model_facts import model_facts
from fleet.artifacts.sources.folder import changed_while_read
from fleet.artifacts.sources.spec_sources import built_models, no_s3, repository_of, source_of
from fleet.engines.endpoint_engines import spec_engines
from fleet.findings import FindingsError
from fleet.repository.copies import copied_name
from fleet.repository.kept_files import KeptFiles
from fleet.repository.layout import entries, model_names
from fleet.spec.endpoint import PackedArchive
from fleet.spec.engine import Engine
from fleet.spec.lock import NO_DIGEST, Lock, LockedArchive, LockedModel
from fleet.spec.project import LoadedSpec
from fleet.spec.s3_repository import in_s3
from fleet.spec.source import KeyPath

NO_CAPABILITY = ""
"""On which GPU a plan is to run decides its name, and not whether it has a place."""


def draft_lock(loaded: LoadedSpec) -> tuple[Lock, list[FindingsError]]:
    """The models of the spec's folders with sizes but without digests, so that no weights are read.

    What is in S3 is left out. Also returned is which folders and ONNX models are missing or cannot
    be packed.
    """
    archives, refused = dict[str, LockedArchive](), list[FindingsError]()
    try:
        require_models(loaded)
    except FindingsError as error:
        refused.append(error)
    for path, index, engine in spec_engines(loaded.spec):
        if not in_s3(loaded.spec.models[index]):
            try:
                _require_engine(loaded, path, index, engine)
            except FindingsError as error:
                refused.append(error)
    for each in loaded.spec.packed:
        if not in_s3(loaded.spec.models[each.index]) and each.copy in (None, 0):
            try:
                archives[each.name] = _archive(loaded, each)
            except FindingsError as error:
                refused.append(error)
    return Lock(endpoint=loaded.spec.endpoint, archives=archives), refused


def _require_engine(loaded: LoadedSpec, path: KeyPath, index: int, engine: Engine) -> None:
    onnx = onnx_of(loaded, path, engine, no_s3)
    if isinstance(onnx, OnnxFile):
        onnx.require_fit()
    require_place(loaded, index, engine.model, NO_CAPABILITY)


def _archive(loaded: LoadedSpec, packed: PackedArchive) -> LockedArchive:
    source_of(loaded, packed, no_s3).models(loaded.spec.mode)
    folder, kept, size = repository_of(loaded, packed.index), KeptFiles(), 0
    built = built_models(loaded.spec.models[packed.index])
    for path, is_folder in entries(folder):
        name = path.relative_to(folder).as_posix()
        if is_folder:
            kept.add_folder(name)
        else:
            size += _pass(path, name, kept)
        size += tarfile.BLOCKSIZE
    facts = model_facts(model_names(folder, built), kept)
    if packed.copy is not None:
        facts = {
            copied_name(name, packed.copy): _rename_models(each, packed.copy) for name, each in facts.items()
        }
    return LockedArchive(digest=NO_DIGEST, size=size, models=facts)


def _rename_models(facts: LockedModel, copy: int) -> LockedModel:
    """As the lock has them of a copy: with its own names."""
    steps = tuple(copied_name(step, copy) for step in facts.steps)
    name = copied_name(facts.name, copy) if facts.name else ""
    return facts.model_copy(update={"steps": steps, "name": name})


def _pass(file: Path, name: str, kept: KeptFiles) -> int:
    """Keep of a file what facts follow from; its size."""
    try:
        size = file.stat().st_size
        if wanted := kept.add(name, size):
            with file.open("rb") as content:
                kept.keep(name, content.read(wanted))
    except OSError as error:
        raise FindingsError([changed_while_read(file)]) from error
    return size
