"""The embedded AWS answers requests that are signed with its keys, and no others."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from hashlib import sha256
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from fleet_emulator import signatures
from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_gateway import ask
from tests.support.embedded_keys import KEYS, sign_request
from tests.support.jumped_clock import JUMPS, client_clock, jump, later
from triton_fleet.awsapi.emulator import Keys, local_session

BUILD: dict[str, Any] = {
    "projectName": "any",
    "sourceTypeOverride": "NO_SOURCE",
    "buildspecOverride": "version: 0.2\nphases: {build: {commands: [id]}}",
}


def refusal(
    gateway: EmbeddedAws, service: str, operation: str, keys: Keys, **parameters: Any
) -> tuple[int, str]:
    """The status and the error's code that a client of boto3 sees."""
    config = Config(retries={"total_max_attempts": 1}, proxies={})
    make: Any = local_session("us-east-1", keys).client
    with pytest.raises(ClientError) as error_info:
        getattr(make(service, endpoint_url=gateway.url, config=config), operation)(**parameters)
    answer = error_info.value.response
    return answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"]


EXPIRED_MESSAGE = (
    r"Signature expired: (\d{8}T\d{6}Z) is now earlier than \d{8}T\d{6}Z \(\d{8}T\d{6}Z - 15 min\.\)"
    r"|Signature not yet current: (\d{8}T\d{6}Z) is still later than \d{8}T\d{6}Z \(\d{8}T\d{6}Z \+ 15 min\.\)"
)
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
    gateway: EmbeddedAws, service: str, operation: str, parameters: dict[str, Any], stale: str, wrong: str
) -> None:
    assert refusal(gateway, service, operation, STALE, **parameters) == (403, stale)
    assert refusal(gateway, service, operation, WRONG, **parameters) == (403, wrong)


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
def test_no_route_answers_what_is_not_signed(gateway: EmbeddedAws, method: str, path: str) -> None:
    status, text = ask(gateway, method, path, {})
    assert status == 403
    assert "MissingAuthenticationToken" in text


def test_a_key_without_its_signature_and_a_changed_body_are_refused(gateway: EmbeddedAws) -> None:
    url, named_text = (
        f"{gateway.url}/endpoints/any/invocations",
        f"Credential={KEYS.access_key_id}/2026/us-east-1",
    )
    path = urlsplit(url).path
    bare_headers = {"Authorization": f"AWS4-HMAC-SHA256 {named_text}/sagemaker/aws4_request"}
    assert ask(gateway, "POST", path, bare_headers)[0] == 403
    headers = sign_request("POST", url, {}, service="sagemaker", body="{}")
    assert ask(gateway, "POST", path, headers, "{}")[0] == 200
    assert ask(gateway, "POST", path, headers, "[]")[0] == 403
    assert ask(gateway, "POST", f"{path}?a=b", headers, "{}")[0] == 403


CONTENT = "AAAA"


@pytest.mark.parametrize("is_chunked", [False, True], ids=["one length", "chunks"])
def test_a_body_that_is_not_the_one_whose_digest_was_signed_is_refused_as_s3_refuses_it(
    gateway: EmbeddedAws, is_chunked: bool
) -> None:
    url = f"{gateway.url}/digests/key"
    local_session("us-east-1", KEYS).client("s3", endpoint_url=gateway.url).create_bucket(Bucket="digests")
    digest = {"X-Amz-Content-Sha256": sha256(CONTENT.encode()).hexdigest()}
    headers = sign_request("PUT", url, digest, service="s3", body=CONTENT)
    assert ask(gateway, "PUT", urlsplit(url).path, headers, body(CONTENT, is_chunked))[0] == 200
    status, text = ask(gateway, "PUT", urlsplit(url).path, headers, body("BBBB", is_chunked))
    assert (status, "<Code>XAmzContentSHA256Mismatch</Code>" in text) == (400, True)
    assert ask(gateway, "GET", urlsplit(url).path, sign_request("GET", url, {}, service="s3"))[1] == CONTENT


