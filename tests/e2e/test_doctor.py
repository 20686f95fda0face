"""`fleet doctor` against an embedded AWS: deploys that failed, endpoints that are well, and what it may not see."""

from __future__ import annotations

import json
import threading
from datetime import timedelta

import pytest

from tests.support.clinic import GROUP, NAME, STACK, Clinic, deny
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.functions import archive, custom, provider, upload
from tests.support.embedded_app.stacks import TOPIC, absent_model, endpoint
from tests.support.embedded_keys import KEYS
from tests.support.faulty_s3 import FaultyS3
from tests.support.fleet_folder import SPEC
from tests.support.jumped_clock import JUMPS, jump
from triton_fleet.aws.doctor import evidence
from triton_fleet.catalog.symptoms import symptoms
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.local.state import LocalState, Supervisor

PING = (
    "The primary container for production variant AllTraffic did not pass the ping health check. Please check"
    " CloudWatch logs for this endpoint."
)
EXAMPLES = {symptom.name: symptom.example for symptom in symptoms()}
HEAD = "1121 00:22:09.420256 1 model_lifecycle.cc:642]"


@pytest.mark.parametrize("by", JUMPS)
def test_what_a_log_says_now_is_found_whatever_this_machines_clock_says(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch, by: timedelta
) -> None:
    jump(monkeypatch, evidence, by)
    clinic.stacks.create(STACK, endpoint(NAME))
    clinic.log(EXAMPLES["stub_ended"])
    code, _, wrong = clinic.doctor()
    assert code == 1
    assert "The process of a Python model has ended" in wrong


def test_a_model_that_cannot_load_is_named_from_the_log_and_the_ping_is_not(clinic: Clinic) -> None:
    assert clinic.fail(PING) == "ROLLBACK_COMPLETE"
    clinic.log(
        f'I{HEAD} "loading: /opt/ml/model/::embed:1"',
        f"E{HEAD} \"failed to load '/opt/ml/model/::embed' version 1: Internal: ModuleNotFoundError: No module"
        " named 'tokenizers'",
        "error: creating server: Internal - failed to load all models",
    )
    code, text, wrong = clinic.doctor()
    assert code == 1
    assert f"stack:    {STACK} is ROLLBACK_COMPLETE" in text
    assert f"failed: AWS::SageMaker::Endpoint: {PING}" in text
    assert f"log:      {GROUP} since " in text
    assert "3 lines, 2 of them errors" in text
    assert (
        "model_specs/sentences.yaml:4:1: error[missing-python-import] FL649: A Python model imports tokenizers"
        in wrong
    )
    assert "conda-pack" in wrong
    assert "FL647" not in wrong


def test_what_the_rules_find_in_the_spec_comes_first_where_it_fits(clinic: Clinic) -> None:
    clinic.folder.spec(base=SPEC.replace("ml.g5.xlarge", "ml.g7e.2xlarge"))
    clinic.fail("CannotStartContainerError. Please ensure the model container for variant AllTraffic starts")
    code, _, wrong = clinic.doctor()
    assert code == 1
    first = wrong.splitlines()[0]
    assert first.startswith("model_specs/sentences.yaml:")
    assert "error[missing-driver] FL204: Triton 25.04 is built for CUDA 12" in first
    assert "event of AWS::SageMaker::Endpoint: CannotStartContainerError" in wrong


def test_an_update_that_was_rolled_back_is_told_although_the_endpoint_goes_on(clinic: Clinic) -> None:
    assert clinic.stacks.create(STACK, endpoint(NAME)) == "CREATE_COMPLETE"
    clinic.host.failure = EXAMPLES["no_capacity"]
    assert clinic.stacks.update(STACK, endpoint(NAME, image="triton:25.05")) == "UPDATE_ROLLBACK_FAILED"
    clinic.host.failure = ""
    code, text, wrong = clinic.doctor()
    assert code == 1
    assert "endpoint: InService, configuration " in text
    assert "error[capacity-shortage] FL643: AWS currently has no free instance of this type" in wrong
    assert f"error[stuck-rollback] FL607: the stack {STACK} is in UPDATE_ROLLBACK_FAILED" in wrong
    assert (
        f"continue-update-rollback --region us-east-1 --stack-name {STACK} --resources-to-skip Endpoint"
        in " ".join(wrong.split())
    )
    assert "the stack declares" not in text
    assert "FL605" not in wrong
    assert "FL641" not in wrong
    clinic.stacks.continue_rollback(STACK, "Endpoint")
    assert (
        "error[capacity-shortage] FL643: AWS currently has no free instance of this type"
        in clinic.doctor()[2]
    )


def test_a_resource_that_failed_before_the_endpoint_is_told_by_its_event(clinic: Clinic) -> None:
    clinic.stacks.create(STACK, {"Topic": TOPIC, "Broken": absent_model()})
    code, text, wrong = clinic.doctor()
    assert (code, "endpoint: does not exist" in text) == (1, True)
    assert "error[unavailable-model-data] FL645: No object exists at s3://data/absent.tar.gz" in wrong


