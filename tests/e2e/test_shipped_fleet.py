"""All that is shipped and a live zoo, from YAML files to answers by one command: CDK CLI, embedded AWS, Triton, client."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fleet_client import InferenceError, TritonEndpoint
from fleet_client.codec import decode, encode
from tests.support.clone import Clone, make_clone
from tests.support.hosting_modes import BINARY, LIVE, MODES
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.project.spec_files import spec_files

pytestmark = [pytest.mark.triton, pytest.mark.cdk, pytest.mark.nightly]

ENDPOINT = "model-zoo"
ROW = [0.1, 0.5, 0.2, 0.05, 0.1, 0.05]
MAKE = (
    "model_zoo/make_models.py",
    "bert_trt/make_model.py",
    "gpu_ensembles/make_image_models.py",
    "gpu_ensembles/make_text_models.py",
    "gpu_ensembles/make_environment.py",
    "shared_models/make_image_models.py",
    "shared_models/make_text_models.py",
)


@pytest.fixture(scope="module")
def clone(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    """A clone with everything that is shipped and a live zoo, deployed by one command, which sends the specs' samples."""
    clone = make_clone(tmp_path_factory.mktemp("shipped") / "clone", validates=True)
    for script in MAKE:
        subprocess.run([sys.executable, clone.root / "examples" / script], check=True, capture_output=True)
    (clone.root / "model_specs" / "live-zoo.yaml").write_text(LIVE)
    up = clone.fleet("local", "up")
    assert up.returncode == 0, up.stderr
    (clone.root / "up.txt").write_text(up.stderr)
    clone = replace(clone, validates=False)
    yield clone
    assert clone.fleet("local", "down").returncode == 0


def endpoint(clone: Clone, name: str = ENDPOINT) -> TritonEndpoint:
    return TritonEndpoint(name, client=clone.client("sagemaker-runtime"))


def top_classes(clone: Clone, target: str, name: str = ENDPOINT) -> list[int]:
    rows = np.array([ROW], dtype=np.float32)
    answer = endpoint(clone, name).infer({"probabilities": rows}, target=target)
    return [int(index) for index in answer["classes"][0]]


def packed_with_k(clone: Clone, k: int) -> bytes:
    """The archive of the plain Python model, changed to answer with another number of classes."""
    repository, archive = clone.root / "examples/model_zoo/models/top-classes", io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for file in sorted(path for path in repository.rglob("*") if path.is_file()):
            content = file.read_bytes().replace(b'"5"', f'"{k}"'.encode())
            info = tarfile.TarInfo(file.relative_to(repository).as_posix())
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return archive.getvalue()


def test_every_shipped_endpoint_is_in_service_but_one_whose_package_is_missing_which_is_said(
    clone: Clone,
) -> None:
    text = (clone.root / "up.txt").read_text()
    left_out = set() if find_spec("torch") else {"resnet-pt"}
    assert ("FL383" in text) == bool(left_out)
    served = {
        endpoint["EndpointName"] for endpoint in clone.client("sagemaker").list_endpoints()["Endpoints"]
    }
    assert served == set(spec_files(clone.root).by_endpoint) - left_out


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_answers_json_and_binary_json_alike(clone: Clone, mode: str) -> None:
    name, where_mode, inputs = MODES[mode]
    endpoint = TritonEndpoint(name, client=clone.client("sagemaker-runtime"))
    json, binary = (endpoint.invoke(encode(inputs, binary=item), **where_mode) for item in (False, True))
    assert json.content_type == "application/json"
    assert binary.content_type.startswith(BINARY)
    answers = [decode(item.body, item.content_type) for item in (json, binary)]
    assert answers[0].keys() == answers[1].keys()
    for output, array in answers[0].items():
        other_array = answers[1][output]
        same = (
            array.tolist() == other_array.tolist()
            if array.dtype == np.object_
            else np.allclose(array, other_array, atol=1e-6)
        )
        assert same, output


def test_each_mode_publishes_tritons_metrics_in_the_endpoints_own_namespace(clone: Clone) -> None:
    for name, location, inputs in MODES.values():
        endpoint = TritonEndpoint(name, client=clone.client("sagemaker-runtime"))
        endpoint.invoke(encode(inputs), **location)
    process = clone.fleet("dashboard", "resnet50", "--env", "local")
    assert process.returncode == 0, process.stderr
    metrics = clone.client("cloudwatch").list_metrics(MetricName="nv_inference_request_success")["Metrics"]
    names = {name for name, _, _ in MODES.values()} | {"shared-models"}
    assert {metric["Namespace"] for metric in metrics} == {f"TritonFleet/{name}" for name in names}


