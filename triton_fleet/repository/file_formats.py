"""Whether a model's file can be what its backend loads, by its structure alone; no pickle in it is loaded.

Sources: pytorch, caffe2/serialize/inline_container.cc, PyTorchStreamReader (the archive's folder is that of
its first entry), and torch/csrc/jit/serialization/import.cpp, ScriptModuleDeserializer::deserialize and
deserialize in import_legacy.cpp (`constants`, `model.json`); xgboost, doc/model.schema (`learner`).
"""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path

from triton_fleet.repository.lfs import BEGIN, IS_POINTER

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
