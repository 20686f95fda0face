"""Deployed code as modules: each archive is a package under a name of its own, so that no two ever mix."""

from __future__ import annotations

import hashlib
import importlib
import logging
import shutil
import sys
import tempfile
import threading
from io import BytesIO
from pathlib import Path
from types import ModuleType

from fleet_emulator.function_output import LOGGER, LineKeeper, captured_print
from fleet_emulator.product import budget_of_disk, unpack_zip


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
