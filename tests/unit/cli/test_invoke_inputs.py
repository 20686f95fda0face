"""Inputs of `fleet invoke` as a user writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from triton_fleet.cli.invoke.inputs import read_inputs
from triton_fleet.findings import Finding, FindingsError


def read(written_text: str) -> tuple[str, str, tuple[int, ...], list[Any]]:
    """Name, numpy's name of the type, shape and values of one input."""
    ((name, array),) = read_inputs([written_text]).items()
    return name, array.dtype.name, array.shape, array.ravel().tolist()


def findings(*written_text: str) -> list[Finding]:
    with pytest.raises(FindingsError) as caught:
        read_inputs(written_text)
    return caught.value.findings


@pytest.mark.parametrize(
    ("written_text", "expected_value"),
    [
        ("x=[[1.5, 2]]", ("x", "float32", (1, 2), [1.5, 2.0])),
        ("x=[[1], [2]]", ("x", "int64", (2, 1), [1, 2])),
        ("x=[true, false]", ("x", "bool", (2,), [True, False])),
        ('INPUT0=[["a sentence"]]', ("INPUT0", "object", (1, 1), ["a sentence"])),
        ("x=7", ("x", "int64", (), [7])),
        ('x="a=b"', ("x", "object", (), ["a=b"])),
        ("x:INT32=[[1,2]]", ("x", "int32", (1, 2), [1, 2])),
        ("x:UINT64=[18446744073709551615, 1]", ("x", "uint64", (2,), [2**64 - 1, 1])),
        ("x:FP16=[1]", ("x", "float16", (1,), [1.0])),
        ("x:FP32=[]", ("x", "float32", (0,), [])),
        ("x:BYTES=[[]]", ("x", "object", (1, 0), [])),
        ("input:0=[1]", ("input:0", "int64", (1,), [1])),
        ("input:0:INT8=[1]", ("input:0", "int8", (1,), [1])),
    ],
)
def test_json_on_the_command_line_has_the_data_type_of_its_values_or_the_one_written(
    written_text: str, expected_value: tuple[Any, ...]
) -> None:
    assert read(written_text) == expected_value


def test_a_json_file_is_read_as_json_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "data.json"
    file.write_text('[["naïve"]]', "utf-8")
    assert read(f"x=@{file}") == ("x", "object", (1, 1), ["naïve"])


@pytest.mark.parametrize(
    ("array", "datatype", "expected_value"),
    [
        (np.array([[1, 2]], "u1"), "", ("uint8", [1, 2])),
        (np.array([1.5, 0.1]), ":FP32", ("float32", [1.5, 0.10000000149011612])),
        (np.array([1, 2], ">i8"), ":INT32", ("int32", [1, 2])),
        (np.array(["a", "bc"]), ":BYTES", ("str64", ["a", "bc"])),
        (np.array([b"a"]), "", ("bytes8", [b"a"])),
    ],
)
def test_a_numpy_file_keeps_its_data_type_unless_another_is_written(
    tmp_path: Path, array: Any, datatype: str, expected_value: tuple[str, list[Any]]
) -> None:
    np.save(tmp_path / "x.npy", array)
    _, dtype, shape, values = read(f"x{datatype}=@{tmp_path / 'x.npy'}")
    assert (dtype, values, shape) == (*expected_value, array.shape)


