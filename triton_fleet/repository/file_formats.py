"""Whether a model's file can be what its backend loads, by its structure alone; no pickle in it is loaded.

Sources: pytorch, caffe2/serialize/inline_container.cc, PyTorchStreamReader (the archive's folder is that of
its first entry), and torch/csrc/jit/serialization/import.cpp, ScriptModuleDeserializer::deserialize and
deserialize in import_legacy.cpp (`constants`, `model.json`); xgboost, doc/model.schema (`learner`); for
files that Git LFS has not fetched, https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
from pathlib import Path

from triton_fleet.core.formats import format_size
from triton_fleet.findings import Finding
from triton_fleet.repository.stream import Stream

MAX_JSON_BYTES = 64 << 20
"""Of a file that is parsed here; Python needs several times as much memory."""
_NO_ZIP = "PytorchStreamReader failed reading zip archive: failed finding central directory"
_NO_CONSTANTS = "PytorchStreamReader failed locating file constants.pkl: file not found"
_NOT_XGBOOST = "it is not a model of XGBoost"


def torchscript_problem(file: Path) -> str:
    """Why torch.jit.load refuses a file, in its words and in ours; empty if it may be TorchScript.

    Raises:
        OSError: the file cannot be read.
    """
    if _is_pointer(file):
        return IS_POINTER
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error):
        return f"{_NO_ZIP}: it is not TorchScript"
    folder = names[0].partition("/")[0] if names else ""
    if {f"{folder}/constants.pkl", f"{folder}/model.json"}.isdisjoint(names):
        return f"{_NO_CONSTANTS}: it is not TorchScript, but weights or a pickled module"
    return ""


def xgboost_json_problem(file: Path) -> str:
    """Why a file is not a model that XGBoost has saved as JSON; empty if it may be one, or is too large.

    Raises:
        OSError: the file cannot be read.
    """
    if _is_pointer(file):
        return IS_POINTER
    if file.stat().st_size > MAX_JSON_BYTES:
        return ""
    try:
        model = json.loads(file.read_bytes().decode())
    except UnicodeDecodeError:
        return "it is not JSON: it is not UTF-8"
    except json.JSONDecodeError as error:
        return f"it is not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
    except RecursionError:
        return f"{_NOT_XGBOOST}: it is nested too deeply"
    if not isinstance(model, dict) or not isinstance(model.get("learner"), dict):
        return f"{_NOT_XGBOOST}: it has no object `learner`"
    return ""


def _is_pointer(file: Path) -> bool:
    with file.open("rb") as content:
        return content.read(len(BEGIN)) == BEGIN


BEGIN = b"version https://git-lfs"
IS_POINTER = "it is only a Git LFS pointer: run `git lfs pull`"
CODE = "FL750"
MIN_BYTES, MAX_BYTES = 100, 1023
"""Of a pointer."""
_SIZE = re.compile(rb"^size ([0-9]{1,18})$", re.MULTILINE)


def is_pointer(stream: Stream) -> bool:
    """Whether what comes next is the text that stands for a file."""
    return stream.peek(len(BEGIN)) == BEGIN


def lfs_size(content: bytes) -> int | None:
    """The bytes of the file that a pointer stands for; None of content that is not a pointer."""
    if not content.startswith(BEGIN) or len(content) > MAX_BYTES:
        return None
    size = _SIZE.search(content)
    return int(size[1]) if size else 0


def lfs_finding(file: Path, size: int) -> Finding:
    """The error for a file that Git LFS has not fetched."""
    message = f"this clone has only Git LFS's pointer to the file, which has {format_size(size)}"
    return Finding(code=CODE, message=message, hint="run `git lfs pull`", file=file)
