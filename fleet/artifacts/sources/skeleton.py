"""What a Triton container would make of a repository that is not on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from fleet.artifacts.sources.s3_object import S3Location
from fleet.artifacts.sources.tree import Tree, UntrustedError
from fleet.findings import FindingsError
from fleet.repository.served import served_models
from fleet.spec.endpoint import Mode

CONFIG = "config.pbtxt"
MAX_CONFIG, MAX_CONFIGS, MAX_FOLDERS = 1 << 20, 16 << 20, 20_000
"""Bytes of one config.pbtxt and of all; folders of models and versions."""


class Configs(dict[str, bytes]):
    """The config.pbtxt of each model, by path, as far as they have been read."""

    def wanted(self, path: str, size: int) -> bool:
        """Whether the file is one.

        Raises:
            UntrustedError: it is, and it is too large.
        """
        if path.count("/") != 1 or not path.endswith(f"/{CONFIG}"):
            return False
        if size > MAX_CONFIG or size + sum(map(len, self.values())) > MAX_CONFIGS:
            raise UntrustedError(f"{path!r} is larger than the configuration of a model is")
        return True


def served_in(tree: Tree, configs: Mapping[str, bytes], mode: Mode, location: S3Location) -> tuple[str, ...]:
    """The model directories, checked as those of a folder; findings are told at the place of the spec.

    Raises:
        FindingsError: the container of that mode could not serve them.
        UntrustedError: there are too many folders.
    """
    with TemporaryDirectory(prefix="fleet-") as folder:
        root = Path(folder).resolve()
        _write(tree, configs, root)
        try:
            return served_models(root, multi_model=mode is Mode.MULTI_MODEL)
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


def _write(tree: Tree, configs: Mapping[str, bytes], root: Path) -> None:
    folders = [path for path in tree.folders if path.count("/") <= 1]
    if len(folders) > MAX_FOLDERS:
        raise UntrustedError(f"it holds more than {MAX_FOLDERS} folders of models and versions")
    for path in folders:
        (root / path).mkdir(parents=True, exist_ok=True)
    for path, content in configs.items():
        (root / path).write_bytes(content)
    text = b"\n".join(configs.values())
    for path in tree.files:
        # The code of a Python model has to be there, and may be named in its config.
        *above, name = path.split("/")
        if path == CONFIG or (len(above) == 2 and (name.endswith(".py") or name.encode() in text)):
            (root / path).touch()


def _below(file: Path | None, root: Path) -> str:
    if file is None or file == root:
        return ""
    return f" ({file.relative_to(root).as_posix()})"
