"""The inputs of `fleet invoke`: files, sizes, values, or a request made from the endpoint's sample."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fleet_client.codec.datatypes import BYTES, NUMPY, Array, datatype_of, fit_array, from_list
from triton_fleet.cli.invoke.refusals import Destination
from triton_fleet.context.samples import target_models
from triton_fleet.findings import Finding, FindingsError, all_of
from triton_fleet.spec.datatypes import NOT_FINITE, Datatype
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.samples import Input, flat

DATATYPES = [*NUMPY, BYTES]
_FORM = "write NAME=VALUE or NAME:INT32=VALUE; the value is JSON, @FILE.json or @FILE.npy: 'x=[[1.5, 2.0]]'"
_DATATYPES_OF_KINDS = {
    frozenset({bool}): "BOOL",
    frozenset({int}): "INT64",
    frozenset({float}): "FP32",
    frozenset({int, float}): "FP32",
    frozenset({str}): BYTES,
}
_KINDS = {
    bool: "booleans",
    int: "integers",
    float: "fractions",
    str: "text",
    dict: "objects",
    type(None): "null",
}


def read_inputs(arguments: Sequence[str]) -> dict[str, Array]:
    """The arrays by name: `.npy` files in their own data type, JSON in the data type of its values.

    JSON text is BYTES, fractions are FP32, integers INT64, true and false BOOL.

    Raises:
        FindingsError: every input that has another form, is given twice, or whose values do not fit.
    """
    names = Counter(_parse_name(argument.partition("=")[0])[0] for argument in arguments if "=" in argument)
    duplicates = [
        Finding(code="FL705", message=f"input {name!r} is given {count} times", hint="name each input once")
        for name, count in names.items()
        if count > 1
    ]
    return dict(all_of(arguments, _read, duplicates))


def _read(argument: str) -> tuple[str, Array]:
    name_part, equals, value = argument.partition("=")
    name, datatype = _parse_name(name_part)
    if not equals or not name:
        excerpt = argument if len(argument) <= 80 else f"{argument[:77]}…"
        problem = f"--input {excerpt!r} is not NAME=VALUE"
        raise FindingsError([Finding(code="FL703", message=problem, hint=_FORM)])
    file = Path(value[1:]) if value.startswith("@") else None
    source = _Input(name, datatype, file)
    if datatype is not None and datatype not in DATATYPES:
        hint = did_you_mean(datatype.upper(), DATATYPES)
        raise source.refusal("FL704", f"has the unknown data type {datatype!r}", hint)
    return name, source.read_list(value) if file is None else source.read_file(file)


def _parse_name(name_part: str) -> tuple[str, str | None]:
    """Name and data type; TensorFlow names tensors `input:0`."""
    name, colon, datatype = name_part.rpartition(":")
    return (name, datatype) if colon and not datatype.isdecimal() else (name_part, None)


@dataclass(frozen=True)
class _Input:
    name: str
    datatype: str | None
    file: Path | None

    def read_file(self, file: Path) -> Array:
        try:
            match file.suffix:
                case ".npy":
                    return self._numpy(file)
                case ".json":
                    return self.read_list(file.read_text("utf-8"))
        except OSError as error:
            raise self.refusal("FL706", f"cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise self.refusal("FL706", f"is not UTF-8: {error.reason} at byte {error.start}") from error
        raise self.refusal("FL706", "is in a file of an unknown type", "pass a .npy or a .json file")

    def read_list(self, text: str) -> Array:
        value = self._parse_json(text)
        elements = np.array(value, dtype=np.object_)
        kinds = frozenset(type(element) for element in elements.ravel().tolist())
        if list in kinds:
            raise self.refusal("FL707", "is ragged, or has more dimensions than numpy's arrays can have")
        default_datatype = _DATATYPES_OF_KINDS.get(kinds)
        if kinds and default_datatype is None:
            kind_names = " and ".join(sorted(_KINDS[kind] for kind in kinds))
            hint = "all values of an input must be numbers, all text, or all true or false"
            raise self.refusal("FL707", f"contains {kind_names}", hint)
        datatype = default_datatype if self.datatype is None else self.datatype
        if datatype is None:
            hint = f"write {self.name}:FP32=… or another data type"
            raise self.refusal("FL707", "is empty, so its data type is unknown", hint)
        if datatype == BYTES and default_datatype in (None, BYTES):
            return elements
        try:
            return from_list(value, datatype)
        except ValueError as error:
            raise self._misfit(datatype, error) from error

    def refusal(
        self, code: str, problem: str, hint: str = "", line: int | None = None, column: int | None = None
    ) -> FindingsError:
        message = f"input {self.name!r} {problem}"
        finding = Finding(code=code, message=message, file=self.file, line=line, column=column, hint=hint)
        return FindingsError([finding])

    def _numpy(self, file: Path) -> Array:
        read: Any = np.lib.format.read_array  # numpy does not type it
        try:
            with file.open("rb") as stream:
                array: Array = read(stream, allow_pickle=False)
        except OSError:
            raise
        except Exception as error:  # for a damaged file: from numpy's parser, its allocation or tokenize
            raise self.refusal("FL706", f"cannot be read as a numpy file: {error}") from error
        stored_as = datatype_of(array)
        if stored_as is None:
            raise self.refusal("FL707", f"is {array.dtype}, a data type that Triton does not have")
        datatype = stored_as if self.datatype is None else self.datatype
        try:
            return array if datatype == stored_as else fit_array(array, datatype)
        except ValueError as error:
            raise self._misfit(datatype, error) from error

    def _parse_json(self, text: str) -> Any:
        try:
            return json.loads(text, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            if self.file is not None:
                raise self.refusal(
                    "FL707", f"is not JSON: {error.msg}", "", error.lineno, error.colno
                ) from error
            hint = f"""write text in double quotes, '{self.name}=["…"]', and @ before a file name"""
            raise self.refusal("FL707", f"is not JSON: {error.msg}", hint) from error
        except (ValueError, RecursionError) as error:
            raise self.refusal("FL707", f"cannot be read as JSON: {error}") from error

    def _misfit(self, datatype: str, reason: ValueError) -> FindingsError:
        return self.refusal("FL707", f"has values that do not fit {datatype}: {reason}")


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"JSON has no {constant}; use a .npy file")


def read_sample(spec: EndpointSpec, name: str) -> tuple[Mapping[str, Array], Destination]:
    """The inputs of a sample by name, and which model it calls.

    Raises:
        FindingsError: the spec has no such sample, or numpy has no data type for one of its inputs.
    """
    samples = {sample.name: sample for sample in spec.samples}
    if (sample := samples.get(name)) is None:
        message = f"{spec.endpoint} has no sample {name!r}"
        hint = did_you_mean(name, list(samples), whole_list=True)
        raise FindingsError([Finding(code="FL712", message=message, hint=hint)])
    if strays := [
        input_name for input_name, tensor in sample.inputs.items() if tensor.datatype is Datatype.BF16
    ]:
        message = f"input {strays[0]!r} of the sample is BF16, which numpy lacks"
        raise FindingsError([Finding(code="FL709", message=message, hint="send it with --body")])
    arrays = {input_name: _array(tensor) for input_name, tensor in sample.inputs.items()}
    target = sample.target and target_models(spec).get(sample.target, sample.target)
    return arrays, Destination(target=target, model=sample.model, version=sample.version)


def _array(tensor: Input) -> Array:
    elements = flat(tensor.data)
    if tensor.datatype is Datatype.BYTES:
        array: Array = np.array(elements, dtype=np.object_)
    else:
        numbers = [_float(element) for element in elements] if tensor.datatype.is_float else elements
        array = from_list(numbers, tensor.datatype)
    if isinstance(tensor.data, list):
        return array.reshape(tensor.shape)
    return np.full(tensor.shape, array[0], array.dtype)


def _float(element: object) -> float:
    assert isinstance(element, int | float | str)  # noqa: S101 - the spec's reader has checked it
    return NOT_FINITE[element] if isinstance(element, str) else float(element)
