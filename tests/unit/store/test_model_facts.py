"""The facts of a model are what Triton would make of its config.pbtxt and of the files beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.s3_repositories import on_disk
from triton_fleet.repository.model_config import MAX_BYTES, MAX_LINE
from triton_fleet.repository.reading.file_store import MAX_TEXTS
from triton_fleet.repository.reading.folder import read_folder
from triton_fleet.spec.lock import InstanceGroup, LockedModel
from triton_fleet.store.model_facts import model_facts

PLAN = b"ftrt" + bytes(20) + bytes([10, 9, 0, 34])


def facts_by_model(files: Mapping[str, bytes], models: tuple[str, ...] = ("m",)) -> dict[str, LockedModel]:
    """The facts of models in a folder."""
    with TemporaryDirectory() as folder:
        return model_facts(read_folder(on_disk(dict(files), Path(folder)), is_packed=True), models)


def facts(config: str, files: Mapping[str, bytes] | None = None, model: str = "m") -> LockedModel:
    """The facts of one model; its files lie below its directory."""
    below = {"config.pbtxt": config.encode(), **(files or {})}
    return facts_by_model({f"{model}/{path}": content for path, content in below.items()}, (model,))[model]


@pytest.mark.parametrize(
    ("config", "backend", "platform"),
    [
        ('backend: "python"', "python", ""),
        ('backend: "dali"', "dali", ""),
        ('platform: "tensorrt_plan"', "tensorrt", ""),
        ('platform: "onnxruntime_onnx"', "onnxruntime", ""),
        ('platform: "pytorch_libtorch"', "pytorch", ""),
        ('platform: "torch_aoti"', "pytorch", "torch_aoti"),
        ('platform: "tensorflow_graphdef"', "tensorflow", "tensorflow_graphdef"),
        ('platform: "tensorflow_savedmodel" backend: "tensorflow"', "tensorflow", "tensorflow_savedmodel"),
        ('platform: "ensemble"', "ensemble", ""),
        ('platform: "caffe2_netdef"', "", "caffe2_netdef"),
        ('default_model_filename: "model.onnx"', "onnxruntime", ""),
        ('default_model_filename: "weights.bin"', "", ""),
    ],
)
def test_backend_and_platform_are_those_of_the_config(config: str, backend: str, platform: str) -> None:
    model = facts(config, {"1/model.py": b""})
    assert (model.backend, model.platform) == (backend, platform)


@pytest.mark.parametrize(
    ("file", "backend"),
    [
        ("model.plan", "tensorrt"),
        ("model.onnx", "onnxruntime"),
        ("model.onnx/model.onnx", "onnxruntime"),
        ("model.pt", "pytorch"),
        ("model.pt2", "pytorch"),
        ("model.py", "python"),
        ("model.savedmodel/saved_model.pb", "tensorflow"),
        ("model.graphdef", "tensorflow"),
        ("model.xml", "openvino"),
        ("weights", ""),
    ],
)
def test_a_backend_that_is_not_named_is_that_of_the_file(file: str, backend: str) -> None:
    assert facts("", {f"1/{file}": b"x"}).backend == backend


def test_a_model_without_a_config_has_the_facts_of_its_files() -> None:
    (model,) = facts_by_model({"m/1/model.onnx": b"12345"}).values()
    assert model == LockedModel(backend="onnxruntime", versions=("1",), size=5)


def test_a_model_that_nothing_else_tells_a_backend_of_has_the_one_after_the_dot_of_its_name() -> None:
    assert facts("", {"1/model.dali": b""}, model="decode.dali").backend == "dali"
    assert facts("", {"1/model.py": b""}, model="decode.dali").backend == "python"


def test_weights_beside_the_code_of_a_python_model_leave_its_named_backend() -> None:
    assert facts('backend: "python"', {"1/model.onnx": b"", "1/model.py": b""}).backend == "python"


def test_batches_instances_decoupling_and_cache_are_those_of_the_config() -> None:
    model = facts(
        """
        max_batch_size: 8
        instance_group [ { kind: KIND_GPU count: 2 gpus: [ 0, 1 ] }, { kind: KIND_CPU }, {}, { count: 0 } ]
        model_transaction_policy { decoupled: true }
        response_cache { enable: true }
        """
    )
    assert model == LockedModel(
        versions=("1",),
        max_batch_size=8,
        instances=(
            InstanceGroup(kind="KIND_GPU", count=2, gpus=(0, 1)),
            InstanceGroup(kind="KIND_CPU"),
            InstanceGroup(),
            InstanceGroup(),
        ),
        decoupled=True,
        response_cache=True,
    )


def test_an_ensembles_steps_are_named_once_each_in_their_order() -> None:
    steps = " ".join(f'step {{ model_name: "{name}" }}' for name in ("tokenizer", "bert", "tokenizer"))
    model = facts(f'platform: "ensemble" ensemble_scheduling {{ {steps} }}')
    assert model.steps == ("tokenizer", "bert")


@pytest.mark.parametrize(
    ("policy", "size"),
    [
        ("", 1000),
        ("version_policy { latest { num_versions: 2 } }", 1010),
        ("version_policy { latest { num_versions: 9 } }", 1111),
        ("version_policy { all {} }", 1111),
        ("version_policy { specific { versions: [ 2, 1, 7 ] } }", 101),
    ],
)
def test_the_size_is_that_of_the_versions_that_triton_loads(policy: str, size: int) -> None:
    files = {"1/w": b"x", "9/w": b"x" * 10, "2/a/b/w": b"x" * 100, "10/v": b"x" * 900, "10/w": b"x" * 100}
    other_files = {"labels.txt": b"x" * 5000, "03/w": b"x" * 7000, "configs/1.pbtxt": b"x" * 9000}
    assert facts(policy, files | other_files).size == size


@pytest.mark.parametrize(
    ("inputs", "size"),
    [
        ("", 0),
        ('{ name: "a" data_type: TYPE_FP32 dims: [ 3, 224, 224 ] }', 602112),
        ('{ name: "a" data_type: TYPE_INT64 dims: [ -1 ] }, { name: "b" data_type: TYPE_INT8 dims: 5 }', 13),
        ('{ name: "a" data_type: TYPE_STRING dims: [ 1000 ] }', 0),
        ('{ name: "a" data_type: TYPE_BF16 dims: [ -1, -1, 3 ] reshape { shape: [ ] } }', 6),
        ('{ name: "a" data_type: TYPE_FP16 dims: 9 optional: true }, { data_type: TYPE_BOOL dims: 2 }', 2),
        ('{ name: "a" dims: [ 7 ] }', 0),
    ],
)
@pytest.mark.parametrize("batches", [0, 8])
def test_one_item_takes_the_bytes_of_all_inputs_that_it_has_to_have(
    inputs: str, size: int, batches: int
) -> None:
    assert facts(f"max_batch_size: {batches} input [ {inputs} ]").item_bytes == size


def test_a_shape_beyond_all_bounds_has_the_largest_size_that_64_bits_hold() -> None:
    dims = ", ".join(["9223372036854775807"] * 3000)
    model_input = f"input {{ data_type: TYPE_FP64 dims: [ {dims} ] }}\n"
    assert facts(model_input * 3).item_bytes == 2**63 - 1


def test_the_plans_of_loaded_versions_tell_their_tensorrt() -> None:
    files = {
        "1/model.plan": b"ftrt" + bytes(20) + bytes([8, 6, 1, 6]),
        "2/t4.plan": PLAN + b"\0" * 100,
        "2/a10g.plan": b"a Git LFS pointer",
        "2/more/model.plan": PLAN,
        "2/empty.plan": b"",
        "old.plan": PLAN,
    }
    model = facts('cc_model_filenames { key: "8.6" value: "a10g.plan" }', files)
    assert model.plans == {
        "2/a10g.plan": "",
        "2/empty.plan": "",
        "2/more/model.plan": "10.9.0.34",
        "2/t4.plan": "10.9.0.34",
    }
    assert list(model.plans) == sorted(model.plans)


def test_plans_by_compute_capability_are_named_in_order() -> None:
    entries = [f'cc_model_filenames {{ key: "{cc}" value: "{cc}.plan" }}' for cc in ("8.9", "7.5", "8.6")]
    values = facts("\n".join(entries)).by_compute_capability
    assert list(values.items()) == [("7.5", "7.5.plan"), ("8.6", "8.6.plan"), ("8.9", "8.9.plan")]


def test_fields_of_a_later_triton_are_passed_over() -> None:
    model = facts('backend: "python" of_the_future { deep { deeper: [ 1, 2 ] } text: "x" } max_batch_size: 4')
    assert (model.backend, model.max_batch_size) == ("python", 4)


def test_kinds_and_types_that_are_numbers_of_a_later_triton_are_passed_over() -> None:
    model = facts("instance_group [ { kind: 7 }, { kind: 2 } ] input { data_type: 99 dims: 5 }")
    assert model == LockedModel(versions=("1",), instances=(InstanceGroup(kind="KIND_CPU"),))


@pytest.mark.parametrize("config", [b'backend: "python" # \xff', b'backend: "python" name: "\\377"'])
def test_what_is_not_utf_8_is_read_as_triton_reads_it(config: bytes) -> None:
    assert facts_by_model({"m/config.pbtxt": config, "m/1/model.py": b"x"})["m"].backend == "python"


@pytest.mark.parametrize(
    "config",
    [
        b"backend:",
        b'backend: "python" backend: "onnxruntime"',
        b"{",
        b"instance_group [ { kind: KIND_TPU } ]",
        b'\xef\xbb\xbfbackend: "python"',
        b'backend: "\\d"',
        b"max_batch_size: 99999999999",
        b"max_batch_size: 0x" + b"f" * 1000,
        b"a{" * 20_000 + b"}" * 20_000,
        b"a<" * 20_000,
        b"a:[" * 15_000,
    ],
)
def test_a_config_that_cannot_be_read_gives_that_fact_alone(config: bytes) -> None:
    model = facts_by_model({"m/config.pbtxt": config, "m/1/model.py": b"x"})["m"]
    assert model == LockedModel(unreadable=True)


@pytest.mark.parametrize(
    "config",
    [
        b'# a comment\nbackend: "python"' + b" " * MAX_LINE,
        b'backend: "python"\n' + b"#\n" * (MAX_BYTES >> 1),
    ],
)
def test_a_config_beyond_our_bounds_gives_no_facts_and_is_not_called_wrong(config: bytes) -> None:
    assert facts_by_model({"m/config.pbtxt": config, "m/1/model.py": b"x"})["m"] == LockedModel()


def test_configs_beyond_their_common_bound_give_no_facts_and_those_before_do() -> None:
    config = b'backend: "python"\n' + b"#" * 1000 + b"\n" * (MAX_BYTES - 2000)
    count = MAX_TEXTS // len(config)
    models = tuple(f"m{number:02}" for number in range(count + 2))
    actual_models = facts_by_model(
        {f"{model}/config.pbtxt": config if model != "m00" else b"" for model in models}, models
    )
    assert [actual_model.backend for actual_model in actual_models.values()] == ["", *["python"] * count, ""]


def test_a_number_of_instances_or_a_batch_below_zero_is_none() -> None:
    model = facts("max_batch_size: -1 instance_group { count: -3 gpus: [ 2, 2 ] }")
    assert (model.max_batch_size, model.instances) == (0, (InstanceGroup(gpus=(2,)),))


def test_only_the_models_that_are_asked_for_have_facts() -> None:
    files = {"a/1/model.py": b"", "b/1/model.py": b"", "config.pbtxt": b"", "notes": b""}
    assert list(facts_by_model(files, ("b",))) == ["b"]