def test_the_model_is_declared_over_the_prefix_of_its_locked_set(clone: Clone) -> None:
    sagemaker = clone.client("sagemaker")
    config = sagemaker.describe_endpoint(EndpointName=ENDPOINT)["EndpointConfigName"]
    (variant,) = sagemaker.describe_endpoint_config(EndpointConfigName=config)["ProductionVariants"]
    model = sagemaker.describe_model(ModelName=variant["ModelName"])["PrimaryContainer"]
    assert model["Mode"] == "MultiModel"
    assert model["Environment"]["SAGEMAKER_TRITON_PING_MODE"] == "live"
    bucket, _, prefix = model["ModelDataUrl"].removeprefix("s3://").partition("/")
    contents = clone.client("s3").list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]
    assert [entry["Key"].removeprefix(prefix) for entry in contents] == [
        "image-classes.tar.gz",
        "inception-v1.tar.gz",
        "resnet50.tar.gz",
        "sentences.tar.gz",
        "top-classes.tar.gz",
    ]


def test_the_client_gets_answers_of_several_targets(clone: Clone) -> None:
    assert top_classes(clone, "top-classes.tar.gz") == [1, 2, 0, 4, 3]
    pixels = np.zeros((1, 3, 224, 224), dtype=np.float32)
    (classes,) = endpoint(clone).infer({"gpu_0/data_0": pixels}, target="resnet50.tar.gz").values()
    assert classes.shape == (1, 1000)
    assert abs(float(classes.sum()) - 1.0) < 1e-5
    texts = np.array([["a"], ["b"]], dtype=np.object_)
    (embeddings,) = endpoint(clone).infer({"INPUT0": texts}, target="sentences.tar.gz").values()
    assert np.allclose(np.linalg.norm(embeddings, axis=1), 1.0, atol=1e-5)


def test_the_clients_error_carries_tritons_message(clone: Clone) -> None:
    with pytest.raises(InferenceError) as caught:
        endpoint(clone).infer({"nonsense": np.zeros(1, np.float32)}, target="top-classes.tar.gz")
    assert caught.value.status == 400
    assert "unexpected inference input 'nonsense' for model 'top-classes.tar.gz'" in caught.value.message


@pytest.mark.parametrize("form", ["inline", "json"])
def test_fleet_invoke_asks_a_target_by_named_inputs(clone: Clone, tmp_path: Path, form: str) -> None:
    (tmp_path / "row.json").write_text(json.dumps([ROW]))
    inputs = {"inline": json.dumps([ROW]), "json": f"@{tmp_path}/row.json"}
    process = clone.fleet(
        "invoke", ENDPOINT, "--target", "top-classes.tar.gz", "--input", f"probabilities={inputs[form]}"
    )
    assert process.returncode == 0, process.stderr
    outputs = {output["name"]: output for output in json.loads(process.stdout)["outputs"]}
    assert outputs["classes"]["data"] == [1, 2, 0, 4, 3]


def test_fleet_invoke_saves_what_a_target_answers(clone: Clone, tmp_path: Path) -> None:
    np.save(tmp_path / "row.npy", np.array([ROW], dtype=np.float32))
    given_texts = ("--target", "top-classes.tar.gz", "--input", f"probabilities=@{tmp_path}/row.npy")
    process = clone.fleet("invoke", ENDPOINT, *given_texts, "--save", str(tmp_path / "answers"))
    assert process.returncode == 0, process.stderr
    assert np.load(tmp_path / "answers" / "classes.npy").tolist() == [[1, 2, 0, 4, 3]]


def test_a_new_archive_of_a_live_set_answers_without_a_deploy_and_a_deleted_one_stops(clone: Clone) -> None:
    assert top_classes(clone, "top-classes-v1.tar.gz", "live-zoo") == [1, 2, 0, 4, 3]
    s3, bucket = clone.client("s3"), "triton-fleet-local-123456789012-us-east-1"
    key = "endpoints/live-zoo/live/top-classes-v2.tar.gz"
    s3.put_object(Bucket=bucket, Key=key, Body=packed_with_k(clone, 2))
    assert top_classes(clone, "top-classes-v2.tar.gz", "live-zoo") == [1, 2]
    s3.delete_object(Bucket=bucket, Key=key)
    with pytest.raises(InferenceError, match="top-classes-v2.tar.gz"):
        top_classes(clone, "top-classes-v2.tar.gz", "live-zoo")


