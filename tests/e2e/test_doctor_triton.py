"""The sentences of a real Triton that does not start, or fails a call: `fleet doctor` names their cause."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet_emulator.hosting import HostingError
from tests.support.triton_models import DOUBLE, TENSORS, Starter, onnx_model, python_model
from triton_fleet.aws.doctor.diagnosis import causes, reason_of_failures
from triton_fleet.aws.doctor.lines import symptom_texts
from triton_fleet.aws.doctor.observation import Passage
from triton_fleet.catalog.symptoms import EvidenceOrigin

pytestmark = pytest.mark.triton

RAISES = DOUBLE.replace(
    "    def execute", "    def initialize(self, args):\n        open('/no/such')\n\n    def execute"
)


def with_config(folder: Path, config: str) -> Path:
    repository = python_model(folder)
    (repository / "double" / "config.pbtxt").write_text(config)
    return repository


@pytest.mark.parametrize(
    ("product", "code", "words"),
    [
        (lambda folder: python_model(folder, f"import no_such_package\n{DOUBLE}"), "FL649", "no_such_package"),
        (lambda folder: python_model(folder, RAISES), "FL657", "model double raised an error"),
        (lambda folder: onnx_model(folder, f'backend: "openvino" {TENSORS}', ["n", 2]), "FL254", "openvino"),
        (lambda folder: with_config(folder, 'backend: "python"\nno_such_field: 1\n'), "FL255", "no_such_field"),
        (lambda folder: with_config(folder, f'name: "other" backend: "python" {TENSORS}'), "FL289", "'other'"),
    ],
    ids=["package", "error", "backend", "config", "name"],
)  # fmt: skip
def test_the_one_cause_is_the_one_that_was_built_in(
    starter: Starter, tmp_path: Path, product: Callable[[Path], Path], code: str, words: str
) -> None:
    with pytest.raises(HostingError) as failure:
        starter.start(product(tmp_path))
    lines = (tmp_path / "triton.log").read_text().splitlines()
    log = [
        Passage(origin=EvidenceOrigin.LOG, of="the log", text=text, next_text=following_text)
        for text, following_text in symptom_texts(lines)
    ]
    (finding,) = causes(log, None, None)
    assert (finding.code, words in finding.message) == (code, True)
    passage = Passage(origin=EvidenceOrigin.EVENT, of="the event", text=str(failure.value))
    assert causes([passage], None, None) != []


def test_a_call_that_raises_is_told_with_the_line_of_the_models_code(
    starter: Starter, tmp_path: Path
) -> None:
    code = DOUBLE.replace("        inputs =", "        raise ValueError('no such thing')\n        inputs =")
    server = starter.start(python_model(tmp_path, code))
    values = {"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}
    answer = server.pool.request("POST", "/invocations", json={"inputs": [values]})
    assert answer.status == 500
    pause = threading.Event()
    for _ in range(200):  # another process than the one that answers writes the line
        lines = (tmp_path / "triton.log").read_text().splitlines()
        if reason_of_failures(lines):
            break
        pause.wait(0.05)
    assert reason_of_failures(lines) == "ValueError: no such thing (double/1/model.py:8)"
    assert (
        causes([Passage(origin=EvidenceOrigin.LOG, of="the log", text=line) for line in lines], None, None)
        == []
    )