@pytest.mark.parametrize("is_chunked", [False, True], ids=["one length", "chunks"])
def test_a_digest_in_a_header_does_not_stand_for_another_body_of_another_service(
    gateway: EmbeddedAws, is_chunked: bool
) -> None:
    form, other_text = (f"Action={action}&Version=2010-05-08" for action in ("ListRoles", "ListUsers"))
    named_values = {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Amz-Content-Sha256": sha256(form.encode()).hexdigest(),
    }
    headers = sign_request("POST", f"{gateway.url}/", named_values, service="iam", body=form)
    assert "<ListRolesResult>" in ask(gateway, "POST", "/", headers, body(form, is_chunked))[1]
    status, text = ask(gateway, "POST", "/", headers, body(other_text, is_chunked))
    assert (status, "<Code>SignatureDoesNotMatch</Code>" in text) == (403, True)


@pytest.mark.parametrize(
    ("payload", "sent_text"),
    [("UNSIGNED-PAYLOAD", CONTENT), ("STREAMING-UNSIGNED-PAYLOAD-TRAILER", f"4\r\n{CONTENT}\r\n0\r\n\r\n")],
)
def test_a_body_that_is_not_signed_may_be_any(gateway: EmbeddedAws, payload: str, sent_text: str) -> None:
    s3, url = (
        local_session("us-east-1", KEYS).client("s3", endpoint_url=gateway.url),
        f"{gateway.url}/unsigned/key",
    )
    s3.create_bucket(Bucket="unsigned")
    named_values = {"X-Amz-Content-Sha256": payload, "X-Amz-Decoded-Content-Length": str(len(CONTENT))}
    named_values |= {"Content-Encoding": "aws-chunked"} if sent_text != CONTENT else {}
    headers = sign_request("PUT", url, named_values, service="s3", body=CONTENT)
    assert ask(gateway, "PUT", urlsplit(url).path, headers, sent_text)[0] == 200
    assert s3.get_object(Bucket="unsigned", Key="key")["Body"].read() == CONTENT.encode()


def test_a_digest_that_is_none_is_refused(gateway: EmbeddedAws) -> None:
    url = f"{gateway.url}/digests/key"
    headers = sign_request("PUT", url, {"X-Amz-Content-Sha256": "AAAA"}, service="s3", body=CONTENT)
    assert ask(gateway, "PUT", urlsplit(url).path, headers, CONTENT)[0] == 400


def body(text: str, is_chunked: bool) -> Any:
    """A body of known length, or one that is sent in chunks."""
    return iter([text.encode()]) if is_chunked else text


def test_a_url_that_was_signed_reads_that_object_alone_and_expires(gateway: EmbeddedAws) -> None:
    s3 = local_session("us-east-1", KEYS).client(
        "s3", endpoint_url=gateway.url, config=Config(signature_version="s3v4", proxies={})
    )
    s3.create_bucket(Bucket="signed")
    s3.put_object(Bucket="signed", Key="a b+c", Body=b"content")

    def presigned_url(seconds: int) -> str:
        parameters = {"Bucket": "signed", "Key": "a b+c"}
        place = urlsplit(s3.generate_presigned_url("get_object", Params=parameters, ExpiresIn=seconds))
        return f"{place.path}?{place.query}"

    assert ask(gateway, "GET", presigned_url(60), {}) == (200, "content")
    assert ask(gateway, "GET", presigned_url(60).replace("/signed/", "/other/"), {})[0] == 403
    assert ask(gateway, "DELETE", presigned_url(60), {})[0] == 403
    status, text = ask(gateway, "GET", presigned_url(-1), {})
    assert (status, "Request has expired" in text) == (403, True)


