"""A repository made ready for the Triton of this machine, with stand-ins for backends that it lacks."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from fleet_emulator.triton_backends import ANY_BACKEND
from triton_fleet.catalog.images import missing_backends
from triton_fleet.findings import CannotRunError
from triton_fleet.local.model_data import unpack
from triton_fleet.local.triton.model_backend import STAND_INS, model_backends, model_config, write
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.staging import Rewrite, stage
from triton_fleet.repository.loading.load_plan import plan_load
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.reading.folder import read_folder
from triton_fleet.repository.unpacking import budget_of_disk

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
OF_STAND_INS = shutil.ignore_patterns(*STAND_INS)
"""The backends whose stand-in loads less than they do, or lacks a package: its verdict is not theirs."""


def with_stand_ins(backends: Path, names: Iterable[str], target: Path) -> tuple[str, ...]:
    """Copy the backends of this machine to `target`, and put a stand-in for each that is wanted beside them.

    A name that cannot be a folder gets none: Triton reports that it does not find it.

    Returns:
        The backends that are stood in for, sorted.
    """
    shutil.copytree(backends, target, ignore=OF_STAND_INS)
    absent_backends = tuple(
        sorted({name for name in names if NAME.fullmatch(name) and not (target / name).exists()})
    )
    for name in absent_backends:
        (target / name).mkdir()
        shutil.copy2(ANY_BACKEND, target / name / ANY_BACKEND.name)
    return absent_backends


def without_tensors(repository: Path, models: Iterable[str]) -> list[str]:
    """Those of the models whose configuration lacks inputs or outputs, which their own backend would know."""
    configs = {model: model_config(repository / model) for model in models}
    return [model for model, config in configs.items() if config and not (config.input and config.output)]


def without_runtimes(repository: Path, models: Iterable[str]) -> Iterator[Rewrite]:
    """Take the name of the missing library out of configurations that give it; a stand-in has none.

    The files of the rewrites are relative to the model repository.
    """
    for model in models:
        file, config = repository / model / CONFIG, model_config(repository / model)
        if config and config.runtime.endswith(".so") and not file.parent.is_symlink():
            was = f'runtime: "{config.runtime}"'
            config.ClearField("runtime")
            file.unlink()  # it may be a link to the original
            file.write_text(write(config), "utf-8")
            yield Rewrite(file=file.relative_to(repository), was=was, became="")


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
    registered_folder: Path
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
        source = path
        if not path.is_dir():
            source = unpack(path, folder / "unpacked", str(path), budget_of_disk(folder))
        at_root = container.multi_model and (source / CONFIG).is_file()
        registered_folder = folder / "model"
        # Triton finds files at the root only where the container has them, in /opt/ml/models.
        repository = registered_folder / "model" if at_root else registered_folder
        try:
            rewrites = _stage(source, repository)
            models = registered_folder if at_root else repository
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
            registered_folder=registered_folder,
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
