"""How a Triton container would read a repository that is not on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from fleet.artifacts.sources.s3_object import S3Location
from fleet.findings import FindingsError
from fleet.repository.kept_files import CONFIG, KeptFiles
from fleet.repository.loading.outcome import served_models
from fleet.repository.reading.collector import Collector
from fleet.repository.reading.stream import UnreadableError
from fleet.spec.endpoint import Mode

MAX_FOLDERS = 20_000
"""Folders of models and versions."""


def served_in(gathered: Collector, kept: KeptFiles, mode: Mode, location: S3Location) -> tuple[str, ...]:
    """The model directories, checked like those of a folder; findings are at the place of the spec.

    Raises:
        FindingsError: the container of that mode could not serve them.
        UnreadableError: there are too many folders, or a config.pbtxt is too large.
    """
    with TemporaryDirectory(prefix="fleet-") as folder:
        root = Path(folder).resolve()
        _write(gathered, kept, root)
        try:
            return served_models(root, multi_model=mode is Mode.MULTI_MODEL, packed=False)
        except FindingsError as error:
            raise FindingsError(
                [
                    replace(
                        finding,
                        message=f"{location.url}{_below(finding.file, root)}: {finding.message}",
                        file=location.mark.file,
                        line=location.mark.line,
                        column=location.mark.column,
                    )
                    for finding in error.findings
                ]
            ) from error


def _write(gathered: Collector, kept: KeptFiles, root: Path) -> None:
    folders = [path for path in gathered.folders() if path.count("/") <= 1]
    if len(folders) > MAX_FOLDERS:
        raise UnreadableError(f"it has more than {MAX_FOLDERS} folders of models and versions")
    for path in folders:
        (root / path).mkdir(parents=True, exist_ok=True)
    configs = dict(_configs(kept))
    for path, content in configs.items():
        (root / path).write_bytes(content)
    text = b"\n".join(configs.values())
    for path, _ in gathered.files():
        # The code of a Python model must exist, and its name may be in its config.
        *above, name = path.split("/")
        if path == CONFIG or (len(above) == 2 and (name.endswith(".py") or name.encode() in text)):
            (root / path).touch()


def _configs(kept: KeptFiles) -> Iterator[tuple[str, bytes]]:
    for model, content in kept.configs.items():
        path = f"{model}/{CONFIG}"
        if content is None:
            raise UnreadableError(f"{path!r} is larger than the configuration of a model is")
        yield path, content


def _below(file: Path | None, root: Path) -> str:
    if file is None or file == root:
        return ""
    return f" ({file.relative_to(root).as_posix()})"
