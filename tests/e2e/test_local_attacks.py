"""What somebody else tries on the services of a laptop: another program, another user, a page that is rebound."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import psutil
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from embedded_keys import KEYS, signed
from fleet.aws.api.emulator import Keys, local_session
from fleet.findings import CannotRunError
from fleet.local.state import LocalState, Supervisor
from fleet.local.triton.network import check_network
from fleet_emulator import signatures
from fleet_emulator.server import EmbeddedAws
from jumped_clock import JUMPS, jump
from tests.e2e.embedded_app.host import RecordingHost
from triton_models import Starter, call, python_model

OTHER_UID = 65534
BUILD: dict[str, Any] = {
    "projectName": "any",
    "sourceTypeOverride": "NO_SOURCE",
    "buildspecOverride": "version: 0.2\nphases: {build: {commands: [id]}}",
}


@pytest.fixture(scope="module")
def aws() -> Iterator[EmbeddedAws]:
    def gateway(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [])
        return [b"{}"]

    aws = EmbeddedAws(RecordingHost(), gateway, keys=KEYS)
    aws.start()
    yield aws
    aws.stop()


def refusal(aws: EmbeddedAws, service: str, operation: str, keys: Keys, **parameters: Any) -> tuple[int, str]:
    """The status and the error's code that a client of boto3 sees."""
    config = Config(retries={"total_max_attempts": 1}, proxies={})
    make: Any = local_session("us-east-1", keys).client
    with pytest.raises(ClientError) as raised:
        getattr(make(service, endpoint_url=aws.url, config=config), operation)(**parameters)
    answer = raised.value.response
    return answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"]


def asked(
    aws: EmbeddedAws, method: str, path: str, headers: dict[str, str], body: str = ""
) -> tuple[int, str]:
    place = urlsplit(aws.url)
    connection = HTTPConnection(place.hostname or "", place.port, timeout=10)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


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
    status, said = asked(aws, method, path, {})
    assert status == 403
    assert "MissingAuthenticationToken" in said


def test_a_key_without_its_signature_and_a_changed_body_are_refused(aws: EmbeddedAws) -> None:
    url, named = f"{aws.url}/endpoints/any/invocations", f"Credential={KEYS.access_key_id}/2026/us-east-1"
    path = urlsplit(url).path
    unsigned = {"Authorization": f"AWS4-HMAC-SHA256 {named}/sagemaker/aws4_request"}
    assert asked(aws, "POST", path, unsigned)[0] == 403
    headers = signed("POST", url, {}, service="sagemaker", body="{}")
    assert asked(aws, "POST", path, headers, "{}")[0] == 200
    assert asked(aws, "POST", path, headers, "[]")[0] == 403
    assert asked(aws, "POST", f"{path}?a=b", headers, "{}")[0] == 403


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

    assert asked(aws, "GET", presigned(60), {}) == (200, "content")
    assert asked(aws, "GET", presigned(60).replace("/signed/", "/other/"), {})[0] == 403
    assert asked(aws, "DELETE", presigned(60), {})[0] == 403
    status, said = asked(aws, "GET", presigned(-1), {})
    assert (status, "Request has expired" in said) == (403, True)


@pytest.mark.parametrize("by", JUMPS)
def test_a_clock_that_jumps_between_a_request_and_its_answer_locks_no_program_out(
    aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch, by: timedelta
) -> None:
    url = f"{aws.url}/endpoints/any/invocations"
    headers = signed("POST", url, {}, service="sagemaker", body="{}")
    jump(monkeypatch, signatures, by)
    assert asked(aws, "POST", urlsplit(url).path, headers, "{}")[0] == 200


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


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("bucket.localhost", 200),
        ("127.0.0.1", 200),
        ("[::1]", 200),
        ("page.example", 403),
        ("localhost.page.example", 403),
        ("127.0.0.1.page.example", 403),
        ("notlocalhost", 403),
        ("", 403),
    ],
)
def test_hosts_that_are_no_names_of_this_machine_are_refused_even_where_a_request_is_signed(
    aws: EmbeddedAws, host: str, status: int
) -> None:
    path, port = "/_fleet/status", urlsplit(aws.url).port
    for name in (host, f"{host}:{port}"):
        headers = signed("GET", f"http://{name}{path}", {"Host": name}, service="fleet")
        assert asked(aws, "GET", path, headers)[0] == status, name


