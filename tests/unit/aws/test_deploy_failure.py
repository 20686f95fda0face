"""Why a deploy failed, if the CDK CLI knows it and the stack's events do not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from triton_fleet.aws.deploy.failures import deploy_failure, failed_resources
from triton_fleet.catalog.symptoms import symptoms
from triton_fleet.exits import run_to_exit
from triton_fleet.findings import CannotRunError, Finding, FindingsError, one_failure

FORMATTER = (
    Path(__file__).resolve().parents[3]
    / "node_modules/@aws-cdk/toolkit-lib/lib/api/diagnosing/diagnosis-formatting.js"
)


class UnexpectedCall:
    """A CloudFormation that nobody may ask."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


@pytest.mark.parametrize(
    "line",
    [
        "ExpiredToken: The security token included in the request is expired",
        "Error: ExpiredTokenException: ...",
        "RequestExpired: Request has expired.",
        "CredentialsProviderError: The SSO session associated with this profile has expired."
        " To refresh this SSO session run aws sso login with the corresponding profile.",
        "CredentialsProviderError: Your session has expired. Please reauthenticate.",
    ],
)
def test_credentials_that_expire_within_a_deploy_are_named_with_the_remedy(line: str) -> None:
    failure = deploy_failure(
        cast("Any", UnexpectedCall()), "triton-fleet-dev-a", f"deploying\n{line}\n", "see a.log"
    )
    assert isinstance(failure, CannotRunError)
    assert failure.problem.startswith("the credentials expired during cdk deploy triton-fleet-dev-a; ")
    assert "aws sso login" in failure.remedy
    assert "run the command again" in failure.remedy


@pytest.mark.parametrize(
    "line",
    [
        "InvalidChangeSetStatusException: ChangeSet [arn:...] cannot be executed in its current status of [...]",
        "ValidationError: Stack:arn:... is in UPDATE_IN_PROGRESS state and can not be updated.",
        "ChangeSetNotFoundException: ChangeSet [cdk-deploy-change-set] does not exist",
        "AlreadyExistsException: Stack [triton-fleet-dev-a] already exists and cannot be created again",
        "Stack with name a has change sets currently being created (x). Try again when it's finished.",
        "Change set fleet-1 is still being created (CREATE_IN_PROGRESS). Try again when it's finished.",
        "Change set fleet-1 cannot be executed (DELETE_COMPLETE)",
    ],
)
def test_a_deploy_of_another_clone_at_the_same_time_is_named_with_the_remedy(line: str) -> None:
    failure = deploy_failure(
        cast("Any", UnexpectedCall()), "triton-fleet-dev-a", f"deploying\n{line}\n", "see a.log"
    )
    assert isinstance(failure, CannotRunError)
    assert failure.problem.startswith("another deploy changed triton-fleet-dev-a at the same time; ")
    assert failure.remedy.startswith("wait until it has ended; if this clone's lock is the one to deploy")
    assert "run the command again" in failure.remedy


@pytest.mark.parametrize(
    ("symptom", "reason"),
    [
        (
            "no_reason_given",
            "Request to service failed. If failure persists after retry, contact customer support.",
        ),
        (
            "no_capacity",
            "Unable to provision requested ML compute capacity due to InsufficientInstanceCapacity error.",
        ),
        ("host_image_refused_by_name", "Invalid combination: instance p4d and InferenceAmiVersion"),
        (
            "role_not_assumed",
            "Could not assume role arn:aws:iam::1:role/a. Please ensure that the role exists",
        ),
    ],
)
def test_a_deploy_names_the_remedy_that_the_doctor_names(symptom: str, reason: str) -> None:
    (known_symptom,) = (item for item in symptoms() if item.name == symptom)
    (finding,) = failed_resources(cast("Any", FailedUpdate(reason)), "arn", "triton-fleet-dev-a", "see a.log")
    assert finding.hint == f"{known_symptom.remedy}; see a.log"


def test_a_remedy_names_what_the_reason_names() -> None:
    text = "Failed for execute the inference request. Model 'tensorrt_llm' is not ready."
    (finding,) = failed_resources(cast("Any", FailedUpdate(text)), "arn", "triton-fleet-dev-a", "see a.log")
    assert finding.hint.startswith("add `--load-model=tensorrt_llm` to ")


def test_the_remedy_for_an_endpoint_in_progress_is_a_command_to_paste() -> None:
    refused_text = 'Cannot update in-progress endpoint "arn:aws-cn:sagemaker:cn-north-1:1:endpoint/a-b".'
    (finding,) = failed_resources(
        cast("Any", FailedUpdate(refused_text)), "arn", "triton-fleet-dev-a", "see a.log"
    )
    command = "`aws sagemaker wait endpoint-in-service --region cn-north-1 --endpoint-name a-b`"
    assert command in finding.hint


def test_the_remedy_for_an_older_foundation_is_a_command_to_paste() -> None:
    missing_text = "Unable to fetch parameters [/triton-fleet/dev/alarm-topic/critical] from parameter store"
    (finding,) = failed_resources(
        cast("Any", FailedUpdate(missing_text)), "arn", "triton-fleet-dev-a", "see a.log"
    )
    assert "deploy it first, `fleet deploy --env dev --foundation`; see a.log" in finding.hint


def test_a_deploy_that_failed_for_an_unknown_reason_has_no_remedy() -> None:
    (finding,) = failed_resources(cast("Any", FailedUpdate("no")), "arn", "triton-fleet-dev-a", "see a.log")
    assert finding.hint == "see a.log"


