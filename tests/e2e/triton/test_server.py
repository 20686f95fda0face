"""A real Triton: why it does not start is said, and nothing is left behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fleet_emulator.hosting import HostingError
from tests.support.triton_models import (
    DOUBLE,
    TENSORS,
    Starter,
    alive,
    is_session_over,
    onnx_model,
    python_model,
    shared_memory,
)

pytestmark = pytest.mark.triton


def test_a_python_model_that_fails_to_initialize_is_named_with_its_error_and_line(
    starter: Starter, tmp_path: Path
) -> None:
    code = DOUBLE.replace(
        "    def execute", "    def initialize(self, args):\n        open('/no/such')\n\n    def execute"
    )
    with pytest.raises(HostingError) as caught:
        starter.start(python_model(tmp_path, code))
    problem = str(caught.value)
    assert "model 'double' failed to load: FileNotFoundError: [Errno 2] No such file or directory" in problem
    assert "(double/1/model.py:8)" in problem
    assert str(tmp_path / "triton.log") in problem
    assert "\n" not in problem


def test_a_python_model_whose_package_is_missing_names_the_package(starter: Starter, tmp_path: Path) -> None:
    with pytest.raises(
        HostingError, match=r"model 'double' failed to load: ModuleNotFoundError: .* 'no_such_package'"
    ):
        starter.start(python_model(tmp_path, f"import no_such_package\n{DOUBLE}"))


def test_an_onnx_file_that_is_none_is_named_with_the_parsers_words(starter: Starter, tmp_path: Path) -> None:
    repository = onnx_model(tmp_path, f'platform: "onnxruntime_onnx" {TENSORS}', ["n", 2])
    (repository / "double" / "1" / "model.onnx").write_text("garbage")
    with pytest.raises(HostingError, match=r"model 'double' failed to load: .*Protobuf parsing failed"):
        starter.start(repository)


def test_a_tensor_that_the_onnx_model_lacks_fails_the_load(starter: Starter, tmp_path: Path) -> None:
    config = f'platform: "onnxruntime_onnx" {TENSORS}'.replace('"y"', '"z"')
    with pytest.raises(HostingError, match="unexpected inference output 'z', allowed outputs are: y"):
        starter.start(onnx_model(tmp_path, config, ["n", 2]))


def test_a_backend_that_this_machine_lacks_is_named_with_those_it_has(
    starter: Starter, tmp_path: Path
) -> None:
    repository = onnx_model(tmp_path, f'backend: "openvino" {TENSORS}', ["n", 2])
    backends = r"'openvino'.*the backends of this machine: dali, onnxruntime, python, pytorch, tensorrt"
    with pytest.raises(HostingError, match=backends):
        starter.start(repository)


def test_a_config_with_an_unknown_field_is_named_with_its_line(starter: Starter, tmp_path: Path) -> None:
    repository = python_model(tmp_path)
    (repository / "double" / "config.pbtxt").write_text('backend: "python"\nno_such_field: 1\n')
    with pytest.raises(
        HostingError, match=r"config.pbtxt of model 'double' cannot be read: line 2:14: .*no_such_field"
    ):
        starter.start(repository)


def test_a_server_that_is_not_ready_in_time_is_stopped_and_the_model_it_waits_for_is_named(
    starter: Starter, tmp_path: Path
) -> None:
    code = DOUBLE.replace(
        "    def execute",
        "    def initialize(self, args):\n        import time; time.sleep(60)\n\n    def execute",
    )
    with pytest.raises(HostingError, match=r"not ready after 3 s, still loading double"):
        starter.start(python_model(tmp_path, code), timeout=3.0)
    assert starter.servers[0].process.dead.is_set()
    assert is_session_over(starter.servers[0].process.pid)


def test_an_option_that_triton_does_not_know_is_named(starter: Starter, tmp_path: Path) -> None:
    with pytest.raises(HostingError, match="unrecognized option '--no-such-option'"):
        starter.start(python_model(tmp_path), {"SAGEMAKER_TRITON_ADDITIONAL_ARGS": "--no-such-option"})


def test_stopping_leaves_no_process_and_no_shared_memory(starter: Starter, tmp_path: Path) -> None:
    server = starter.start(python_model(tmp_path))
    session = server.process.pid
    way_in = Path(sys.executable).name
    assert sorted(alive(session)) == [way_in, "triton_python_backend_stub", "tritonserver"]
    assert shared_memory(server.process)
    server.stop()
    assert is_session_over(session)
    assert not shared_memory(server.process)