def test_a_failed_stack_that_is_deleted_by_now_still_tells_why(clinic: Clinic) -> None:
    clinic.fail(EXAMPLES["quota_used_up"])
    clinic.delete(STACK)
    code, text, wrong = clinic.doctor()
    assert (code, f"{STACK} is DELETE_COMPLETE" in text) == (1, True)
    assert "error[exhausted-quota] FL642: The account's quota `ml.m5.large for endpoint usage` is 0" in wrong


def test_an_endpoint_that_is_well_ends_with_0_whatever_an_earlier_deploy_has_logged(clinic: Clinic) -> None:
    clinic.log(EXAMPLES["gpu_memory_full"])
    clinic.stacks.create(STACK, endpoint(NAME))
    clinic.log("hello", f'I{HEAD} "successfully loaded"', stream="AllTraffic/i-2")
    code, text, wrong = clinic.doctor()
    assert (code, wrong) == (0, "")
    assert "  calls:    none since " in text
    assert text.splitlines()[-1] == "sentences is healthy"


def test_a_configuration_whose_name_cloudformation_writes_in_small_letters_is_shown_once(
    clinic: Clinic,
) -> None:
    clinic.stacks.create(STACK, endpoint(NAME))
    name = client(clinic.aws, "sagemaker").describe_endpoint(EndpointName=NAME)["EndpointConfigName"]
    assert name != name.lower()
    code, text, _ = clinic.doctor()
    assert code == 0
    assert f"endpoint: InService, configuration {name}, which its stack declares\n" in text
    assert (name.lower() in text, "the stack declares" in text) == (False, False)


def test_an_endpoint_in_service_whose_log_tells_of_a_cause_is_not_well(clinic: Clinic) -> None:
    clinic.stacks.create(STACK, endpoint(NAME))
    clinic.log(EXAMPLES["gpu_memory_full"])
    code, _, wrong = clinic.doctor()
    assert code == 1
    assert "error[gpu-memory-shortage] FL251: probably violated: The weights of all models" in wrong


def test_of_each_variant_the_newest_instances_are_read(clinic: Clinic) -> None:
    clinic.fail(PING)
    for number in range(5):
        clinic.log(f"line of {number}", stream=f"First/i-{number}")
    clinic.log("line of second", stream="Second/i-0")
    text = clinic.doctor()[1]
    assert "4 lines, 0 of them errors" in text
    assert {"line of 4", "line of 3", "line of 2", "line of second"} <= {
        line.rpartition(": ")[2] for line in text.splitlines()
    }


def test_an_endpoint_that_runs_something_else_than_its_stack_declares_is_told(clinic: Clinic) -> None:
    clinic.stacks.create(STACK, endpoint(NAME))
    sagemaker = client(clinic.aws, "sagemaker")
    deployed_config_name = sagemaker.describe_endpoint(EndpointName=NAME)["EndpointConfigName"]
    variants = sagemaker.describe_endpoint_config(EndpointConfigName=deployed_config_name)[
        "ProductionVariants"
    ]
    sagemaker.create_endpoint_config(EndpointConfigName="past-it", ProductionVariants=variants)
    sagemaker.update_endpoint(EndpointName=NAME, EndpointConfigName="past-it")
    code, text, wrong = clinic.doctor()
    assert (code, f"the stack declares {deployed_config_name.lower()}" in text) == (1, True)
    runs = "error[endpoint-drift] FL605: sentences runs"
    assert f"{runs} the configuration past-it, but its stack declares {deployed_config_name.lower()}" in wrong
    sagemaker.delete_endpoint(EndpointName=NAME)
    assert f"{runs} nothing" in clinic.doctor()[2]
    sagemaker.create_endpoint(EndpointName=NAME, EndpointConfigName=deployed_config_name)
    assert clinic.doctor()[0] == 0


def test_what_nobody_knows_is_said_to_be_unknown_with_where_to_look(clinic: Clinic) -> None:
    clinic.fail("The service is out of order.")
    clinic.log("first", "last")
    code, text, wrong = clinic.doctor()
    assert code == 1
    assert "    AllTraffic/i-0123456789abcdef0: last" in text
    assert (
        "error[endpoint-out-of-service] FL641: the endpoint sentences does not exist, and its stack is ROLLBACK_COMPLETE"
        in wrong
    )
    assert (
        "error[unknown-failure] FL640: no known cause matches the events, status and logs of sentences"
        in wrong
    )
    assert f"look at the log group {GROUP}, the events of the stack {STACK}" in wrong


