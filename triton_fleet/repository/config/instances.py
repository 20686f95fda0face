"""Instance groups: on what a model runs, and how often.

Source: triton-inference-server/core, r26.06, src/model_config_utils.cc, NormalizeInstanceGroup,
ValidateInstanceGroup and GetProfileIndex.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from triton_fleet.catalog.instances import most_gpus
from triton_fleet.findings import Finding
from triton_fleet.repository.config.backend import TENSORRT_PLAN, backend_of, is_ensemble, platform_of
from triton_fleet.repository.config.message import ParsedConfig

CODE = "FL425"
NUMBER = re.compile(r"\s*[+-]?\d+")


def instances(config: ParsedConfig) -> Iterator[Finding]:
    """Findings in the instance groups on every machine; ensembles have none."""
    if is_ensemble(config):
        return
    for index, group in enumerate(config.message.instance_group):
        name = group.name or f"{config.name}_{index}"
        subject = f"instance group {name} of model {config.name}"
        yield from _gpus(config, index, group, subject)
        yield from _profiles(config, index, group, subject)


def _gpus(config: ParsedConfig, index: int, group: Any, subject: str) -> Iterator[Finding]:
    kind, place = config.enum(group, "kind"), ("instance_group", index, "gpus")
    if kind in ("KIND_CPU", "KIND_MODEL") and group.gpus:
        message = f"{subject} has kind {kind} but specifies one or more GPUs"
        yield config.finding(CODE, message, *place, hint="leave out `gpus`, or write `kind: KIND_GPU`")
        return
    for number, gpu in enumerate(group.gpus):
        if not 0 <= gpu < most_gpus():
            message = (
                f"{subject} specifies invalid or unsupported gpu id {gpu}. GPUs with at least the minimum"
                " required CUDA compute compatibility are counted from 0; no instance has more than"
                f" {most_gpus()}"
            )
            if kind != "KIND_GPU":
                message = f"{subject} has kind KIND_CPU but specifies one or more GPUs: there is no GPU {gpu}"
            yield config.finding(
                CODE, message, *place, number, hint="leave out `gpus` for one instance on each GPU"
            )


def _profiles(config: ParsedConfig, index: int, group: Any, subject: str) -> Iterator[Finding]:
    place, platform = ("instance_group", index, "profile"), platform_of(config)
    if not backend_of(config) and not config.directory:
        return
    if group.profile and platform != TENSORRT_PLAN:
        message = (
            f"{subject} and platform {platform}specifies profile field which is only supported for"
            " TensorRT models"
        )
        yield config.finding(CODE, message, *place, hint="leave out `profile`")
        return
    for number, profile in enumerate(group.profile):
        if not profile:
            message = "profile name must not be empty"
        elif not NUMBER.match(profile):
            message = f"unable to parse '{profile}': stoi"
        elif profile.lstrip().startswith("-") and int(NUMBER.match(profile)[0]):  # type: ignore[index]
            message = (
                f"{subject} and platform {platform} specifies invalid profile {profile}. The field should"
                " contain the string representation of a non-negative integer."
            )
        else:
            continue
        yield config.finding(CODE, message, *place, number, hint='write the number of the profile, `"0"`')
