"""A repository made ready for the Triton of this machine, which is not the container's."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from triton_fleet.catalog.images import missing_backends
from triton_fleet.findings import CannotRunError
from triton_fleet.local.model_data import unpack
from triton_fleet.local.triton.model_backend import model_backends
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.staging import Rewrite, stage
from triton_fleet.local.try_load.stand_ins import with_stand_ins, without_runtimes, without_tensors
from triton_fleet.repository.loading.load_plan import plan_load
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.reading.folder import read_folder
from triton_fleet.repository.unpacking import budget_of_disk


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """A staged copy.

    Attributes:
        repository: The copy of what the user named.
        registered: What Triton is given for it: the same folder, or the one above.
        folder: Where there is room for logs.
        runtime: This machine's Triton, with stand-ins among its backends.
        rewrites: What the copy has otherwise.
        originals: The configurations that were rewritten, as they are written, by path in the repository.
        stand_ins: Models whose backend this machine lacks, and that backend.
        doubts: What keeps Triton's answer to the copy from being the container's.
    """

    repository: Path
    registered: Path
    folder: Path
    runtime: TritonRuntime
    rewrites: tuple[Rewrite, ...]
    originals: dict[Path, bytes]
    stand_ins: dict[str, str]
    doubts: tuple[str, ...]


@contextmanager
def prepare(path: Path, runtime: TritonRuntime, container: ServingContainer) -> Iterator[Preparation]:
    """Copy a folder, or unpack an archive, for as long as it is needed; `path` itself is not touched.

    A backend that the container's image is known to lack gets no stand-in: Triton reports that it is missing.

    Raises:
        HostingError: it is not an archive, or holds entries that would leave its folder.
        TooLargeError: the archive would fill the disk.
        CannotRunError: this machine cannot copy it.
    """
    with TemporaryDirectory(prefix="fleet-last-word-") as temporary:
        folder = Path(temporary).resolve()
        source = path if path.is_dir() else _unpack(path, folder / "unpacked")
        at_root = container.multi_model and (source / CONFIG).is_file()
        registered = folder / "model"
        # Triton finds files at the root only where the container has them, in /opt/ml/models.
        repository = registered / "model" if at_root else registered
        try:
            rewrites = _stage(source, repository)
            models = registered if at_root else repository
            backends = model_backends(models)
            in_image = set(backends.values()) - missing_backends(container.release or runtime.release)
            stood_in = with_stand_ins(runtime.backend_directory, in_image, folder / "backends")
            stand_ins = {model: backend for model, backend in backends.items() if backend in stood_in}
            rewrites += [
                replace(without_runtime, file=(models / without_runtime.file).relative_to(repository))
                for without_runtime in without_runtimes(models, stand_ins)
            ]
        except OSError as error:
            raise CannotRunError(f"{path} cannot be made ready for Triton: {error}") from error
        yield Preparation(
            repository=repository,
            registered=registered,
            folder=folder,
            runtime=replace(runtime, backend_directory=folder / "backends"),
            rewrites=tuple(rewrites),
            originals={
                rewrite.file: (source / rewrite.file).read_bytes()
                for rewrite in rewrites
                if rewrite.file.name == CONFIG
            },
            stand_ins={path.name if at_root else model: backend for model, backend in stand_ins.items()},
            doubts=(
                *_left_to_chance(repository, container),
                *_incomplete(models, stand_ins),
            ),
        )


def _unpack(archive: Path, folder: Path) -> Path:
    return unpack(archive, folder, str(archive), budget_of_disk(folder.parent))


def _stage(source: Path, target: Path) -> list[Rewrite]:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        return stage(source, target)
    except (OSError, RecursionError):  # an invalid configuration; Triton reports what is wrong with it
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target, symlinks=True)
        return []


def _left_to_chance(repository: Path, container: ServingContainer) -> list[str]:
    contents = read_folder(repository)
    is_certain = not container.multi_model or not contents.folders()
    return [] if is_certain else [chance.message for chance in plan_load(contents, container).chances[:1]]


def _incomplete(repository: Path, stand_ins: dict[str, str]) -> Iterator[str]:
    for model in without_tensors(repository, stand_ins):
        yield (
            f"the configuration of {model!r} leaves out inputs or outputs, which {stand_ins[model]} would"
            " take from the weights and its stand-in cannot"
        )