@pytest.mark.parametrize("minutes", [-16, 16])
@pytest.mark.parametrize(
    ("service", "operation", "code", "message"),
    [
        (
            "s3",
            "list_buckets",
            "RequestTimeTooSkewed",
            "The difference between the request time and the current time is too large.",
        ),
        ("iam", "list_roles", "SignatureDoesNotMatch", EXPIRED_MESSAGE),
        ("codebuild", "list_projects", "InvalidSignatureException", EXPIRED_MESSAGE),
    ],
)
def test_a_signature_ends_after_15_minutes_and_is_refused_as_aws_refuses_it(
    gateway: EmbeddedAws,
    monkeypatch: pytest.MonkeyPatch,
    service: str,
    operation: str,
    code: str,
    message: str,
    minutes: int,
) -> None:
    client_clock(monkeypatch, timedelta(minutes=minutes))
    config = Config(retries={"total_max_attempts": 1}, proxies={})
    make: Any = local_session("us-east-1", KEYS).client
    with pytest.raises(ClientError) as error_info:
        getattr(make(service, endpoint_url=gateway.url, config=config), operation)()
    error = error_info.value.response
    assert error["ResponseMetadata"]["HTTPStatusCode"] == 403
    assert error["Error"]["Code"] == code
    assert re.fullmatch(message, error["Error"]["Message"])
    client_clock(monkeypatch, timedelta(minutes=minutes // 8 * 7))
    getattr(make(service, endpoint_url=gateway.url, config=config), operation)()


def test_a_program_that_compares_the_clocks_of_an_answer_corrects_its_own(gateway: EmbeddedAws) -> None:
    """As the AWS SDK for JavaScript does, with which the CDK CLI asks."""
    url = f"{gateway.url}/"
    ask_s3 = partial(ask, gateway, "GET", "/")
    headers = sign_request("GET", url, {}, service="s3", at=datetime.now(UTC) - timedelta(hours=1))
    place = urlsplit(gateway.url)
    connection = HTTPConnection(place.hostname or "", place.port, timeout=10)
    connection.request("GET", "/", headers=headers)
    answer = connection.getresponse()
    date = parsedate_to_datetime(answer.headers["Date"])
    connection.close()
    assert answer.status == 403
    assert ask_s3(sign_request("GET", url, {}, service="s3", at=date))[0] == 200


def test_an_hour_after_it_was_signed_a_captured_request_is_refused(
    gateway: EmbeddedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{gateway.url}/endpoints/any/invocations"
    headers = sign_request("POST", url, {}, service="sagemaker", body="{}")
    later(monkeypatch, signatures, timedelta(hours=1))
    status, text = ask(gateway, "POST", urlsplit(url).path, headers, "{}")
    assert (status, "Signature expired: " in text) == (403, True)


@pytest.mark.parametrize("by", JUMPS)
def test_a_clock_that_jumps_between_a_request_and_its_answer_locks_no_program_out(
    gateway: EmbeddedAws, monkeypatch: pytest.MonkeyPatch, by: timedelta
) -> None:
    url = f"{gateway.url}/endpoints/any/invocations"
    path = urlsplit(url).path
    headers = sign_request("POST", url, {}, service="sagemaker", body="{}")
    assert ask(gateway, "POST", path, headers, "{}")[0] == 200
    jump(monkeypatch, signatures, by)
    assert ask(gateway, "POST", path, headers, "{}")[0] == 200
    client_clock(monkeypatch, by)
    assert (
        ask(gateway, "POST", path, sign_request("POST", url, {}, service="sagemaker", body="{}"), "{}")[0]
        == 200
    )
    later(monkeypatch, signatures, timedelta(minutes=16), wall=by)
    assert ask(gateway, "POST", path, headers, "{}")[0] == 403


def test_the_keys_of_a_role_that_was_assumed_count_with_their_session_token(gateway: EmbeddedAws) -> None:
    sts = local_session("us-east-1", KEYS).client("sts", endpoint_url=gateway.url)
    role = "arn:aws:iam::123456789012:role/deploy"
    given_credentials = sts.assume_role(RoleArn=role, RoleSessionName="cdk")["Credentials"]

    def caller(token: str | None) -> str:
        session = boto3.Session(given_credentials["AccessKeyId"], given_credentials["SecretAccessKey"], token)
        client = session.client("sts", region_name="us-east-1", endpoint_url=gateway.url)
        return str(client.get_caller_identity()["Arn"])

    assert caller(given_credentials["SessionToken"]).endswith(":assumed-role/deploy/cdk")
    for token in (None, "another"):
        with pytest.raises(ClientError, match="InvalidClientTokenId"):
            caller(token)
