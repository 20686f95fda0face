"""`fleet invoke`: one invocation of a deployed endpoint, as an application would send it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import boto3
import typer
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from fleet.cli.arguments import Env
from fleet.findings import CannotRunError, Finding, FindingsError
from fleet.local.access import local_session
from fleet.local.state import LocalState
from fleet.project_root import project_root
from fleet.spec.environment import LOCAL
from fleet.spec.project import open_project

SECONDS_TO_ANSWER = 70
"""Longer than SageMaker's own 60 s, so that its answer is seen."""


def invoke(
    endpoint: Annotated[str, typer.Argument(help="The endpoint's name.")],
    env: Env,
    body: Annotated[Path | None, typer.Option(help="Request body; else standard input.")] = None,
    content_type: Annotated[str, typer.Option(help="Content-Type of the body.")] = "application/json",
) -> None:
    """Invoke an endpoint and print its answer; errors of the endpoint exit with 1."""
    root = project_root(Path.cwd())
    project = open_project(root, env, [endpoint])
    payload = _payload(body)
    config = Config(read_timeout=SECONDS_TO_ANSWER, retries={"total_max_attempts": 1})
    try:
        session, url = _access(root, env, project.environment.region)
        runtime = session.client("sagemaker-runtime", endpoint_url=url, config=config)
        answer = runtime.invoke_endpoint(EndpointName=endpoint, ContentType=content_type, Body=payload)
    except ClientError as error:
        raise FindingsError([_refusal(endpoint, env, error)]) from error
    except BotoCoreError as error:
        remedy = "see that the account's credentials are set, as for the AWS CLI"
        raise CannotRunError(f"{endpoint} could not be reached: {error}", remedy) from error
    sys.stdout.buffer.write(answer["Body"].read())
    if sys.stdout.isatty():
        sys.stdout.buffer.write(b"\n")


def _payload(body: Path | None) -> bytes:
    if body is None and sys.stdin.isatty():
        raise CannotRunError("there is no request body", "name a file with --body, or pipe it in")
    payload = sys.stdin.buffer.read() if body is None else body.read_bytes()
    if not payload:
        raise FindingsError([Finding(code="FL702", message="the request body is empty", file=body)])
    return payload


def _refusal(endpoint: str, env: str, error: ClientError) -> Finding:
    said: Mapping[str, Any] = error.response
    if "OriginalMessage" not in said:
        return Finding(code="FL701", message=f"{said['Error']['Code']}: {said['Error']['Message']}")
    message = f"{endpoint} answered {said['OriginalStatusCode']}: {said['OriginalMessage']}"
    log = f"`fleet local logs {endpoint}`" if env == LOCAL else said["LogStreamArn"]
    return Finding(code="FL701", message=message, hint=f"its log is {log}")


def _access(root: Path, env: str, region: str) -> tuple[boto3.Session, str | None]:
    if env != LOCAL:
        return boto3.Session(region_name=region), None
    supervisor = LocalState(root).supervisor()
    if supervisor is None:
        raise CannotRunError("nothing runs on this machine", "run `fleet local up` first")
    return local_session(region), supervisor.url