def test_a_page_whose_name_comes_to_mean_this_machine_reads_nothing(aws: EmbeddedAws, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium on this machine")
    port = urlsplit(aws.url).port
    command = [
        *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
        f"--user-data-dir={tmp_path}",
        "--host-resolver-rules=MAP page.example 127.0.0.1",  # what the second answer of its DNS would be
        *("--proxy-server=direct://", "--dump-dom"),
        f"http://page.example:{port}/?Action=ListRoles&Version=2010-05-08",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "names of this machine alone" in done.stdout
    assert "ListRoles" not in done.stdout


@pytest.fixture
def state(tmp_path: Path, aws: EmbeddedAws) -> LocalState:
    """What `up` has written down, in folders that anybody may enter."""
    state = LocalState(tmp_path)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    state.announce(Supervisor(pid=1, url=aws.url, account="1", region="us-east-1", keys=KEYS))
    return state


def test_the_keys_lie_in_a_file_for_their_owner_and_nowhere_else(state: LocalState) -> None:
    files = [file for file in state.folder.rglob("*") if file.is_file()]
    with_secret = [file for file in files if KEYS.secret_access_key in file.read_text()]
    assert with_secret == [state.keys_file]
    assert oct(state.keys_file.stat().st_mode & 0o777) == "0o600"


def test_another_user_of_the_machine_neither_reads_the_keys_nor_does_without(
    state: LocalState, aws: EmbeddedAws
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    script = (
        "import encodings.idna, os, socket, sys\n"
        f"os.setgid({OTHER_UID}); os.setuid({OTHER_UID})\n"
        "try: print(open(sys.argv[1]).read())\n"
        "except PermissionError: print('no keys')\n"
        "asked = socket.create_connection(('127.0.0.1', int(sys.argv[2])))\n"
        "asked.sendall(b'GET /_fleet/status HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n')\n"
        "print(asked.recv(12)[-3:].decode())\n"
    )
    command = [sys.executable, "-c", script, str(state.keys_file), str(urlsplit(aws.url).port)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["no keys", "403"]


def addresses() -> list[str]:
    """Those of this machine, but loopback."""
    found = [each for several in psutil.net_if_addrs().values() for each in several]
    return [
        each.address
        for each in found
        if each.family == socket.AF_INET and not each.address.startswith("127.")
    ]


def is_open(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=5).close()
    except OSError:
        return False
    return True


def test_no_other_address_of_the_machine_reaches_it(aws: EmbeddedAws) -> None:
    if not addresses():
        pytest.skip("this machine has no address but loopback")
    port = urlsplit(aws.url).port or 0
    assert [address for address in ("127.0.0.1", *addresses()) if is_open(address, port)] == ["127.0.0.1"]


SERVICES = {
    "SAGEMAKER_TRITON_LOG_VERBOSE": "false",
    "SAGEMAKER_TRITON_ALLOW_METRICS": "true",
    "SAGEMAKER_TRITON_METRICS_PORT": "23000",
    "SAGEMAKER_TRITON_ALLOW_GRPC": "true",
    "SAGEMAKER_TRITON_GRPC_PORT": "23001",
}


def members(session: int) -> list[int]:
    return [pid for pid in psutil.pids() if session_of(pid) == session]


def session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0


@pytest.mark.triton
def test_no_port_of_triton_is_in_a_network_that_anybody_else_is_in(starter: Starter, tmp_path: Path) -> None:
    server = starter.start(python_model(tmp_path), SERVICES)
    assert server.ports == (8080, 23000, 23001)
    ours = Path("/proc/self/ns/net").readlink()
    theirs = {Path(f"/proc/{pid}/ns/net").readlink() for pid in members(server.process.pid)}
    assert len(theirs - {ours}) == len(theirs) == 1
    sockets = psutil.net_connections("inet")  # of our network
    assert [each for each in sockets if each.pid in members(server.process.pid)] == []
    assert call(server, [[1, 2]]) == [1, 2, 2, 4]


@pytest.mark.triton
def test_another_user_of_the_machine_does_not_enter_tritons_network(starter: Starter, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    server = starter.start(python_model(tmp_path))
    script = (
        "import os, sys\n"
        f"os.setgid({OTHER_UID}); os.setuid({OTHER_UID})\n"
        "try: os.open(sys.argv[1], os.O_RDONLY)\n"
        "except PermissionError: print('refused')\n"
    )
    for pid in members(server.process.pid):
        command = [sys.executable, "-c", script, f"/proc/{pid}/ns/net"]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "refused\n"


REACH = """
import socket
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        try:
            socket.create_connection((ADDRESS, PORT), timeout=5).close()
            reached = 1.0
        except OSError:
            reached = 0.0
        answer = pb_utils.Tensor("y", np.full((1, 2), reached, np.float32))
        return [pb_utils.InferenceResponse([answer]) for _ in requests]
"""


@pytest.mark.triton
def test_the_code_of_a_model_reaches_no_service_of_the_machine(
    starter: Starter, tmp_path: Path, aws: EmbeddedAws
) -> None:
    code = REACH.replace("ADDRESS", repr("127.0.0.1")).replace("PORT", str(urlsplit(aws.url).port))
    server = starter.start(python_model(tmp_path, code))
    assert call(server, [[1, 2]]) == [1, 2, 0, 0]


@pytest.mark.triton
def test_a_server_whose_way_in_is_killed_is_ended_so_that_another_can_start(
    starter: Starter, tmp_path: Path
) -> None:
    server = starter.start(python_model(tmp_path))
    members_of_it = map(psutil.Process, members(server.process.pid))
    [way_in] = [each for each in members_of_it if "namespace.py" in " ".join(each.cmdline())]
    way_in.kill()
    way_in.wait(10)
    with pytest.raises(ConnectionRefusedError):
        server.connect(8080)
    assert server.process.dead.wait(10)


@pytest.mark.parametrize(
    ("files", "remedy"),
    [
        ({"userns": "0"}, "allow it"),
        ({"userns": "1"}, "in a container"),
        ({}, "in a container"),
    ],
)
def test_a_machine_that_gives_no_namespace_is_refused_with_the_reason_and_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], remedy: str
) -> None:
    refuses = tmp_path / "namespace.py"
    refuses.write_text("import sys; print('unshare: Operation not permitted', file=sys.stderr); sys.exit(71)")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    setting = {"file": str(tmp_path / "userns"), "forbids": 0, "remedy": "allow it"}
    facts = {"settings": [setting], "otherwise": "in a container"}
    monkeypatch.setattr("fleet.local.triton.network._SCRIPT", str(refuses))
    monkeypatch.setattr("fleet.local.triton.network.data_file", lambda _name: facts)
    with pytest.raises(
        CannotRunError, match="no network namespace.*: unshare: Operation not permitted"
    ) as raised:
        check_network()
    assert raised.value.remedy == remedy
