"""Several requests at once in the stand-in for DALI: each gets its own answer, or its own error."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from fleet_emulator.stand_ins.triton.dali.graph import Graph
from fleet_emulator.stand_ins.triton.dali.pipeline_file import Operator, SerializedPipeline
from tests.support.python_backend import NAME, InferenceRequest, python_backend
from tests.support.real_dali import encode_image, scene

SOURCE = Operator(name="ExternalSource", inputs=(), outputs=("IN",), arguments={}, argument_inputs=())
DECODER = Operator(name="decoders__Image", inputs=("IN",), outputs=("OUT",), arguments={}, argument_inputs=())
MODULES = ["fleet_emulator.stand_ins.triton." + name for name in ("backends.dali.model", "stand_in_instance")]


def test_an_image_that_cannot_be_decoded_fails_its_own_request_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, NAME, python_backend())
    instance: Any = import_module(MODULES[0]).TritonPythonModel()
    for name in MODULES:
        del sys.modules[name]
    instance.take({"max_batch_size": 8, "output": [{"name": "OUT", "dims": ["-1", "-1", "3"]}]})
    instance.graph = Graph(SerializedPipeline(operators=(SOURCE, DECODER), outputs=("OUT",)))

    image = np.frombuffer(encode_image(scene(3, 4), "BMP"), np.uint8)
    batches = [np.stack([image]), np.stack([image, 0 * image]), np.stack([image, image])]
    answers = instance.execute([InferenceRequest({"IN": batch}, ["OUT"]) for batch in batches])
    assert str(answers[1].error).startswith("stand-in for DALI: Unrecognized image format.")
    assert [answer.tensors[0].array.shape for answer in (answers[0], answers[2])] == [
        (1, 3, 4, 3),
        (2, 3, 4, 3),
    ]
