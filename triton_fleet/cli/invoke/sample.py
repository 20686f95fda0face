"""A sample of the spec as a request of `fleet invoke`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fleet_client.codec.datatypes import Array, from_list
from triton_fleet.cli.invoke.destination import Destination
from triton_fleet.context.samples import target_models
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.datatypes import NOT_FINITE, Datatype
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.samples import Input, flat


def read_sample(spec: EndpointSpec, name: str) -> tuple[Mapping[str, Array], Destination]:
    """The inputs of a sample by name, and which model it calls.

    Raises:
        FindingsError: the spec has no such sample, or numpy has no data type for one of its inputs.
    """
    samples = {sample.name: sample for sample in spec.samples}
    if (sample := samples.get(name)) is None:
        message = f"{spec.endpoint} has no sample {name!r}"
        hint = did_you_mean(name, list(samples), list_all=True)
        raise FindingsError([Finding(code="FL712", message=message, hint=hint)])
    if strays := [each for each, tensor in sample.inputs.items() if tensor.datatype is Datatype.BF16]:
        message = f"input {strays[0]!r} of the sample is BF16, which numpy lacks"
        raise FindingsError([Finding(code="FL709", message=message, hint="send it with --body")])
    arrays = {each: _array(tensor) for each, tensor in sample.inputs.items()}
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
