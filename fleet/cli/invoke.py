"""`fleet invoke`: one invocation of a deployed endpoint, as an application would send it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import boto3
import typer
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from fleet.cli.arguments import Env
from fleet.findings import CannotRunError, Finding, FindingsError
from fleet.local.access import ENVIRONMENT, local_session
from fleet.local.state import LocalState
from fleet.project_root import project_root
from fleet.spec.project import open_project

SECONDS_TO_ANSWER = 70
"""Longer than SageMaker's own 60 s, so that its answer is seen."""


def invoke(
    endpoint: Annotated[str, typer.Argument(help="The endpoint's name.")],
    env: Env,
    body: Annotated[Path, typer.Option(help="File of the request body; `-` reads standard input.")] = Path(
        "-"
    ),
    content_type: Annotated[str, typer.Option(help="Content-Type of the body.")] = "application/json",
) -> None:
    """Invoke an endpoint and print its answer; errors of the endpoint exit with 1."""
    root = project_root(Path.cwd())
    project = open_project(root, env, [endpoint])
    payload = sys.stdin.buffer.read() if body == Path("-") else _read(body)
    config = Config(read_timeout=SECONDS_TO_ANSWER, retries={"total_max_attempts": 1})
    try:
        session, url = _access(root, env, project.environment.region)
        runtime = session.client("sagemaker-runtime", endpoint_url=url, config=config)
        answer = runtime.invoke_endpoint(EndpointName=endpoint, ContentType=content_type, Body=payload)
    except ClientError as error:
        raise FindingsError([Finding(code="FL701", message=str(error))]) from error
    except BotoCoreError as error:
        raise CannotRunError(f"{endpoint} could not be reached: {error}") from error
    sys.stdout.buffer.write(answer["Body"].read())
    sys.stdout.buffer.write(b"\n")


def _read(body: Path) -> bytes:
    try:
        return body.read_bytes()
    except OSError as error:
        raise CannotRunError(f"the body cannot be read: {error}") from error


def _access(root: Path, env: str, region: str) -> tuple[boto3.Session, str | None]:
    if env != ENVIRONMENT:
        return boto3.Session(region_name=region), None
    supervisor = LocalState(root).supervisor()
    if supervisor is None:
        raise CannotRunError("nothing runs on this machine", "run `fleet local up` first")
    return local_session(region), supervisor.url
