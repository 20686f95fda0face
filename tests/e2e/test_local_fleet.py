"""The whole loop: one YAML file, the real CDK CLI, an embedded AWS, a real Triton, boto3."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import psutil
import pytest
from botocore.exceptions import ClientError

from tests.support.clone import Clone, interrupt, make_clone
from tests.support.minilm_reference import embed
from triton_fleet.awsapi.emulator import LOCAL_FLEET_HEADER
from triton_fleet.local.state import LocalState
from triton_fleet.local.triton.runtime import TritonRuntime

pytestmark = [pytest.mark.triton, pytest.mark.cdk]

ENDPOINT = "sentence-embeddings"
SENTENCES = ["A man is eating food.", "Someone has a meal.", "The weather is lovely today."]


@pytest.fixture(scope="module")
def clone(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    return make_clone(tmp_path_factory.mktemp("local") / "clone")


@pytest.fixture(scope="module")
def deployed_clone(clone: Clone) -> Iterator[Clone]:
    """A shipped endpoint, deployed."""
    up = clone.fleet("local", "up", ENDPOINT)
    assert up.returncode == 0, up.stderr
    (clone.root / "up.txt").write_text(up.stdout)
    yield clone
    assert clone.fleet("local", "down").returncode == 0


def request(sentences: list[str]) -> bytes:
    tensor = {"name": "INPUT0", "shape": [len(sentences), 1], "datatype": "BYTES", "data": sentences}
    return json.dumps({"inputs": [tensor]}).encode()


def invoke(runtime: Any, body: bytes) -> np.ndarray[Any, np.dtype[np.float64]]:
    answer = runtime.invoke_endpoint(EndpointName=ENDPOINT, ContentType="application/json", Body=body)
    (output,) = json.loads(answer["Body"].read())["outputs"]
    return np.array(output["data"]).reshape(output["shape"])


def test_up_says_each_step_and_what_differs_from_sagemaker(deployed_clone: Clone) -> None:
    text = (deployed_clone.root / "up.txt").read_text()
    steps = [line.split("  ")[0] for line in text.splitlines() if line.startswith("✓")]
    assert [step.split(":")[0] for step in steps] == [
        "✓ files",
        "✓ embedded AWS",
        "✓ cdk synth",
        "✓ cdk bootstrap",
        "✓ cdk deploy triton-fleet-local",
        "✓ publish",
        "✓ cdk deploy triton-fleet-local-sentence-embeddings",
    ]
    assert "unlike SageMaker: image 25.04-py3: served by this machine's Triton 24.10, on CPU" in text
    assert (
        "unlike SageMaker: Python models find what the image is assumed to have: the standard library" in text
    )
    assert "unlike SageMaker: minilm/config.pbtxt: instance_group { kind: KIND_GPU } ->" in text
    assert "may not put" not in text


def test_the_endpoint_is_in_service_as_it_was_declared(deployed_clone: Clone) -> None:
    sagemaker = deployed_clone.client("sagemaker")
    endpoint = sagemaker.describe_endpoint(EndpointName=ENDPOINT)
    config = sagemaker.describe_endpoint_config(EndpointConfigName=endpoint["EndpointConfigName"])
    (variant,) = config["ProductionVariants"]
    model = sagemaker.describe_model(ModelName=variant["ModelName"])["PrimaryContainer"]
    assert LOCAL_FLEET_HEADER in endpoint["ResponseMetadata"]["HTTPHeaders"]
    assert (endpoint["EndpointStatus"], variant["InstanceType"]) == ("InService", "ml.g5.xlarge")
    assert model["Environment"]["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] == "ensemble"
    assert model["ModelDataUrl"].startswith("s3://triton-fleet-local-123456789012-us-east-1/endpoints/")


def test_the_deployed_endpoint_gives_the_embeddings_of_an_independent_computation(
    deployed_clone: Clone,
) -> None:
    answer = invoke(deployed_clone.client("sagemaker-runtime"), request(SENTENCES))
    assert answer.shape == (3, 384)
    assert np.abs(answer - embed(SENTENCES)).max() <= 1e-4


@pytest.mark.parametrize(
    "given_values", [("--input", 'INPUT0=[["hello"]]'), ("--sample", "one-sentence")], ids=["input", "sample"]
)
def test_fleet_invoke_prints_the_endpoints_answer(
    deployed_clone: Clone, given_values: tuple[str, str]
) -> None:
    process = deployed_clone.fleet("invoke", ENDPOINT, *given_values)
    assert json.loads(process.stdout)["outputs"][0]["shape"] == [1, 384]


def test_the_endpoints_refusal_reaches_the_caller_as_a_model_error(deployed_clone: Clone) -> None:
    with pytest.raises(ClientError) as refusal:
        invoke(deployed_clone.client("sagemaker-runtime"), request(["too many"] * 17))
    response: Any = refusal.value.response
    assert (response["Error"]["Code"], response["OriginalStatusCode"]) == ("ModelError", 400)
    assert "batch-size must be <= 16 for 'ensemble'" in response["OriginalMessage"]


def test_the_load_for_the_dashboard_says_what_became_of_its_calls(deployed_clone: Clone) -> None:
    load = [sys.executable, str(deployed_clone.root / "examples" / "sentence_embeddings" / "load.py"), "0.05"]
    process = subprocess.run(load, capture_output=True, text=True, check=False)
    assert re.fullmatch(r"[1-9]\d* answered\n", process.stdout), process.stderr


def test_the_demo_tells_which_sentences_are_alike(deployed_clone: Clone) -> None:
    demo = [sys.executable, str(deployed_clone.root / "examples" / "sentence_embeddings" / "demo.py")]
    process = subprocess.run(demo, capture_output=True, text=True, check=False)
    by_json, by_binary = re.findall(r"1-2 ([+-][\d.]+) +1-3 ([+-][\d.]+)", process.stdout)
    assert by_json == by_binary, process.stderr
    alike, unlike = (float(number) for number in by_json)
    assert alike > 2 * unlike


def test_what_fleet_local_env_prints_is_all_that_a_client_needs(deployed_clone: Clone) -> None:
    asks = "import boto3; print(boto3.client('sagemaker').list_endpoints()['Endpoints'])"
    script = f'eval "$0" && {sys.executable} -c "$1"'
    output = deployed_clone.fleet("local", "env").stdout
    plain = {"PATH": os.environ["PATH"], "HOME": str(deployed_clone.root / "nobody")}
    process = subprocess.run(
        ["sh", "-c", script, output, asks], env=plain, capture_output=True, text=True, check=False
    )
    assert ENDPOINT in process.stdout, process.stderr
    variables = json.loads(deployed_clone.fleet("local", "env", "--format", "json").stdout)
    assert variables.keys() == {
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ENDPOINT_URL",
    }
    assert variables["AWS_SECRET_ACCESS_KEY"] not in deployed_clone.fleet("local", "status").stdout


def test_the_secret_is_in_no_log_and_no_command_line(deployed_clone: Clone) -> None:
    supervisor = LocalState(deployed_clone.root).supervisor()
    assert supervisor is not None
    secret = supervisor.keys.secret_access_key
    logs = LocalState(deployed_clone.root).logs().values()
    assert [log for log in logs if secret in log.read_text(errors="replace")] == []
    assert [process for process in deployed_clone.processes() if secret in " ".join(process.cmdline())] == []


def test_status_and_logs_tell_of_the_endpoint(deployed_clone: Clone) -> None:
    assert "sentence-embeddings: ready" in deployed_clone.fleet("local", "status").stdout
    assert "Started Sagemaker HTTPService" in deployed_clone.fleet("local", "logs", ENDPOINT).stdout
    unknown = deployed_clone.fleet("local", "logs", "nope")
    assert unknown.returncode == 1
    assert "known: aws, cdk, cdk/sentence-embeddings, sentence-embeddings, supervisor" in unknown.stderr


@pytest.mark.nightly
def test_a_killed_triton_fails_calls_cleanly_and_later_calls_succeed(deployed_clone: Clone) -> None:
    runtime, body, stop = deployed_clone.client("sagemaker-runtime"), request(SENTENCES), threading.Event()
    codes: set[str] = set()

    def call_in_loop() -> None:
        while not stop.is_set():
            try:
                invoke(runtime, body)
            except ClientError as error:
                codes.add(error.response["Error"]["Code"])

    with ThreadPoolExecutor(4) as callers:
        calls = [callers.submit(call_in_loop) for _ in range(4)]
        try:
            invoke(runtime, body)
            (server,) = [
                process
                for process in deployed_clone.processes("tritonserver")
                if process.name() == "tritonserver"
            ]
            server.send_signal(signal.SIGKILL)
            server.wait(10)
            wait_for_service(deployed_clone)
        finally:
            stop.set()
    assert [call.exception() for call in calls] == [None] * 4
    assert codes == {"ModelError"}
    assert np.abs(invoke(runtime, body) - embed(SENTENCES)).max() <= 1e-4
    assert "ready, restarts: 1;" in deployed_clone.fleet("local", "status").stdout


def wait_for_service(deployed_clone: Clone) -> None:
    pause = threading.Event()
    for _ in range(600):
        if "ready, restarts:" in deployed_clone.fleet("local", "status").stdout:
            return
        pause.wait(0.1)
    raise AssertionError("Triton was not started again")


@pytest.mark.nightly
def test_a_repository_that_cannot_load_is_told_by_model_and_reason_and_the_old_one_goes_on(
    deployed_clone: Clone,
) -> None:
    model = deployed_clone.root / "examples/sentence_embeddings/models/postprocess/1/model.py"
    kept_text = model.read_text()
    model.write_text(kept_text.replace("import numpy", "import no_module_of_mine\nimport numpy", 1))
    failed_process = deployed_clone.fleet("local", "up", ENDPOINT)
    model.write_text(kept_text)
    assert failed_process.returncode == 1
    assert (
        "FL601: AWS::SageMaker::Endpoint of triton-fleet-local-sentence-embeddings" in failed_process.stderr
    )
    assert "postprocess" in failed_process.stderr
    assert "No module named 'no_module_of_mine'" in failed_process.stderr
    assert invoke(deployed_clone.client("sagemaker-runtime"), request(["hello"])).shape == (1, 384)


def test_what_check_says_of_a_repository_ends_an_up_before_anything_is_deployed(
    deployed_clone: Clone,
) -> None:
    config = deployed_clone.root / "examples/sentence_embeddings/models/postprocess/config.pbtxt"
    kept_text = config.read_text()
    config.write_text(kept_text.replace("dims: [ 384 ]", "dims: [ 383 ]"))
    failed_process, process = (
        deployed_clone.fleet(*words, ENDPOINT) for words in (("local", "up"), ("check", "--env", "local"))
    )
    config.write_text(kept_text)
    assert (failed_process.returncode, process.returncode) == (1, 1)
    (finding,) = (line for line in failed_process.stderr.splitlines() if ": error[" in line)
    assert finding in process.stdout + process.stderr
    assert "✓" not in failed_process.stdout


@pytest.mark.nightly
def test_an_up_after_the_one_that_failed_brings_a_change_to_the_running_endpoint(
    deployed_clone: Clone,
) -> None:
    sagemaker = deployed_clone.client("sagemaker")
    before = sagemaker.describe_endpoint(EndpointName=ENDPOINT)["EndpointConfigName"]
    spec = deployed_clone.root / "model_specs" / f"{ENDPOINT}.yaml"
    spec.write_text(spec.read_text().replace("thread_count: 16", "thread_count: 4"))
    assert deployed_clone.fleet("local", "up", ENDPOINT).returncode == 0
    after = sagemaker.describe_endpoint(EndpointName=ENDPOINT)
    assert (after["EndpointStatus"], after["EndpointConfigName"] != before) == ("InService", True)
    assert [process.name() for process in deployed_clone.processes("tritonserver")].count("tritonserver") == 1
    assert invoke(deployed_clone.client("sagemaker-runtime"), request(["hello"])).shape == (1, 384)


@pytest.mark.nightly
def test_a_model_that_answers_wrongly_is_rolled_back_by_its_sample_and_the_old_one_answers(
    deployed_clone: Clone,
) -> None:
    before = invoke(deployed_clone.client("sagemaker-runtime"), request(SENTENCES))
    model = deployed_clone.root / "examples/sentence_embeddings/models/postprocess/1/model.py"
    kept_text = model.read_text()
    model.write_text(kept_text.replace("unit.astype", "(3 * unit).astype"))
    failed_process = deployed_clone.fleet("local", "up", ENDPOINT)
    model.write_text(kept_text)
    text = " ".join(failed_process.stderr.split())
    assert failed_process.returncode == 1
    assert "FL601: Custom::EndpointCheck of triton-fleet-local-sentence-embeddings" in text
    assert "sample one-sentence: output finaloutput[0, 0] is 0.099" in text
    assert "expected 0.0332 (tolerance 0.01)" in text
    assert np.array_equal(invoke(deployed_clone.client("sagemaker-runtime"), request(SENTENCES)), before)


@pytest.mark.nightly
def test_a_killed_supervisor_takes_its_triton_along_and_the_next_up_starts_anew(
    deployed_clone: Clone,
) -> None:
    served = deployed_clone.processes("tritonserver")
    (supervisor,) = deployed_clone.processes("-m triton_fleet.local ")
    supervisor.send_signal(signal.SIGKILL)
    _, alive = psutil.wait_procs([supervisor, *served], timeout=20)
    assert alive == []
    state = LocalState(deployed_clone.root)
    files, functions = set(state.work.glob("*/*")), set(state.temporary.glob("fleet-function-*"))
    assert files
    assert functions
    assert deployed_clone.fleet("local", "status").returncode == 2
    assert deployed_clone.fleet("local", "up", ENDPOINT).returncode == 0
    assert not files & set(state.work.glob("*/*"))
    assert not functions & set(state.temporary.glob("fleet-function-*"))
    assert invoke(deployed_clone.client("sagemaker-runtime"), request(["hello"])).shape == (1, 384)


@pytest.mark.nightly
def test_ctrl_c_while_a_stack_is_deployed_leaves_no_process_behind(
    clone: Clone, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other_clone = Clone(tmp_path_factory.mktemp("interrupted") / "clone")
    shutil.copytree(clone.root, other_clone.root, symlinks=True, ignore=shutil.ignore_patterns(".fleet"))
    up = other_clone.start("local", "up", ENDPOINT)
    assert up.stdout is not None
    for line in up.stdout:
        if line.startswith("✓ cdk bootstrap"):
            break
    interrupt(up)
    assert up.wait(30) == 130
    up.stdout.close()
    assert other_clone.processes() == []
    assert other_clone.fleet("local", "status").returncode == 2
