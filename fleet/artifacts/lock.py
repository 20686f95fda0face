"""Writing locks: what an environment will run, read from the model repositories."""

from __future__ import annotations

from pathlib import Path

import yaml

from fleet.artifacts.archive import measure
from fleet.artifacts.files import is_up_to_date, write_atomically
from fleet.findings import FindingsError
from fleet.repository.layout import model_names
from fleet.repository.main_model import main_model
from fleet.repository.python_code import check_python_code
from fleet.spec.endpoint import Mode
from fleet.spec.lock import Lock, LockedArchive
from fleet.spec.project import LoadedSpec, Project, all_of
from fleet.spec.source import finding_at

HEADER = "# Written by `fleet lock`. Reviewed, not edited: it says what this environment runs.\n"


def write_locks(project: Project) -> list[Path]:
    """Write the lock of each of the project's endpoints; the files whose content changed.

    Raises:
        FindingsError: a model repository is missing or cannot be packed; no lock is written then.
    """
    locks = all_of(project.endpoints, lambda name: _lock(project.load(name)), project.findings)
    texts = {project.lock_file(lock.endpoint): lock_text(lock) for lock in locks}
    changed = [file for file, text in texts.items() if not is_up_to_date(file, text)]
    for file in changed:
        write_atomically(file, texts[file])
    return changed


def lock_text(lock: Lock) -> str:
    """The lock as it is kept."""
    return HEADER + yaml.safe_dump(lock.model_dump(mode="json"), sort_keys=False, width=110)


def repository_of(loaded: LoadedSpec, index: int) -> Path:
    """The folder of one of the endpoint's model repositories.

    Raises:
        FindingsError: it is not there; the place is the line that names it.
    """
    mark = loaded.source.mark(("models", index, "repository"))
    repository = (mark.file.parent / loaded.spec.models[index].repository).resolve()
    if not repository.is_dir():
        message = f"{repository} is {'no folder' if repository.exists() else 'not there'}"
        hint = f"a path is relative to {mark.file.parent}"
        raise FindingsError([finding_at(mark, "FL401", message, hint)])
    return repository


def _lock(loaded: LoadedSpec) -> Lock:
    indexes = range(len(loaded.spec.models))
    return Lock(
        endpoint=loaded.spec.endpoint, archives=dict(all_of(indexes, lambda index: _archive(loaded, index)))
    )


def _archive(loaded: LoadedSpec, index: int) -> tuple[str, LockedArchive]:
    repository = repository_of(loaded, index)
    models = tuple(model_names(repository))
    check_python_code([repository / model for model in models])
    if loaded.spec.mode is Mode.MULTI_MODEL:
        main_model(repository, list(models))
    stream = measure(repository)
    name = loaded.spec.models[index].archive
    return name, LockedArchive(digest=stream.digest, size=stream.size, models=models)
