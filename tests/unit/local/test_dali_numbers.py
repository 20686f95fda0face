"""The stand-in for DALI computes what DALI itself has computed on a CPU; its numbers are kept in real_dali.json."""

from __future__ import annotations

import json
from base64 import b64decode

import numpy as np
import pytest

from fleet_emulator.stand_ins.triton.dali.graph import Graph
from fleet_emulator.stand_ins.triton.dali.operators import UnknownToStandInError
from fleet_emulator.stand_ins.triton.dali.pipeline_file import read_pipeline
from tests.support.real_dali import REAL, REASON, maker, written_pipeline


@pytest.mark.parametrize("title", REAL["cases"])
def test_it_computes_the_numbers_of_dali(title: str) -> None:
    case = REAL["cases"][title]
    graph = Graph(read_pipeline(b64decode(case["pipeline"])))
    (name,) = graph.inputs
    (output,) = graph.run({name: np.frombuffer(b64decode(case["image"]), np.uint8)})
    assert (str(output.dtype), list(output.shape)) == (case["dtype"], case["shape"])
    numbers = output[:: case["every"], :: case["every"]].ravel()
    np.testing.assert_allclose(numbers, case["numbers"], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("message", REAL["unknown"])
def test_a_pipeline_that_it_would_compute_otherwise_is_refused_by_name(message: str) -> None:
    with pytest.raises(UnknownToStandInError, match=f"^{message}$"):
        Graph(read_pipeline(b64decode(REAL["unknown"][message])))


def test_the_numbers_are_those_of_dali_itself() -> None:
    pytest.importorskip("nvidia.dali", reason=REASON)
    assert json.loads(written_pipeline()) == REAL


def test_the_pipeline_of_the_example_is_what_its_script_makes() -> None:
    pytest.importorskip("nvidia.dali", reason=REASON)
    made_maker = maker()
    assert made_maker.MODEL.read_bytes() == made_maker.pipeline() + made_maker.DEVICE_0
