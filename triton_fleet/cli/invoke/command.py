"""`fleet invoke`: invokes a deployed endpoint once, as an application would."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triton_fleet.awsapi.emulator import local_session
from triton_fleet.cli.arguments import Endpoint, Env
from triton_fleet.cli.aws_access import local_fleet, running_supervisor
from triton_fleet.cli.current_fleet import current_project
from triton_fleet.cli.invoke.refusals import Destination, instead, routes_of
from triton_fleet.cli.output import say
from triton_fleet.context.samples import CODE, oversize
from triton_fleet.findings import CannotRunError, Finding, FindingsError, Severity
from triton_fleet.local.state import log_name
from triton_fleet.printers.formats import Format, print_findings
from triton_fleet.printers.lines import print_bytes, print_error, print_json_text
from triton_fleet.project.project import Project
from triton_fleet.spec.environment import LOCAL

if TYPE_CHECKING:  # numpy and boto3 would slow down every command
    import boto3

    from fleet_client import InferenceError, Payload, TritonEndpoint
    from fleet_client.codec.datatypes import Array

JSON = "application/json"
NO_MODEL = 404
OTHER_TYPE = "data-type is"
"""Part of Triton's error for an input whose type is not the model's."""
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input", metavar="NAME[:TYPE]=VALUE", help="An input as JSON, @FILE.json or @FILE.npy; repeatable."
    ),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option("--output", metavar="NAME", help="An output to request; repeatable. Default: all."),
]
Sample = Annotated[str | None, typer.Option(metavar="NAME", help="Send a sample request of the spec.")]
Target = Annotated[
    str | None, typer.Option(metavar="TARGET_MODEL", help="The archive to invoke on a multi-model endpoint.")
]
Model = Annotated[
    str | None, typer.Option(metavar="ROUTE", help="The model to invoke in a shared container.")
]
Version = Annotated[
    int | None, typer.Option(metavar="N", min=0, help="With --model: its version. Default: the newest.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Send inputs as JSON. Default: binary+json.")]
Save = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write each output to FOLDER/NAME.npy.")]
Body = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A request body, sent unchanged. Default: stdin.")
]
ContentType = Annotated[
    str | None, typer.Option(metavar="TYPE", help=f"Content-Type of the body. Default: {JSON}.")
]


def invoke(
    endpoint: Endpoint,
    env: Env = LOCAL,
    inputs: Inputs = None,
    sample: Sample = None,
    outputs: Outputs = None,
    target: Target = None,
    model: Model = None,
    version: Version = None,
    json: AsJson = False,
    save: Save = None,
    body: Body = None,
    content_type: ContentType = None,
) -> None:
    """Invoke an endpoint and print its answer.

    Exit code 1: the endpoint answered with an error.
    """
    of_inputs = {"--output": bool(outputs), "--json": json, "--save": save is not None}
    of_body = {"--body": body is not None, "--content-type": content_type is not None}
    route = Destination(target=target, model=model, version=version)
    of_sample = {"--input": bool(inputs), **route.options, **of_body}
    if sample is not None:
        _check_exclusive(of_sample, "cannot be combined with --sample")
    elif inputs:
        _check_exclusive(of_body, "cannot be combined with --input")
    else:
        _check_exclusive(of_inputs, "needs --input or --sample")
    project = current_project(env, endpoint)
    root, region = project.root, project.environment.region
    arrays: Mapping[str, Array] | None = None
    if sample is not None:
        from triton_fleet.cli.invoke.inputs import read_sample

        arrays, route = read_sample(project.load(endpoint).spec, sample)
    elif inputs:
        from triton_fleet.cli.invoke.inputs import read_inputs

        arrays = read_inputs(inputs)
    payload = _raw(body, content_type) if arrays is None else _encode(arrays, outputs or [], json)
    _check_size(payload, root)
    client, is_local = _connect(root, env, region, endpoint)
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)  # fail before the inference, not after it
    answer = _send(client, payload, route, project, is_local=is_local)
    if arrays is not None:
        _show(answer, save)
    else:
        print_bytes(answer.body)


def _check_exclusive(options: Mapping[str, bool], problem: str) -> None:
    strays = [option for option, is_given in options.items() if is_given]
    if strays:
        hint = "pass one of --body, --input and --sample"
        raise FindingsError(
            [Finding(code="FL708", message=f"{stray} {problem}", hint=hint) for stray in strays]
        )


def _raw(body: Path | None, content_type: str | None) -> Payload:
    from fleet_client import Payload

    if body is None and sys.stdin.isatty():
        raise CannotRunError(
            "no request was given",
            "pass --input, --sample or --body, or pipe the body to stdin",
        )
    content = sys.stdin.buffer.read() if body is None else body.read_bytes()
    if not content:
        hint = "pass --input or --sample, or pipe a body to stdin" if body is None else ""
        raise FindingsError(
            [Finding(code="FL702", message="the request body is empty", file=body, hint=hint)]
        )
    return Payload(content, JSON if content_type is None else content_type)


def _encode(arrays: Mapping[str, Array], outputs: list[str], json: bool) -> Payload:
    from fleet_client import PayloadError, encode

    try:
        return encode(arrays, outputs=outputs, binary=not json)
    except PayloadError as error:
        hint = "leave out --json to send binary+json" if json else ""
        raise FindingsError([Finding(code="FL709", message=str(error), hint=hint)]) from error


def _check_size(payload: Payload, root: Path) -> None:
    if (excess := oversize("the request", len(payload.body))) is None:
        return
    finding = Finding(code=CODE, message=excess.message, hint=excess.hint)
    if excess.certain:
        raise FindingsError([finding])
    print_findings([replace(finding, severity=Severity.WARNING)], Format.HUMAN, root)


def _connect(root: Path, env: str, region: str, endpoint: str) -> tuple[TritonEndpoint, bool]:
    """The endpoint, and whether the local fleet serves it."""
    import boto3
    from botocore.exceptions import BotoCoreError

    from fleet_client import CLIENT_CONFIG, TritonEndpoint

    try:
        session, url = (boto3.Session(region_name=region), None) if env != LOCAL else _local(root, region)
        client = session.client("sagemaker-runtime", endpoint_url=url, config=CLIENT_CONFIG)
    except (BotoCoreError, ValueError) as error:  # botocore raises ValueError for an invalid URL
        raise _unreachable(endpoint, error) from error
    if env != LOCAL and ".amazonaws.com" not in client.meta.endpoint_url:
        print_error(f"calling {client.meta.endpoint_url}, set by AWS_ENDPOINT_URL or a profile")
    return TritonEndpoint(endpoint, client=client, pause=_pause), local_fleet(root, client) is not None


def _local(root: Path, region: str) -> tuple[boto3.Session, str]:
    supervisor = running_supervisor(root)
    return local_session(region, supervisor.keys), supervisor.url


def _send(
    endpoint: TritonEndpoint, payload: Payload, route: Destination, project: Project, *, is_local: bool
) -> Payload:
    from botocore.exceptions import BotoCoreError

    from fleet_client import InferenceError, PayloadError

    try:
        return endpoint.invoke(payload, target=route.target, model=route.model, version=route.version)
    except PayloadError as error:
        raise FindingsError([Finding(code="FL709", message=str(error))]) from error
    except InferenceError as error:
        if error.code == "ModelError":
            raise FindingsError([_refusal(endpoint.name, project, error, is_local=is_local)]) from error
        hint = instead(project, endpoint.name, route.target, error.message)
        message = f"{error.code}: {error.message}"
        raise FindingsError([Finding(code="FL701", message=message, hint=hint)]) from error
    except BotoCoreError as error:
        raise _unreachable(endpoint.name, error) from error


def _show(answer: Payload, save: Path | None) -> None:
    from fleet_client import AnswerError, decode
    from triton_fleet.cli.invoke.outputs import as_json, save_outputs

    try:
        outputs = decode(answer.body, answer.content_type)
    except AnswerError as error:
        raise FindingsError([Finding(code="FL710", message=str(error))]) from error
    if save is None:
        print_json_text(as_json(outputs))
    else:
        for line in save_outputs(outputs, save):
            say(line)


def _refusal(endpoint: str, project: Project, error: InferenceError, *, is_local: bool) -> Finding:
    env = project.environment.environment
    log_command = f"`fleet local logs {log_name(env, endpoint)}`"
    log = log_command if env == LOCAL else f"{error.log}, here {log_command}" if is_local else error.log
    message = f"{endpoint} answered {error.status}: {error.message}"
    hints = [f"its log is {log}"] if log else []
    if error.status == NO_MODEL and (routes := routes_of(project, endpoint)):
        hints.insert(0, f"its routes are {', '.join(routes)}")
    if OTHER_TYPE in error.message:
        hints.insert(0, "write NAME:TYPE=VALUE, such as x:FP32=[[1, 2]]")
    return Finding(code="FL701", message=message, hint="; ".join(hints))


def _unreachable(endpoint: str, error: Exception) -> CannotRunError:
    remedy = "set credentials for the account, as for the AWS CLI"
    return CannotRunError(f"{endpoint} could not be reached: {error}", remedy)


def _pause(seconds: float) -> None:
    print_error(f"no answer yet; trying again in {seconds:.1f} s")
    time.sleep(seconds)