def test_a_published_version_is_never_overwritten(clone: Clone) -> None:
    config = clone.root / "examples/model_zoo/models/top-classes/top_classes/config.pbtxt"
    before = config.read_text()
    config.write_text(f"# another content\n{before}")
    refused_process = clone.fleet("local", "up", "live-zoo")
    config.write_text(before)
    assert refused_process.returncode == 1
    assert (
        "FL304: s3://triton-fleet-local-123456789012-us-east-1/endpoints/live-zoo/live/"
        in refused_process.stderr
    )
    assert "hint: raise the `version` of archive 'top-classes'" in refused_process.stderr
    assert top_classes(clone, "top-classes-v1.tar.gz", "live-zoo") == [1, 2, 0, 4, 3]


def test_status_tells_which_targets_are_held(clone: Clone) -> None:
    top_classes(clone, "top-classes.tar.gz")
    output = clone.fleet("local", "status").stdout
    assert "  top-classes.tar.gz: loaded, " in output


def test_the_dashboard_has_sagemakers_and_tritons_numbers(clone: Clone) -> None:
    top_classes(clone, "top-classes.tar.gz")
    process = clone.fleet("dashboard", ENDPOINT, "--env", "local")
    assert process.returncode == 0, process.stderr
    page = Path(process.stdout.strip()).read_text()
    assert "Invocations whose model was already loaded, %" in page
    cloudwatch: Any = clone.client("cloudwatch")
    names = {
        (metric["Namespace"], metric["MetricName"])
        for metric in cloudwatch.list_metrics(Dimensions=[])["Metrics"]
    }
    expected_rows = [("AWS/SageMaker", name) for name in ("Invocations", "ModelCacheHit", "ModelLoadingTime")]
    expected_rows += [("/aws/sagemaker/Endpoints", "LoadedModelCount")]
    expected_rows += [(f"TritonFleet/{ENDPOINT}", "nv_inference_request_success")]
    assert set(expected_rows) <= names
    datapoints = cloudwatch.get_metric_statistics(
        Namespace="/aws/sagemaker/Endpoints",
        MetricName="LoadedModelCount",
        Dimensions=[
            {"Name": "EndpointName", "Value": ENDPOINT},
            {"Name": "VariantName", "Value": "AllTraffic"},
        ],
        StartTime=datetime.now(UTC) - timedelta(minutes=15),
        EndTime=datetime.now(UTC) + timedelta(minutes=1),
        Period=3600,
        Statistics=["Maximum"],
    )["Datapoints"]
    assert max(point["Maximum"] for point in datapoints) >= 1


def test_the_demo_shows_an_answer_an_eviction_and_the_cache_hit_ratio(clone: Clone) -> None:
    demo = [sys.executable, str(clone.root / "examples" / "model_zoo" / "demo.py")]
    process = subprocess.run(demo, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    assert "resnet50: 1000 probabilities, " in process.stdout
    assert re.search(r"^\S+\.tar\.gz +.* MiB   \S+\.tar\.gz", process.stdout, re.MULTILINE)
    assert re.search(r"cache hits since .*: \d+ of \d+ calls \(\d+%\)", process.stdout)


def test_status_names_the_metrics_that_its_role_may_not_publish(clone: Clone) -> None:
    iam: Any = clone.client("iam")
    assert "may not put" not in clone.fleet("local", "status").stdout
    names = [role["RoleName"] for role in iam.list_roles()["Roles"]]
    (role,) = [name for name in names if name.startswith(f"triton-fleet-local-{ENDPOINT}-Role")]
    (policy,) = iam.list_role_policies(RoleName=role)["PolicyNames"]
    iam.delete_role_policy(RoleName=role, PolicyName=policy)
    output = clone.fleet("local", "status").stdout
    for namespace in ("/aws/sagemaker/Endpoints", f"TritonFleet/{ENDPOINT}"):
        lacks = (
            f"  as on SageMaker: no metrics in {namespace}: arn:aws:iam::[0-9]+:role/{role} may not put them"
        )
        assert re.search(lacks, output)


def test_down_ends_all_that_runs(clone: Clone) -> None:
    assert clone.fleet("local", "down").returncode == 0
    assert clone.processes() == []