@pytest.mark.parametrize(
    ("written_text", "code", "words"),
    [
        ("x", "FL703", "--input 'x' is not NAME=VALUE"),
        ("=[1]", "FL703", "--input '=[1]' is not NAME=VALUE"),
        (":INT32=[1]", "FL703", "is not NAME=VALUE"),
        ("x:INT33=[1]", "FL704", "input 'x' has the unknown data type 'INT33'"),
        ("x:BF16=[1.5]", "FL704", "unknown data type 'BF16'"),
        ("x:=[1]", "FL704", "unknown data type ''"),
        ("x=@nowhere.npy", "FL706", "input 'x' cannot be read: No such file or directory"),
        ("x=@image.png", "FL706", "input 'x' is in a file of an unknown type"),
        ("x=hello", "FL707", "input 'x' is not JSON: Expecting value"),
        ("x=", "FL707", "input 'x' is not JSON: Expecting value"),
        ("x=[[1], [2, 3]]", "FL707", "input 'x' is ragged"),
        ("x=[1, [2]]", "FL707", "input 'x' is ragged"),
        (f"x={'[' * 40}1{']' * 40}", "FL707", "or has more dimensions than numpy's arrays"),
        (f"x={'[' * 100_000}", "FL707", "input 'x' cannot be read as JSON"),
        ("x=[]", "FL707", "input 'x' is empty, so its data type is unknown"),
        ("x=null", "FL707", "input 'x' contains null"),
        ('x={"a": 1}', "FL707", "input 'x' contains objects"),
        ('x=[1, "a"]', "FL707", "input 'x' contains integers and text"),
        ("x=[true, 2]", "FL707", "input 'x' contains booleans and integers"),
        ("x=[NaN]", "FL707", "JSON has no NaN; use a .npy file"),
        ("x:INT32=[1.5]", "FL707", "input 'x' has values that do not fit INT32: they are float64"),
        ("x:INT8=[1, 300]", "FL707", "do not fit INT8: they reach from 1 to 300"),
        ("x:UINT8=[-1]", "FL707", "do not fit UINT8: they reach from -1 to -1"),
        ("x=[99999999999999999999]", "FL707", "do not fit INT64: they are not numbers of 64 bits"),
        (f"x=[1.5, 1{'0' * 400}]", "FL707", "do not fit FP32: they are not numbers of 64 bits"),
        ("x=[1e39]", "FL707", "do not fit FP32: one of them would become infinite"),
        ("x:FP32=[true]", "FL707", "do not fit FP32: they are bool"),
        ("x:BOOL=[1]", "FL707", "do not fit BOOL: they are int64"),
        ("x:BYTES=[1]", "FL707", "do not fit BYTES: they are int64"),
        ('x:FP32=["1.5"]', "FL707", "do not fit FP32"),
    ],
)
def test_what_a_user_gets_wrong_is_named(written_text: str, code: str, words: str) -> None:
    (finding,) = findings(written_text)
    assert (finding.code, words in finding.message) == (code, True), finding


def test_an_unknown_data_type_is_answered_with_the_nearest_known_one() -> None:
    assert findings("x:int32=[1]")[0].hint == "did you mean `INT32`?"


def test_a_mistake_in_a_json_file_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "data.json"
    file.write_text("[1,\n 2,\n x]")
    (finding,) = findings(f"x=@{file}")
    assert (finding.file, finding.line, finding.column) == (file, 3, 2)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.json", b"\xff", "input 'x' is not UTF-8"),
        ("x.npy", b"", "input 'x' cannot be read as a numpy file"),
        ("x.npy", b"PK\x03\x04", "cannot be read as a numpy file"),
        ("x.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f4',", "cannot be read as a numpy file"),
        (
            "x.npy",
            b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999, 4), }",
            "cannot be read as a numpy file",
        ),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    (finding,) = findings(f"x=@{tmp_path / name}")
    assert (finding.code, finding.file, words in finding.message) == ("FL706", tmp_path / name, True)


def test_a_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(100))
    (tmp_path / "x.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-8])
    assert findings(f"x=@{tmp_path / 'x.npy'}")[0].code == "FL706"


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([{"a": 1}]), allow_pickle=True)
    (finding,) = findings(f"x=@{tmp_path / 'x.npy'}")
    assert "Object arrays cannot be loaded when allow_pickle=False" in finding.message


def test_an_array_that_triton_has_no_data_type_for_is_named(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(1, "c8"))
    (finding,) = findings(f"x=@{tmp_path / 'x.npy'}")
    assert finding.message == "input 'x' is complex64, a data type that Triton does not have"


def test_all_mistakes_are_told_at_once_and_a_repeated_name_once() -> None:
    codes = [
        finding.code for finding in findings("x=[1]", "x:INT8=[2]", "y", "z:INT33=[1]", "w=@nowhere.npy")
    ]
    assert sorted(codes) == ["FL703", "FL704", "FL705", "FL706"]


def test_a_long_value_is_not_repeated_in_full() -> None:
    (finding,) = findings("a long text without the sign that is needed" * 100)
    assert len(finding.message) < 120
