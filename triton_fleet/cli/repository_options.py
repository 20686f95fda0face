"""Options that describe the endpoint for which a model repository is checked."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

import typer

from triton_fleet.catalog.instances import instance_types
from triton_fleet.check.repositories import RepositoryTarget
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.problems import did_you_mean

RELEASE = re.compile(r"[0-9]{2}\.(0[1-9]|1[0-2])")

ModeOf: TypeAlias = Annotated[
    Mode | None,
    typer.Option(
        "--mode",
        metavar="MODE",
        help=f"For repositories: {', '.join(Mode)}. Default: single.",
    ),
]
Release: TypeAlias = Annotated[
    str | None,
    typer.Option("--triton", metavar="REL", help="For repositories: the Triton release, such as 25.04."),
]
Instance: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--instance", metavar="INSTANCE", help="For repositories: the instance type, such as ml.g5.xlarge."
    ),
]
DefaultModel: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--default-model",
        metavar="NAME",
        help="For repositories: the model that a single endpoint serves by default.",
    ),
]


def asked_for(
    mode: Mode | None, release: str | None, instance: str | None, default_model: str | None
) -> RepositoryTarget:
    """The options as one target.

    Raises:
        typer.BadParameter: a release or type is unknown, or the options contradict each other.
    """
    if release is not None and not RELEASE.fullmatch(release):
        raise typer.BadParameter(
            f"{release!r} is not a Triton release; write one such as 25.04", param_hint="--triton"
        )
    if instance is not None and instance not in instance_types():
        hint = did_you_mean(instance, list(instance_types()))
        raise typer.BadParameter(
            f"{instance!r} is not a known instance type; {hint}", param_hint="--instance"
        )
    if mode not in (None, Mode.SINGLE) and default_model is not None:
        raise typer.BadParameter(f"mode {mode} loads no default model", param_hint="--default-model")
    return RepositoryTarget(
        mode=mode or Mode.SINGLE, release=release, instance=instance, default_model=default_model
    )
