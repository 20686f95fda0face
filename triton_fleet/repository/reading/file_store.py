"""Store of the files' contents that are kept as they pass by."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.findings import Severity
from triton_fleet.repository.entry_path import is_version
from triton_fleet.repository.model_config import CONFIG, MAX_BYTES
from triton_fleet.repository.onnx.graph import read_header
from triton_fleet.repository.onnx.wire import FieldBudget
from triton_fleet.repository.plan import HEADER
from triton_fleet.repository.reading.collector import Collector
from triton_fleet.repository.reading.environment import read_environment
from triton_fleet.repository.reading.gunzip import Bounds
from triton_fleet.repository.stream import Stream

CONFIGS = "configs"
ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".tar")
PLAN = "plan"
TEXTS = {"config", "code"}
"""Kinds of files of which the whole content is kept."""
MAX_TEXTS = 16 << 20
"""Bytes of all configs, and of all Python files."""


class FileStore:
    """The contents of one repository's files; `bounds` are those of what is unpacked."""

    def __init__(self, collector: Collector, bounds: Bounds) -> None:
        self._collector, self._bounds = collector, bounds
        self._budget = FieldBudget()
        self._free_bytes = {"config": MAX_TEXTS, "code": MAX_TEXTS}

    def read(self, path: str, size: int, content: Stream) -> None:
        """Keep of a file what is to be kept.

        Raises:
            TooLargeError: a packed environment unpacks to too much.
        """
        kind = kind_of(path)
        if kind == "onnx":
            self._collector.headers[path] = read_header(content, size, self._budget)
        elif kind == "packed":
            self._collector.environments[path] = read_environment(content, self._bounds)
        elif (head := self._head_size(path, size, kind)) is not None:
            self._collector.texts[path] = content.read_exact(head)

    def watch(self, path: str, size: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Pass a file's chunks on, and keep of a config or a plan what is to be kept."""
        kind = kind_of(path)
        head_size = self._head_size(path, size, kind) if kind in ("config", PLAN) else None
        head = bytearray()
        for chunk in chunks:
            yield chunk
            head += chunk[: (head_size or 0) - len(head)]
        if head_size is not None:
            self._collector.texts[path] = bytes(head)

    def _head_size(self, path: str, size: int, kind: str) -> int | None:
        """How many bytes of a file are kept; None of one of which nothing is."""
        if kind == PLAN:
            return HEADER
        if kind not in self._free_bytes:
            return None
        if size > MAX_BYTES or size > self._free_bytes[kind]:
            message = f"{path!r} has {size} bytes: its content is not checked"
            hint = f"at most {MAX_BYTES} bytes are read of a file, and {MAX_TEXTS} of all of its kind"
            self._collector.notes.add("FL444", message, path, hint, Severity.WARNING)
            return None
        self._free_bytes[kind] -= size
        return size


def kind_of(path: str) -> str:
    """Kind of a file for its checks: "config", "code", "plan", "onnx", "packed"; "" if only by its name.

    Configs are in a model or in its folder `configs`, code is beside model.py in a folder of a model. The
    repository itself may be the only model.
    """
    *folders, name = path.split("/")
    depth = len(folders)
    if name.endswith(".pbtxt"):
        is_config = (name == CONFIG and depth < 2) or (depth in (1, 2) and folders[-1] == CONFIGS)
        return "config" if is_config else ""
    if name.endswith(".py"):
        return "code" if depth == 2 or (depth == 1 and is_version(folders[0])) else ""
    if name.endswith(".onnx"):
        return "onnx"
    if name.endswith(".plan"):
        return PLAN
    return "packed" if depth and name.endswith(ARCHIVE_SUFFIXES) else ""