def test_a_failed_check_is_told_by_its_sample_and_with_its_functions_lines_about_the_endpoint(
    clinic: Clinic,
) -> None:
    text = EXAMPLES["sample_answered_otherwise"].replace("Endpoint zoo", f"Endpoint {NAME}")
    source = f"def on_event(event, context, client, environ):\n    raise RuntimeError({text!r})\n"
    code = upload(clinic.aws, "check.zip", archive({"recorder/handler.py": source}))
    clinic.stacks.create("triton-fleet-dev", {"EndpointCheckLogF00": {"Type": "AWS::Logs::LogGroup"}})
    group = clinic.stacks.physical_ids("triton-fleet-dev")["EndpointCheckLogF00"]
    check = custom() | {"Type": "Custom::EndpointCheck"}
    assert clinic.stacks.create(STACK, {**provider(code), "Check": check}) == "ROLLBACK_COMPLETE"
    clinic.log("Waiting: endpoint other is Creating", f"Passed: {NAME}, one", stream="2026/x", group=group)
    _, seen_text, wrong = clinic.doctor()
    assert (
        "error[sample-answer-mismatch] FL655: The endpoint's answer to a sample differs from the spec"
        in wrong
    )
    assert "output y[0, 1] is 6, expected 7 (tolerance 0)" in wrong
    assert ("Passed: sentences, one" in seen_text, "endpoint other" in seen_text) == (True, False)


def test_a_name_under_which_nothing_is_deployed_is_unknown(clinic: Clinic) -> None:
    clinic.stacks.create(STACK, {"Topic": TOPIC})
    with pytest.raises(FindingsError, match="FL606: no endpoint 'sentence' is deployed in 'dev'") as refusal:
        clinic.doctor("sentence")
    assert refusal.value.findings[0].hint == "did you mean `sentences`?"


def test_a_hostile_log_does_not_drive_the_terminal(clinic: Clinic) -> None:
    clinic.fail(PING)
    clinic.log("\x1b[2J\u202e[red]failed to load 'x' version 1: \x07" + "y" * 50_000, "HF_TOKEN=hf_secret")
    _, text, wrong = clinic.doctor()
    assert "\\x1b[2J\\u202e[red]failed to load" in text
    assert not {"\x1b", "\x07", "\u202e"} & {*text, *wrong}
    assert max(map(len, [*text.splitlines(), *wrong.splitlines()])) < 600
    assert "hf_secret" not in text


def test_a_place_that_is_denied_is_named_by_its_action_and_the_others_are_looked_at(
    clinic: Clinic, s3_proxy: FaultyS3
) -> None:
    clinic.fail(EXAMPLES["no_capacity"])
    deny(s3_proxy, lambda request: "Logs_20140328" in request.headers.get("X-Amz-Target", ""))
    code, text, wrong = clinic.doctor()
    assert (code, "not read: logs:DescribeLogStreams is denied" in text) == (1, True)
    assert "FL643" in wrong


def test_where_nothing_wrong_was_seen_and_not_everything_was_it_does_not_say_that_all_is_well(
    clinic: Clinic, s3_proxy: FaultyS3
) -> None:
    clinic.stacks.create(STACK, endpoint(NAME))
    deny(s3_proxy, lambda request: b"DescribeStack" in request.body)
    with pytest.raises(
        CannotRunError, match="not everything could be read: no permission for cloudformation:DescribeStacks"
    ):
        clinic.doctor()


def test_where_everything_is_denied_it_could_not_run(clinic: Clinic, s3_proxy: FaultyS3) -> None:
    deny(s3_proxy, lambda request: b"GetCallerIdentity" not in request.body)
    actions = (
        "no permission for cloudformation:DescribeStacks, sagemaker:DescribeEndpoint, logs:DescribeLogStreams"
    )
    with pytest.raises(CannotRunError, match=actions):
        clinic.doctor()


@pytest.mark.parametrize(("env", "log"), [("local", NAME), ("dev", f"dev/{NAME}")])
def test_of_the_local_fleet_the_log_is_the_file_that_the_environments_own_triton_writes(
    clinic: Clinic, s3_proxy: FaultyS3, env: str, log: str
) -> None:
    place = {"account": "123456789012", "region": "us-east-1"}
    clinic.folder.write("environments/local.yaml", json.dumps({"environment": "local", **place}))
    state = LocalState(clinic.folder.root)
    state.endpoint_log(f"prod/{NAME}").write_text("ERROR: of another environment\n")
    state.endpoint_log(log).write_text(f"I{HEAD} loading\nERROR: No model found in model repository\n")
    clinic.fail("Triton did not start", env=env)
    url, profile = (clinic.aws.url, None) if env == "local" else (s3_proxy.url, "deployer")
    with state.hold_lock(threading.Event()):
        state.announce(Supervisor(pid=1, url=url, keys=KEYS, **place))
        code, text, wrong = clinic.doctor(env=env, profile=profile)
    assert code == 1
    assert f"log:      .fleet/local/logs/endpoints/{log}.log: 2 lines, 1 of them errors" in text
    assert "error[empty-repository] FL407: " in wrong
    assert "the container's log (sentences.log): ERROR: No model found in model repository" in wrong
