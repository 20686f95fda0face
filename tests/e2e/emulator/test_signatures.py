"""The embedded AWS answers requests that are signed with its keys, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from embedded_gateway import ask, running_gateway
from embedded_keys import KEYS, signed
from fleet.aws.api.emulator import Keys, local_session
from fleet_emulator import signatures
from fleet_emulator.server import EmbeddedAws
from jumped_clock import JUMPS, jump

BUILD: dict[str, Any] = {
    "projectName": "any",
    "sourceTypeOverride": "NO_SOURCE",
    "buildspecOverride": "version: 0.2\nphases: {build: {commands: [id]}}",
}


@pytest.fixture(scope="module")
def aws() -> Iterator[EmbeddedAws]:
    with running_gateway() as aws:
        yield aws


def refusal(aws: EmbeddedAws, service: str, operation: str, keys: Keys, **parameters: Any) -> tuple[int, str]:
    """The status and the error's code that a client of boto3 sees."""
    config = Config(retries={"total_max_attempts": 1}, proxies={})
    make: Any = local_session("us-east-1", keys).client
    with pytest.raises(ClientError) as raised:
        getattr(make(service, endpoint_url=aws.url, config=config), operation)(**parameters)
    answer = raised.value.response
    return answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"]


STALE = Keys.random()
WRONG = Keys(KEYS.access_key_id, "of-somebody-else")


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "stale", "wrong"),
    [
        ("codebuild", "start_build", BUILD, "UnrecognizedClientException", "InvalidSignatureException"),
        ("iam", "list_roles", {}, "InvalidClientTokenId", "SignatureDoesNotMatch"),
        ("s3", "list_buckets", {}, "InvalidAccessKeyId", "SignatureDoesNotMatch"),
        (
            "sagemaker-runtime",
            "invoke_endpoint",
            {"EndpointName": "any", "Body": b"{}"},
            "UnrecognizedClientException",
            "InvalidSignatureException",
        ),
    ],
)
def test_keys_of_an_earlier_up_and_a_wrong_secret_are_refused_as_aws_refuses_them(
    aws: EmbeddedAws, service: str, operation: str, parameters: dict[str, Any], stale: str, wrong: str
) -> None:
    assert refusal(aws, service, operation, STALE, **parameters) == (403, stale)
    assert refusal(aws, service, operation, WRONG, **parameters) == (403, wrong)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/?Action=ListRoles&Version=2010-05-08"),
        ("POST", "/endpoints/any/invocations"),
        ("GET", "/_fleet/status"),
        ("POST", "/_fleet/metrics"),
        ("GET", "/moto-api/data.json"),
        ("POST", "/moto-api/reset"),
        ("GET", "/bucket/object"),
        ("GET", "/static/any"),
    ],
)
def test_no_route_answers_what_is_not_signed(aws: EmbeddedAws, method: str, path: str) -> None:
    status, said = ask(aws, method, path, {})
    assert status == 403
    assert "MissingAuthenticationToken" in said


def test_a_key_without_its_signature_and_a_changed_body_are_refused(aws: EmbeddedAws) -> None:
    url, named = f"{aws.url}/endpoints/any/invocations", f"Credential={KEYS.access_key_id}/2026/us-east-1"
    path = urlsplit(url).path
    unsigned = {"Authorization": f"AWS4-HMAC-SHA256 {named}/sagemaker/aws4_request"}
    assert ask(aws, "POST", path, unsigned)[0] == 403
    headers = signed("POST", url, {}, service="sagemaker", body="{}")
    assert ask(aws, "POST", path, headers, "{}")[0] == 200
    assert ask(aws, "POST", path, headers, "[]")[0] == 403
    assert ask(aws, "POST", f"{path}?a=b", headers, "{}")[0] == 403


def test_a_url_that_was_signed_reads_that_object_alone_and_expires(aws: EmbeddedAws) -> None:
    s3 = local_session("us-east-1", KEYS).client(
        "s3", endpoint_url=aws.url, config=Config(signature_version="s3v4", proxies={})
    )
    s3.create_bucket(Bucket="signed")
    s3.put_object(Bucket="signed", Key="a b+c", Body=b"content")

    def presigned(seconds: int) -> str:
        parameters = {"Bucket": "signed", "Key": "a b+c"}
        place = urlsplit(s3.generate_presigned_url("get_object", Params=parameters, ExpiresIn=seconds))
        return f"{place.path}?{place.query}"

    assert ask(aws, "GET", presigned(60), {}) == (200, "content")
    assert ask(aws, "GET", presigned(60).replace("/signed/", "/other/"), {})[0] == 403
    assert ask(aws, "DELETE", presigned(60), {})[0] == 403
    status, said = ask(aws, "GET", presigned(-1), {})
    assert (status, "Request has expired" in said) == (403, True)


@pytest.mark.parametrize("by", JUMPS)
def test_a_clock_that_jumps_between_a_request_and_its_answer_locks_no_program_out(
    aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch, by: timedelta
) -> None:
    url = f"{aws.url}/endpoints/any/invocations"
    headers = signed("POST", url, {}, service="sagemaker", body="{}")
    jump(monkeypatch, signatures, by)
    assert ask(aws, "POST", urlsplit(url).path, headers, "{}")[0] == 200


def test_the_keys_of_a_role_that_was_assumed_count_with_their_session_token(aws: EmbeddedAws) -> None:
    sts = local_session("us-east-1", KEYS).client("sts", endpoint_url=aws.url)
    role = "arn:aws:iam::123456789012:role/deploy"
    given = sts.assume_role(RoleArn=role, RoleSessionName="cdk")["Credentials"]

    def caller(token: str | None) -> str:
        session = boto3.Session(given["AccessKeyId"], given["SecretAccessKey"], token)
        client = session.client("sts", region_name="us-east-1", endpoint_url=aws.url)
        return str(client.get_caller_identity()["Arn"])

    assert caller(given["SessionToken"]).endswith(":assumed-role/deploy/cdk")
    for token in (None, "another"):
        with pytest.raises(ClientError, match="InvalidClientTokenId"):
            caller(token)
