"""A model's file is known by its structure to be none that its backend loads; nothing of it is run."""

from __future__ import annotations

import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest

from triton_fleet.repository.file_formats import (
    IS_POINTER,
    MAX_JSON_BYTES,
    torchscript_problem,
    xgboost_json_problem,
)

TORCHSCRIPT = ("net/data.pkl", "net/code/__torch__.py", "net/constants.pkl", "net/version")
WEIGHTS = ("archive/data.pkl", "archive/byteorder", "archive/data/0", "archive/version")
"""The records that torch.save writes, of weights and of a pickled module alike."""
NO_CONSTANTS = "PytorchStreamReader failed locating file constants.pkl: file not found"
NO_ZIP = "PytorchStreamReader failed reading zip archive: failed finding central directory"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1000\n"


def zip_folder(folder: Path, *names: str, content: bytes = b"") -> Path:
    file = folder / "model.pt"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name in names:
            archive.writestr(name, content)
    return file


def write_model(folder: Path, content: bytes) -> Path:
    file = folder / "model"
    file.write_bytes(content)
    return file


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.file),)


def test_what_has_the_records_of_torchscript_may_be_it(tmp_path: Path) -> None:
    assert torchscript_problem(zip_folder(tmp_path, *TORCHSCRIPT)) == ""


def test_the_first_form_of_torchscript_had_a_list_of_modules(tmp_path: Path) -> None:
    assert torchscript_problem(zip_folder(tmp_path, "net/model.json", "net/code/net.py")) == ""


@pytest.mark.parametrize(
    "names",
    [WEIGHTS, (*WEIGHTS, "archive/data/constants.pkl"), (*WEIGHTS, "other/constants.pkl"), ()],
    ids=["torch.save", "in a folder", "in another archive's folder", "empty"],
)
def test_an_archive_without_constants_is_not_torchscript(tmp_path: Path, names: tuple[str, ...]) -> None:
    problem = torchscript_problem(zip_folder(tmp_path, *names))
    assert problem == f"{NO_CONSTANTS}: it is not TorchScript, but weights or a pickled module"


@pytest.mark.parametrize("content", [b"", b"<html>", pickle.dumps({"weight": [1.0]}), b"PK\x03\x04 cut off"])
def test_what_is_not_an_archive_is_not_torchscript(tmp_path: Path, content: bytes) -> None:
    problem = torchscript_problem(write_model(tmp_path, content))
    assert problem == f"{NO_ZIP}: it is not TorchScript"


def test_no_pickle_is_loaded(tmp_path: Path) -> None:
    trap, sprung = pickle.dumps(Trap(tmp_path / "sprung")), tmp_path / "sprung"
    assert torchscript_problem(write_model(tmp_path, trap))
    assert torchscript_problem(zip_folder(tmp_path, *WEIGHTS, content=trap))
    assert not sprung.exists()


@pytest.mark.parametrize("problem", [torchscript_problem, xgboost_json_problem])
def test_a_pointer_of_git_lfs_is_named(tmp_path: Path, problem: Any) -> None:
    assert problem(write_model(tmp_path, POINTER)) == IS_POINTER


def test_json_with_a_learner_may_be_a_model_of_xgboost(tmp_path: Path) -> None:
    model = {"learner": {"gradient_booster": {}}, "version": [1, 7, 6]}
    assert xgboost_json_problem(write_model(tmp_path, json.dumps(model).encode())) == ""


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"learner": {', "it is not JSON: line 1, column 14: Expecting property name enclosed in double"),
        (b"", "it is not JSON: line 1, column 1: Expecting value"),
        (b"\x80\x04\xff", "it is not JSON: it is not UTF-8"),
        (b"[" * 200_000, "it is not a model of XGBoost: it is nested too deeply"),
        (b"[1, 2]", "it is not a model of XGBoost: it has no object `learner`"),
        (b'{"learner": 1}', "it is not a model of XGBoost: it has no object `learner`"),
        (b'{"trees": []}', "it is not a model of XGBoost: it has no object `learner`"),
    ],
    ids=["cut off", "empty", "binary", "nested", "list", "number", "another model"],
)
def test_what_is_not_a_model_of_xgboost_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    assert xgboost_json_problem(write_model(tmp_path, content)).startswith(problem)


def test_a_file_that_is_too_large_to_be_parsed_here_is_not_refused(tmp_path: Path) -> None:
    file = write_model(tmp_path, b"no JSON")
    os.truncate(file, MAX_JSON_BYTES + 1)
    assert xgboost_json_problem(file) == ""
