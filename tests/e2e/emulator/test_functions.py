"""The embedded AWS's Lambda: functions of stacks, which run in its own process."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.functions import ROLE, archive, function, upload
from tests.support.embedded_app.stacks import Stacks

DESCRIBE = "recorder.handler.describe"


def invoke_function(aws: EmbeddedAws, name: str, event: Any, **options: Any) -> tuple[str, Any]:
    """The kind of error that a call ended with, and its payload."""
    answer = client(aws, "lambda").invoke(FunctionName=name, Payload=json.dumps(event).encode(), **options)
    return answer.get("FunctionError", ""), json.loads(answer["Payload"].read())


def test_a_function_is_found_by_lambdas_own_calls(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    properties = {"MemorySize": 256, "Tags": [{"Key": "team", "Value": "ml"}], "Description": "describes"}
    assert stacks.create("found", {"Role": ROLE, "F": function(recorder, DESCRIBE, **properties)}) == (
        "CREATE_COMPLETE"
    )
    name = stacks.physical_ids("found")["F"]
    assert name.startswith("found-F-")
    api = client(aws, "lambda")
    actual_function = api.get_function(FunctionName=name)
    assert actual_function["Tags"] == {"team": "ml"}
    configuration = actual_function["Configuration"]
    assert configuration["Handler"] == DESCRIBE
    assert (configuration["MemorySize"], configuration["Timeout"]) == (256, 20)
    assert configuration["Environment"]["Variables"] == {"BUCKET": "data"}
    assert name in [function["FunctionName"] for function in api.list_functions()["Functions"]]


def test_an_update_brings_new_code_and_forgets_what_the_template_has_dropped(
    aws: EmbeddedAws, stacks: Stacks
) -> None:
    def version(number: int, **properties: Any) -> dict[str, Any]:
        source = f"def handler(event, context, client, environ):\n    return [{number}, 'X' in environ]\n"
        return {"Role": ROLE, "F": function({"ZipFile": source}, "index.handler", **properties)}

    stacks.create("versions", version(1, environment={"X": "1"}, MemorySize=512))
    name = stacks.physical_ids("versions")["F"]
    assert invoke_function(aws, name, {}) == ("", [1, True])
    assert stacks.update("versions", version(2)) == "UPDATE_COMPLETE"
    assert stacks.physical_ids("versions")["F"] == name
    assert invoke_function(aws, name, {}) == ("", [2, False])
    assert client(aws, "lambda").get_function_configuration(FunctionName=name)["MemorySize"] == 128


def test_a_function_is_gone_with_its_stack(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    stacks.create("gone", {"Role": ROLE, "F": function(recorder, DESCRIBE, FunctionName="goes")})
    stacks.api.delete_stack(StackName="gone")
    with pytest.raises(ClientError, match="Function not found"):
        client(aws, "lambda").get_function(FunctionName="goes")


@pytest.mark.parametrize(
    ("bucket", "key", "reason"),
    [
        (
            "absent",
            "any.zip",
            "S3 Error Code: NoSuchBucket. S3 Error Message: The specified bucket does not exist",
        ),
        (
            "data",
            "absent.zip",
            "S3 Error Code: NoSuchKey. S3 Error Message: The specified key does not exist.",
        ),
        (
            "data",
            "broken.zip",
            "Could not unzip uploaded file. Please check your file, then try to upload again.",
        ),
    ],
)
def test_code_that_cannot_be_had_is_refused(
    aws: EmbeddedAws, stacks: Stacks, bucket: str, key: str, reason: str
) -> None:
    upload(aws, "broken.zip", b"no archive")
    code = {"S3Bucket": bucket, "S3Key": key}
    name = f"refused-{bucket}-{key.split('.')[0]}"
    assert stacks.create(name, {"Role": ROLE, "F": function(code, DESCRIBE)}) == "ROLLBACK_COMPLETE"
    [told_text] = [
        text for resource, status, text in stacks.events(name) if (resource, status) == ("F", "CREATE_FAILED")
    ]
    assert reason in told_text


def test_two_functions_cannot_have_one_name(stacks: Stacks, recorder: dict[str, str]) -> None:
    named_function = function(recorder, DESCRIBE, FunctionName="only-one")
    assert stacks.create("one", {"Role": ROLE, "F": named_function}) == "CREATE_COMPLETE"
    assert stacks.create("two", {"Role": ROLE, "F": named_function}) == "ROLLBACK_COMPLETE"
    assert ("F", "CREATE_FAILED", "Function already exist: only-one") in stacks.events("two")


@pytest.fixture(scope="module")
def function_role(aws_and_host: tuple[EmbeddedAws, Any]) -> str:
    """The name of a function that describes its call."""
    aws = aws_and_host[0]
    code = upload(aws, "recorder.zip", archive())
    declared_function = function(code, DESCRIBE, FunctionName="described", environment={"MODE": "fast"})
    assert Stacks(aws).create("described", {"Role": ROLE, "F": declared_function}) == "CREATE_COMPLETE"
    return "described"


def test_a_handler_gets_its_own_environment_and_clients_that_lead_back(
    aws: EmbeddedAws, function_role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "the user's own")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    kind, answer = invoke_function(aws, function_role, {"a": [1]})
    assert kind == ""
    assert answer["event"] == {"a": [1]}
    assert answer["account"] == "123456789012"
    assert answer["environment"] == {
        "AWS_LAMBDA_FUNCTION_NAME": function_role,
        "AWS_REGION": "us-east-1",
        "BUCKET": "data",
        "MODE": "fast",
    }


def test_a_handler_knows_its_call(aws: EmbeddedAws, function_role: str) -> None:
    _, first = invoke_function(aws, function_role, {})
    _, second = invoke_function(aws, function_role, {})
    arn = f"arn:aws:lambda:us-east-1:123456789012:function:{function_role}"
    assert first["function"] == [function_role, arn]
    assert 0 < first["remaining"] <= 20_000
    assert first["request"] != second["request"]


def test_a_failing_handler_is_told_in_its_own_words(aws: EmbeddedAws, function_role: str) -> None:
    kind, answer = invoke_function(aws, function_role, {"fail": "no such variant"})
    assert kind == "Unhandled"
    assert (answer["errorType"], answer["errorMessage"]) == ("ValueError", "no such variant")
    assert any("describe" in line for line in answer["stackTrace"])


def test_a_function_has_its_time_and_no_more(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    hasty = function(recorder, DESCRIBE, FunctionName="hasty", Timeout=1)
    stacks.create("hasty", {"Role": ROLE, "F": hasty})
    kind, answer = invoke_function(aws, "hasty", {"wait": True})
    assert (kind, answer["errorMessage"]) == ("Unhandled", "Task timed out after 1.00 seconds")


def test_what_a_function_says_is_in_its_log_group(aws: EmbeddedAws, function_role: str) -> None:
    invoke_function(aws, function_role, {"fail": "said aloud"})
    logs = client(aws, "logs")
    events = logs.filter_log_events(logGroupName=f"/aws/lambda/{function_role}")["events"]
    messages = [event["message"] for event in events]
    assert "described" in messages
    assert "ValueError: said aloud" in messages


@pytest.mark.parametrize(
    ("name", "sources", "reason"),
    [
        (
            "import",
            {"f.py": "import absent_library"},
            "Unable to import module 'f': No module named 'absent_library'",
        ),
        ("module", {"g.py": ""}, "Unable to import module 'f': No module named 'f'"),
        ("handler", {"f.py": ""}, "Handler 'handler' missing on module 'f'"),
        (
            "answer",
            {"f.py": "def handler(event, context, client, environ): return {1, 2}"},
            "Unable to marshal response: Object of type set is not JSON serializable",
        ),
    ],
)
def test_a_function_that_cannot_be_called_is_told_as_lambda_tells_it(
    aws: EmbeddedAws, stacks: Stacks, name: str, sources: dict[str, str], reason: str
) -> None:
    code = upload(aws, f"{name}.zip", archive(sources))
    stacks.create(name, {"Role": ROLE, "F": function(code, "f.handler", FunctionName=name)})
    kind, answer = invoke_function(aws, name, {})
    assert (kind, answer["errorMessage"]) == ("Unhandled", reason)


@pytest.mark.parametrize(
    ("runtime", "source", "reason"),
    [
        ("nodejs24.x", "", "its runtime is nodejs24.x"),
        ("python3.12", "def handler(event, context): raise SystemExit", "lacks client and environ"),
    ],
)
def test_what_does_not_run_here_is_refused_and_not_run(
    aws: EmbeddedAws, stacks: Stacks, runtime: str, source: str, reason: str
) -> None:
    name = f"foreign-{runtime.split('.')[0]}"
    declared_function = function({"ZipFile": source}, "index.handler", Runtime=runtime, FunctionName=name)
    assert stacks.create(name, {"Role": ROLE, "F": declared_function}) == "CREATE_COMPLETE"
    with pytest.raises(ClientError, match=reason) as refusal:
        client(aws, "lambda").invoke(FunctionName=name)
    assert refusal.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_the_settings_of_an_account_have_the_executions_that_functions_have_not_reserved(
    aws: EmbeddedAws, stacks: Stacks, recorder: dict[str, str]
) -> None:
    api = client(aws, "lambda")
    before = api.get_account_settings()
    limits = before["AccountLimit"]
    assert limits["ConcurrentExecutions"] == limits["UnreservedConcurrentExecutions"] == 1000
    reserving_function = function(recorder, DESCRIBE, ReservedConcurrentExecutions=5)
    assert stacks.create("reserving", {"Role": ROLE, "F": reserving_function}) == "CREATE_COMPLETE"
    after = api.get_account_settings()
    assert after["AccountLimit"]["ConcurrentExecutions"] == 1000
    assert after["AccountLimit"]["UnreservedConcurrentExecutions"] == 995
    assert after["AccountUsage"]["FunctionCount"] == before["AccountUsage"]["FunctionCount"] + 1
