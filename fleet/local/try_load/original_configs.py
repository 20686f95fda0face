"""Configurations that are loaded otherwise than they are written, read by Triton as they are written.

What rewrites them is protobuf's Python, which takes texts that Triton's C++ refuses.
"""

from __future__ import annotations

from pathlib import Path

from fleet.local.triton.server import TritonServer
from fleet.local.triton.start_rules import MULTI_MODEL
from fleet.local.try_load.load_request import NOT_READ, QUIET, post
from fleet.local.try_load.messages import Words, words_about
from fleet.local.try_load.preparation import Prepared

ROOT = "model"
"""How the container calls a model whose files lie at the root."""
NO_VERSION = "files"
"""Where what lies in the versions stands for itself: this is no version, so nothing can be loaded."""


def refused_as_written(prepared: Prepared, seconds: float) -> Words | None:
    """Why Triton does not read one of them; None if it reads all.

    Raises:
        HostingError: it cannot be asked.
    """
    empty, log = prepared.folder / "nothing", prepared.folder / "unchanged.log"
    empty.mkdir()
    server = TritonServer(prepared.runtime, empty, {**QUIET, MULTI_MODEL: "true"}, log=log)
    try:
        server.start()
        server.wait_ready(seconds)
        for number, (file, text) in enumerate(sorted(prepared.originals.items())):
            model, repository = file.parent.name or ROOT, prepared.folder / f"unchanged-{number}"
            _write(repository / model, text, (prepared.repository / file).parent)
            start = server.log_end()
            if NOT_READ in post(server, repository, model):
                return words_about(file, server.reason(repository, start), prepared)
    finally:
        server.stop(grace=0.0)
    return None


def _write(model: Path, config: bytes, beside: Path) -> None:
    """A model that has no version; by the names of its files Triton may know the backend."""
    (model / NO_VERSION).mkdir(parents=True)
    (model / "config.pbtxt").write_bytes(config)
    for version in sorted(entry for entry in beside.iterdir() if entry.is_dir())[:1]:
        for entry in version.iterdir():
            (model / NO_VERSION / entry.name).touch()
