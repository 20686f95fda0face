"""The output of `fleet invoke`: one JSON document, or a numpy file for each output tensor."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from fleet_client.codec.datatypes import Array, datatype_of
from triton_fleet.core.files import replace_file
from triton_fleet.findings import Finding, FindingsError


def as_json(outputs: Mapping[str, Array]) -> str:
    """KServe's description of the outputs, with flat data; NaN and infinity are text, as JSON has neither.

    Raises:
        FindingsError: an output has bytes that are not UTF-8.
    """
    descriptions = [
        {"name": name, "shape": array.shape, "datatype": datatype_of(array), "data": _values(name, array)}
        for name, array in outputs.items()
    ]
    return json.dumps({"outputs": descriptions}, allow_nan=False)


def save_outputs(outputs: Mapping[str, Array], folder: Path) -> Iterator[str]:
    """Write FOLDER/NAME.npy for each output atomically; yield a line for each written file.

    Special characters of file names are escaped as in URLs, `/` as `%2F`, so no two outputs share a file.

    Raises:
        FindingsError: an output does not fit in a numpy file; then nothing is written.
    """
    for name, array in [(name, _storable(name, array)) for name, array in outputs.items()]:
        file = folder / f"{quote(name, safe='')}.npy"
        content = BytesIO()
        np.save(content, array, allow_pickle=False)
        replace_file(file, content.getvalue())
        yield f"{file}: shape {list(array.shape)}, {array.dtype}"


def _values(name: str, array: Array) -> list[Any]:
    flat: list[Any] = array.ravel().tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return [value if np.isfinite(value) else json.dumps(value) for value in flat]
    if array.dtype.kind != "O":
        return flat
    try:
        return [value.decode() for value in flat]
    except UnicodeDecodeError as error:
        problem = f"output {name!r} has {error.object!r}, which is not UTF-8 and cannot be JSON text"
        raise _refusal(problem, "write it to a file: --save FOLDER") from error


def _storable(name: str, array: Array) -> Array:
    """Byte strings of one length: numpy stores other objects only with pickle."""
    if array.dtype.kind != "O":
        return array
    if any(value.endswith(b"\0") for value in array.ravel().tolist()):
        problem = f"output {name!r} has a byte string that ends in zero bytes, which numpy files cut off"
        raise _refusal(problem, "read it with fleet_client")
    return array.astype(np.bytes_)


def _refusal(problem: str, hint: str) -> FindingsError:
    return FindingsError([Finding(code="FL711", message=problem, hint=hint)])
