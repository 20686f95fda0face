"""What is kept of a repository's files as they pass by, so that none is read again for its models' facts."""

from __future__ import annotations

from dataclasses import dataclass, field

from fleet.repository.backends import FILES
from fleet.repository.model_config import CONFIG, MAX_BYTES
from fleet.repository.plan_header import HEADER

PLAN = ".plan"
MAX_CONFIGS = 16 << 20
"""Bytes of all."""


def is_config(path: str) -> bool:
    """Whether a file is the config.pbtxt of a model."""
    return path.count("/") == 1 and path.endswith(f"/{CONFIG}")


@dataclass
class KeptFiles:
    """A few bytes of some files, and sizes by folder; paths are relative to the repository."""

    configs: dict[str, bytes | None] = field(default_factory=dict)
    """The config.pbtxt of each model that has one; None where they are too large."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of all files in a folder of a model, by MODEL/FOLDER."""
    folders: set[str] = field(default_factory=set)
    """MODEL/FOLDER of all folders of a model, those without files as well."""
    names: set[str] = field(default_factory=set)
    """MODEL/FOLDER/NAME of files that show the backend."""
    plans: dict[str, bytes] = field(default_factory=dict)
    """The first bytes of each TensorRT plan in such a folder, by path."""
    _configs_size: int = field(default=0, init=False)

    def add_folder(self, path: str) -> None:
        """A folder that passes."""
        if path.count("/") == 1:
            self.folders.add(path)

    def add(self, path: str, size: int) -> int:
        """A file that is about to pass: how many of its first bytes are to be kept."""
        model, *below = path.split("/", 3)
        if is_config(path):
            return self._config(model, size)
        if len(below) < 2:
            return 0
        folder = f"{model}/{below[0]}"
        self.folders.add(folder)
        self.sizes[folder] = self.sizes.get(folder, 0) + size
        if below[1] in FILES:
            self.names.add(f"{folder}/{below[1]}")
        return HEADER if path.endswith(PLAN) else 0

    def keep(self, path: str, head: bytes) -> None:
        """The requested bytes, or fewer if the file ends before."""
        if path.endswith(PLAN):
            self.plans[path] = head
        else:
            self.configs[path.partition("/")[0]] = head

    def _config(self, model: str, size: int) -> int:
        if size > MAX_BYTES or size + self._configs_size > MAX_CONFIGS:
            self.configs[model] = None
            return 0
        self.configs[model] = b""
        self._configs_size += size
        return size