class FailedUpdate:
    """A CloudFormation with the events of one update, in which the endpoint failed."""

    def __init__(self, reason: str) -> None:
        stack = {"ResourceStatus": "UPDATE_IN_PROGRESS", "ResourceStatusReason": "User Initiated"}
        endpoint = {"ResourceType": "AWS::SageMaker::Endpoint", "ResourceStatusReason": reason}
        self.events = [
            {"EventId": "2", "StackId": "arn", **endpoint, "ResourceStatus": "UPDATE_FAILED"},
            {"EventId": "1", "StackId": "arn", "PhysicalResourceId": "arn", **stack},
        ]

    def get_paginator(self, _operation: str) -> FailedUpdate:
        return self

    def paginate(self, **_request: str) -> list[dict[str, Any]]:
        return [{"StackEvents": self.events}]


CONFLICT = (
    "Early validation failed for change set cdk-deploy-change-set:\n"
    "Resource of type 'AWS::S3::Bucket' with identifier 'triton-fleet-dev-1' already exists. (at /Resources/B)\n"
    "Resource of type 'AWS::ECR::Repository' with identifier 'images' already exists. (at /Resources/R)\n"
)
UNLISTED_FAILURE = (
    "Failed to create change set x: The following hook(s)/validation failed: "
    "[AWS::EarlyValidation::ResourceExistenceCheck]. To troubleshoot Early Validation errors, use the "
    "DescribeEvents API for detailed failure information."
)


@pytest.mark.parametrize(
    ("output", "messages"),
    [
        (CONFLICT, ["AWS::S3::Bucket triton-fleet-dev-1", "AWS::ECR::Repository images"]),
        (CONFLICT * 2, ["AWS::S3::Bucket triton-fleet-dev-1", "AWS::ECR::Repository images"]),
        (UNLISTED_FAILURE, ["resources that it would create"]),
    ],
)
def test_names_that_exist_are_named_without_reading_events(output: str, messages: list[str]) -> None:
    failure = deploy_failure(cast("Any", UnexpectedCall()), "s", output, "see a.log", foundation_of="dev")
    assert isinstance(failure, FindingsError)
    assert {finding.code for finding in failure.findings} == {"FL614"}
    for words, finding in zip(messages, failure.findings, strict=True):
        assert finding.message.startswith(f"s cannot create: {words} exist")
        assert "`fleet deploy --env dev --foundation --import-existing`" in finding.hint


def test_names_of_any_length_are_found_in_what_the_toolkit_prints() -> None:
    names = [f"triton-fleet-dev-{'1234567890' * count}" for count in range(1, 6)]
    text = _printed_by_toolkit(
        [
            f"Resource of type 'AWS::ECR::Repository' with identifier '{name}' already exists."
            for name in names
        ]
    )
    assert any(f"'{name}'\n" in text for name in names), "a line is broken before `already exists`"
    failure = deploy_failure(cast("Any", UnexpectedCall()), "s", text, "see a.log")
    assert isinstance(failure, FindingsError)
    assert [finding.message for finding in failure.findings] == [
        f"s cannot create: AWS::ECR::Repository {name} exists already" for name in names
    ]


@pytest.mark.parametrize(
    "reason",
    ["Required property [PolicyDocument] not found", "The bucket 'a' you tried to delete is not empty"],
)
def test_another_refusal_of_a_change_set_is_quoted_and_no_event_is_read(reason: str) -> None:
    failure = deploy_failure(cast("Any", UnexpectedCall()), "s", _printed_by_toolkit([reason]), "see a.log")
    assert isinstance(failure, CannotRunError)
    assert failure.problem.startswith(
        "CloudFormation refused the change set of s, and nothing was changed:\n"
    )
    assert reason in failure.problem


def _printed_by_toolkit(reasons: list[str]) -> str:
    """The refusals of a change set, as the CDK's toolkit prints them."""
    program = (
        "const { formatProblemDiagnosis } = require(process.argv[1]);"
        "const problems = JSON.parse(process.argv[2]);"
        "const detectedBy = { type: 'early-validation', changeSetName: 'fleet-1' };"
        "console.log(formatProblemDiagnosis({ detectedBy, problems }));"
    )
    problems = [
        {"message": reason, "logicalId": f"R{number}", "parentStackLogicalIds": []}
        for number, reason in enumerate(reasons)
    ]
    command = ["node", "-e", program, str(FORMATTER), json.dumps(problems)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_resource_of_an_endpoint_that_exists_is_renamed_or_deleted() -> None:
    failure = deploy_failure(cast("Any", UnexpectedCall()), "s", CONFLICT, "see a.log")
    assert isinstance(failure, FindingsError)
    hint = "nothing was changed; rename the resource, or delete the one that exists; see a.log"
    assert {finding.hint for finding in failure.findings} == {hint}


WRONG = FindingsError([Finding(code="FL601", message="the model does not load")])
ABSENT = CannotRunError("AWS does not answer", "check the network")
STUCK = CannotRunError("the stack is stuck", "delete it")


@pytest.mark.parametrize(
    ("failures", "code", "words"),
    [
        ([WRONG], 1, ["the model does not load"]),
        ([ABSENT], 2, ["AWS does not answer"]),
        ([ABSENT, STUCK], 2, ["AWS does not answer", "check the network", "the stack is stuck", "delete it"]),
        ([ABSENT, WRONG, STUCK], 1, ["the model does not load", "AWS does not answer", "the stack is stuck"]),
    ],
)
def test_several_failures_are_all_printed_and_a_finding_decides_the_exit_code(
    failures: list[FindingsError | CannotRunError],
    code: int,
    words: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> None:
        raise one_failure(failures)

    with pytest.raises(SystemExit) as exit_info:
        run_to_exit(fail)
    assert exit_info.value.code == code
    errors = capsys.readouterr().err
    assert [word for word in words if word not in errors] == []
