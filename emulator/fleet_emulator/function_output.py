"""The output of functions, and the deployed code that a user wrote."""

from __future__ import annotations

import builtins
import hashlib
import importlib
import io
import logging
import shutil
import sys
import tempfile
import threading
from contextvars import ContextVar
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

from fleet_emulator.product import budget_of_disk, unpack_zip

LOGGER = "fleet_emulator.functions"
"""Functions are modules below this name, so that what they log comes here by itself."""

_lines: ContextVar[list[str]] = ContextVar("lines of the call in this thread")


def keep_lines(lines: list[str]) -> None:
    """Add to `lines` what this thread logs from now on."""
    _lines.set(lines)


class LineKeeper(logging.Handler):
    """Gives each line to the call in whose thread it was logged."""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line; one from a thread that a function started belongs to no call."""
        lines = _lines.get(None)
        if lines is not None:
            lines.append(self.format(record))


def captured_print(*values: Any, **options: Any) -> None:
    """The `print` of functions, where many run in one process: into the log unless it goes to a file."""
    if options.get("file") is not None:
        builtins.print(*values, **options)
        return
    text = io.StringIO()
    builtins.print(*values, **options | {"file": text})
    logging.getLogger(LOGGER).info(text.getvalue().rstrip("\n"))


class DeployedCode:
    """The unpacked archives of one embedded AWS."""

    def __init__(self) -> None:
        self._folders: dict[str, Path] = {}
        self._unpacking = threading.Lock()
        self._keeper = LineKeeper()

    def module(self, archive: bytes, name: str) -> ModuleType:
        """A module of an archive, which is imported once for all functions that have the same archive.

        Modules find each other by relative imports only: the archive is not on the search path.

        Raises:
            Exception: whatever importing it raises; the archive's name is not in the words of an ImportError.
        """
        package = self._package(archive)
        try:
            module = importlib.import_module(f"{package}.{name}")
        except ImportError as error:
            error.msg = error.msg.replace(f"{package}.", "")
            raise
        for each in _modules_of(package):
            sys.modules[each].__dict__["print"] = captured_print
        return module

    def close(self) -> None:
        """Forget all code."""
        logging.getLogger(LOGGER).removeHandler(self._keeper)
        for package, folder in self._folders.items():
            for name in _modules_of(package):
                del sys.modules[name]
            shutil.rmtree(folder, ignore_errors=True)  # an abandoned call may still use it
        self._folders.clear()

    def _package(self, archive: bytes) -> str:
        package = f"{LOGGER}.deployed_{hashlib.sha256(archive).hexdigest()}"
        with self._unpacking:
            if package not in self._folders:
                logging.getLogger(LOGGER).addHandler(self._keeper)
                folder = Path(tempfile.mkdtemp(prefix="fleet-function-"))
                self._folders[package] = folder
                unpack_zip(BytesIO(archive), folder, budget_of_disk(folder))
                root = ModuleType(package)
                root.__path__ = [str(folder)]
                sys.modules[package] = root
        return package


def _modules_of(package: str) -> list[str]:
    return [name for name in list(sys.modules) if name == package or name.startswith(f"{package}.")]
