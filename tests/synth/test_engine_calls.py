"""Calls to S3 of the build that starts a job are what its role allows, call by call, and SageMaker's part likewise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from fnmatch import fnmatchcase
from typing import Any

import pytest
from aws_cdk.assertions import Template

from engine_request.problems import BuildError
from tests.support.embedded_s3 import BUCKET
from tests.support.engine_builds import EngineStore, engine_store
from tests.support.engine_jobs import ScriptedSageMaker
from tests.support.engine_templates import JOB, granted_to_jobs, project_statements
from triton_fleet.builds.engines.artifacts import JOBS

ACTIONS = {
    "AbortMultipartUpload": "s3:AbortMultipartUpload",
    "CompleteMultipartUpload": "s3:PutObject",
    "CopyObject": "s3:PutObject",
    "CreateMultipartUpload": "s3:PutObject",
    "DeleteObject": "s3:DeleteObject",
    "GetObject": "s3:GetObject",
    "HeadObject": "s3:GetObject",
    "ListObjectsV2": "s3:ListBucket",
    "PutObject": "s3:PutObject",
    "UploadPart": "s3:PutObject",
}
"""What IAM checks for each call. Source: Service Authorization Reference, Amazon S3."""
PART = ("CreateMultipartUpload", "UploadPart")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineStore]:
    with engine_store(tmp_path_factory.mktemp("store")) as store:
        yield store


def is_allowed(
    statements: dict[str, dict[str, Any]], operation: str, requested_values: dict[str, Any]
) -> bool:
    """Whether a statement covers a call with its conditions, which are those that these roles have."""
    resource = f"arn:aws:s3:::{BUCKET}" + (f"/{requested_values['Key']}" if "Key" in requested_values else "")
    holds = {
        "Null": "IfNoneMatch" in requested_values,
        "Bool": operation in PART,
        "StringLike": str(requested_values.get("Prefix", "")).startswith(JOBS),
    }
    for statement in statements.values():
        actions, resources = (
            [value] if isinstance(value, str) else value
            for value in (statement["Action"], statement["Resource"])
        )
        named_texts = [
            re.sub("^arn:aws:s3:::[^/]+", f"arn:aws:s3:::{BUCKET}", str(resource)) for resource in resources
        ]
        if (
            ACTIONS[operation] in actions
            and any(fnmatchcase(resource, named_text) for named_text in named_texts)
            and all(holds[kind] for kind in statement.get("Condition", {}))
        ):
            return True
    return False


@pytest.mark.parametrize("outcome", ["Completed", "Failed"])
def test_every_call_of_the_starter_is_one_that_its_role_allows(
    plain: Template, store: EngineStore, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEBUILD_BUILD_ID", f"triton-fleet-dev-engines-job:{outcome}")
    statements, calls = project_statements(plain, JOB), list[tuple[str, dict[str, Any]]]()
    sagemaker = ScriptedSageMaker(store)

    def record_call(params: dict[str, Any], model: Any, **_: Any) -> None:
        if model.name == "DeleteObjects":
            calls.extend(("DeleteObject", item) for item in params["Delete"]["Objects"])
            return
        calls.append((model.name, dict(params)))
        if "CopySource" in params:
            calls.append(("GetObject", {"Key": params["CopySource"]["Key"]}))

    sagemaker.creates()
    sagemaker.is_in("InProgress")
    sagemaker.is_in(outcome)
    store.s3.meta.events.register("provide-client-params.s3", record_call)
    with suppress(BuildError) if outcome == "Failed" else nullcontext():
        sagemaker.run(pause=sagemaker.leaves)
    store.s3.meta.events.unregister("provide-client-params.s3", record_call)
    calls = [call for call in calls if not is_of_sagemaker(call[1], sagemaker.workspace)]
    assert {name for name, _ in calls} >= {"CopyObject", "ListObjectsV2", "DeleteObject"}
    assert [call for call in calls if not is_allowed(statements, *call)] == []


def is_of_sagemaker(requested_values: dict[str, Any], workspace: str) -> bool:
    """Whether it is the upload of the job's output, which the test does in SageMaker's place."""
    return "Body" in requested_values and str(requested_values.get("Key", "")).startswith(
        f"{workspace}output/"
    )


@pytest.mark.parametrize(
    ("operation", "key", "is_expected"),
    [
        ("GetObject", f"{JOBS}engine-1/input/model.onnx", True),
        ("PutObject", f"{JOBS}engine-1/output/model.plan", True),
        ("GetObject", "engines/onnx/0a.onnx", False),
        ("GetObject", "engines/plans/0a/model.plan", False),
        ("PutObject", "engines/plans/0a/model.plan", False),
        ("GetObject", "archives/0a.tar.gz", False),
        ("GetObject", "endpoints/other/0a.tar.gz", False),
        ("DeleteObject", f"{JOBS}engine-1/input/model.onnx", False),
    ],
)
def test_with_the_role_of_jobs_even_sagemaker_reaches_files_of_jobs_alone(
    plain: Template, operation: str, key: str, is_expected: bool
) -> None:
    request = {"Key": key, "IfNoneMatch": "*"}
    assert is_allowed(granted_to_jobs(plain), operation, request) is is_expected


@pytest.mark.parametrize(
    ("prefix", "is_expected"), [(f"{JOBS}engine-1/input/", True), ("engines/onnx/", False)]
)
def test_it_lists_files_of_jobs_alone(plain: Template, prefix: str, is_expected: bool) -> None:
    request = {"Prefix": prefix}
    assert is_allowed(granted_to_jobs(plain), "ListObjectsV2", request) is is_expected
