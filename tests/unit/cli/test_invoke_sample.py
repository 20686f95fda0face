"""The request that `fleet invoke --sample` sends."""

from __future__ import annotations

import numpy as np
import pytest

from fleet_client.codec.datatypes import Array
from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.cli.invoke.inputs import read_sample
from triton_fleet.cli.invoke.refusals import Destination
from triton_fleet.findings import FindingsError
from triton_fleet.project.project import open_project

LIVE = SPEC.replace("../repository}", "../repository, version: 2}").replace(
    "models:", "mode: multi-model\narchive_set: live\nmodels:"
)


def invoke_tensor(folder: FleetFolder, tensor: str) -> Array:
    """The input of a sample."""
    folder.spec(f"samples: [{{name: one, inputs: {{x: {{{tensor}}}}}}}]\n")
    return read_sample(open_project(folder.root, "dev").load("sentences").spec, "one")[0]["x"]


@pytest.mark.parametrize(
    ("tensor", "expected_array"),
    [
        ("datatype: FP32, shape: [2, 2], data: [1, 2.5, 3, 4]", np.array([[1, 2.5], [3, 4]], np.float32)),
        ("datatype: FP16, shape: [1, 2], data: [[1, -Infinity]]", np.array([[1, -np.inf]], np.float16)),
        ("datatype: FP64, shape: [2], data: NaN", np.array([np.nan, np.nan])),
        ("datatype: FP32, shape: [1], data: [1000000000000000000000]", np.array([1e21], np.float32)),
        (
            "datatype: UINT64, shape: [2], data: [1, 18446744073709551615]",
            np.array([1, 2**64 - 1], np.uint64),
        ),
        ("datatype: INT8, shape: [2, 1], data: 7", np.array([[7], [7]], np.int8)),
        ("datatype: BOOL, shape: [2], data: [true, false]", np.array([True, False])),
        ("datatype: BYTES, shape: [1, 1], data: a b", np.array([["a b"]], np.object_)),
        ("datatype: INT64, shape: [0, 3], data: []", np.empty((0, 3), np.int64)),
        ("datatype: FP32, shape: [], data: 1.5", np.array(1.5, np.float32)),
    ],
)
def test_a_tensor_is_sent_in_its_shape_and_type(
    folder: FleetFolder, tensor: str, expected_array: Array
) -> None:
    array = invoke_tensor(folder, tensor)
    assert (array.dtype, array.shape) == (expected_array.dtype, expected_array.shape)
    assert np.array_equal(array, expected_array, equal_nan=expected_array.dtype.kind == "f")


def test_the_target_is_the_archives_target_model(folder: FleetFolder) -> None:
    sample = "samples: [{name: one, target: sentences, inputs: {}}]\n"
    folder.spec(sample, base=LIVE)
    spec = open_project(folder.root, "dev").load("sentences").spec
    assert read_sample(spec, "one") == ({}, Destination(target="sentences-v2.tar.gz"))


def test_the_route_and_version_of_a_sample_are_those_of_the_call(folder: FleetFolder) -> None:
    folder.spec("mode: shared-container\nsamples: [{name: one, model: bert, version: 2, inputs: {}}]\n")
    spec = open_project(folder.root, "dev").load("sentences").spec
    assert read_sample(spec, "one") == ({}, Destination(model="bert", version=2))


def test_a_sample_that_the_spec_lacks_is_told_with_those_it_has(folder: FleetFolder) -> None:
    folder.spec("samples: [{name: one, inputs: {}}]\n")
    with pytest.raises(FindingsError, match=r"FL712: sentences has no sample 'oen'\n.*did you mean `one`\?"):
        read_sample(open_project(folder.root, "dev").load("sentences").spec, "oen")


def test_bf16_is_refused_as_numpy_lacks_it(folder: FleetFolder) -> None:
    with pytest.raises(FindingsError, match="FL709: input 'x' of the sample is BF16"):
        invoke_tensor(folder, "datatype: BF16, shape: [1], data: [1]")
