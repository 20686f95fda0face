"""The staged copy of a repository: what is rewritten for a machine without a GPU, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_fleet.local.triton.model_backend import stand_ins
from triton_fleet.local.triton.staging import stage


def stage_model(folder: Path, config: str) -> tuple[str, list[str]]:
    """The staged config.pbtxt on one line, and what is said about it."""
    source = folder / "repository" / "bert"
    source.mkdir(parents=True)
    (source / "config.pbtxt").write_text(config)
    rewrites = stage(folder / "repository", folder / "staged")
    text = (folder / "staged" / "bert" / "config.pbtxt").read_text()
    return " ".join(text.split()), [str(rewrite) for rewrite in rewrites]


@pytest.mark.parametrize(
    ("was", "became"),
    [
        ("kind: KIND_GPU", "count: 1 kind: KIND_CPU"),
        ("count: 2 kind: KIND_GPU", "count: 2 kind: KIND_CPU"),
        ("count: 1 kind: KIND_GPU gpus: [ 0, 1 ]", "count: 1 kind: KIND_CPU"),
        ("gpus: 0", "count: 1 kind: KIND_CPU"),
        ('kind: KIND_GPU profile: "0"', "count: 1 kind: KIND_CPU"),
    ],
)
def test_an_instance_group_on_gpus_moves_to_the_cpu(tmp_path: Path, was: str, became: str) -> None:
    text, lines = stage_model(tmp_path, f'backend: "python" instance_group [ {{ {was} }} ]')
    assert f"instance_group {{ {became} }}" in text
    (line,) = lines
    assert line.startswith("bert/config.pbtxt: instance_group { ")
    assert line.endswith(f" -> instance_group {{ {became} }}")


def test_each_of_several_instance_groups_is_looked_at(tmp_path: Path) -> None:
    text, lines = stage_model(
        tmp_path,
        'backend: "python" instance_group [ { kind: KIND_CPU count: 3 }, { kind: KIND_GPU count: 0 } ]',
    )
    assert "instance_group { count: 3 kind: KIND_CPU } instance_group { count: 1 kind: KIND_CPU }" in text
    assert len(lines) == 1


@pytest.mark.parametrize(
    "backend", ['platform: "onnxruntime_onnx"', 'backend: "onnxruntime"', 'platform: "tensorrt_plan"']
)
def test_a_model_of_a_stand_in_without_instance_group_gets_one_instance_and_not_tritons_two(
    tmp_path: Path, backend: str
) -> None:
    text, lines = stage_model(tmp_path, backend)
    assert "instance_group { count: 1 kind: KIND_CPU }" in text
    assert lines == ["bert/config.pbtxt: no instance_group -> instance_group { count: 1 kind: KIND_CPU }"]


def test_gpu_accelerators_and_cuda_graphs_are_dropped_from_the_optimization(tmp_path: Path) -> None:
    text, lines = stage_model(
        tmp_path,
        """
        backend: "onnxruntime"
        instance_group { kind: KIND_CPU }
        optimization {
          graph { level: 1 }
          cuda { graphs: true }
          execution_accelerators {
            gpu_execution_accelerator {
              name: "tensorrt"
              parameters { key: "precision_mode" value: "FP16" }
            }
            cpu_execution_accelerator: [ { name: "openvino" } ]
          }
        }
        """,
    )
    place = "bert/config.pbtxt: optimization"
    accelerators = 'execution_accelerators { cpu_execution_accelerator { name: "openvino" } }'
    assert f"optimization {{ graph {{ level: 1 }} {accelerators} }}" in text
    assert lines == [
        f"{place} {{ cuda {{ graphs: true }} }} -> dropped",
        f"{place} {{ execution_accelerators {{ gpu_execution_accelerator: tensorrt }} }} -> dropped",
    ]


def test_an_optimization_of_which_nothing_is_left_goes_altogether(tmp_path: Path) -> None:
    accelerators = 'execution_accelerators { gpu_execution_accelerator { name: "tensorrt" } }'
    text, _ = stage_model(tmp_path, f'backend: "python" optimization {{ {accelerators} }}')
    assert text == 'backend: "python"'


@pytest.mark.parametrize(
    "config",
    [
        'backend: "python"  # as the author wrote it\n',
        'platform: "ensemble"\n',
        'backend: "python" instance_group { kind: KIND_MODEL }\n',
        'backend: "python" instance_group { kind: KIND_CPU gpus: 0 }\n',
        "instance_group { kind: KIND_GPU }\nno_such_field: 1\n",
        "instance_group { kind: KIND_GPU\n",
    ],
)
def test_a_config_that_needs_no_change_or_does_not_parse_keeps_its_bytes(tmp_path: Path, config: str) -> None:
    _, lines = stage_model(tmp_path, config)
    assert (tmp_path / "staged" / "bert" / "config.pbtxt").read_text() == config
    assert lines == []


def test_the_original_stays_as_it_was_and_big_files_are_not_copied(tmp_path: Path) -> None:
    source = tmp_path / "repository" / "bert"
    (source / "1").mkdir(parents=True)
    (source / "config.pbtxt").write_text('backend: "python" instance_group { kind: KIND_GPU }')
    (source / "1" / "model.py").write_text("small")
    (source / "1" / "weights.bin").write_bytes(bytes(2 * 1024 * 1024))
    before = (source / "config.pbtxt").read_bytes()

    stage(tmp_path / "repository", tmp_path / "staged")

    copy = tmp_path / "staged" / "bert" / "1"
    assert (source / "config.pbtxt").read_bytes() == before
    assert (copy / "weights.bin").samefile(source / "1" / "weights.bin")
    assert not (copy / "model.py").samefile(source / "1" / "model.py")
    assert (copy / "model.py").read_text() == "small"


def test_a_configuration_is_read_as_triton_reads_it_where_protobuf_of_python_does_not(tmp_path: Path) -> None:
    text, lines = stage_model(
        tmp_path, 'backend: "python" input { name: "x" dims: - 1 } instance_group { kind: KIND_GPU }'
    )
    assert "instance_group { count: 1 kind: KIND_CPU }" in text
    assert len(lines) == 1


def test_configurations_by_name_are_staged_too(tmp_path: Path) -> None:
    configs = tmp_path / "repository" / "bert" / "configs"
    configs.mkdir(parents=True)
    (configs / "h100.pbtxt").write_text('backend: "python" instance_group { kind: KIND_GPU }')
    (rewrite,) = stage(tmp_path / "repository", tmp_path / "staged")
    assert rewrite.file == Path("bert/configs/h100.pbtxt")


def test_what_a_stand_in_serves_is_named_with_what_runs_it(tmp_path: Path) -> None:
    configs = {
        "bert": 'platform: "tensorrt_plan"',
        "found": "max_batch_size: 1",
        "other": 'backend: "python"',
        "resnet": 'platform: "pytorch_libtorch"',
    }
    for model, config in configs.items():
        (tmp_path / model / "1").mkdir(parents=True)
        (tmp_path / model / "config.pbtxt").write_text(config)
    (tmp_path / "found/1/model.plan").touch()
    text = "config.pbtxt: a stand-in for TensorRT runs the ONNX model of its plan, on the CPU"
    assert list(stand_ins(tmp_path)) == [
        f"bert/{text}",
        f"found/{text}",
        "resnet/config.pbtxt: a stand-in for PyTorch's backend runs the TorchScript model, on the CPU",
    ]
