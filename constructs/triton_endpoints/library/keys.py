"""Props as the keys of a spec in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TypeAlias

from aws_cdk import Duration
from aws_cdk import aws_logs as logs

from triton_endpoints.library.props import (
    UNSET,
    Alarms,
    Capture,
    Container,
    Input,
    Instance,
    Logs,
    Metrics,
    Output,
    Rollout,
    Sample,
    Scaling,
    Timeouts,
)
from triton_endpoints.library.values import is_token

Props: TypeAlias = (
    Alarms
    | Capture
    | Container
    | Input
    | Instance
    | Logs
    | Metrics
    | Output
    | Rollout
    | Sample
    | Scaling
    | Timeouts
)
_RETENTION_DAYS: Mapping[str, int] = {
    "ONE_DAY": 1,
    "THREE_DAYS": 3,
    "FIVE_DAYS": 5,
    "ONE_WEEK": 7,
    "TWO_WEEKS": 14,
    "ONE_MONTH": 30,
    "TWO_MONTHS": 60,
    "THREE_MONTHS": 90,
    "FOUR_MONTHS": 120,
    "FIVE_MONTHS": 150,
    "SIX_MONTHS": 180,
    "ONE_YEAR": 365,
    "THIRTEEN_MONTHS": 400,
    "EIGHTEEN_MONTHS": 545,
    "TWO_YEARS": 731,
    "THREE_YEARS": 1096,
    "FIVE_YEARS": 1827,
    "SIX_YEARS": 2192,
    "SEVEN_YEARS": 2557,
    "EIGHT_YEARS": 2922,
    "NINE_YEARS": 3288,
    "TEN_YEARS": 3653,
}
"""Source: aws-cdk-lib, aws_logs.RetentionDays."""
_ARNS = ("key_arn", "managed_policy_arn", "function_arn", "queue_arn", "role_arn")
"""Of constructs that stand where a file has an ARN."""


def spec_keys(props: Props) -> dict[str, object]:
    """Props as the keys of a spec; those that are left out have the spec's defaults."""
    keys = {
        field.name: yaml_value(value)
        for field in fields(props)
        if (value := getattr(props, field.name)) is not field.default and value is not UNSET
    }
    if isinstance(props, Scaling):
        del keys["targets"]
        return {**keys, **props.targets}
    if isinstance(props, Capture) and isinstance(props.sample, int | float) and not is_token(props.sample):
        return {**keys, "sample": f"{props.sample}%"}
    return keys


def yaml_value(value: object) -> object:
    """A value as YAML has it: props as keys, durations with their unit, sequences as lists."""
    for attribute in _ARNS:
        if not isinstance(value, str | int | float | Mapping) and hasattr(value, attribute):
            return getattr(value, attribute)
    if isinstance(value, Props):
        return spec_keys(value)
    match value:
        case logs.RetentionDays():
            return _RETENTION_DAYS.get(value.name, value.name)
        case Duration():
            if value.is_unresolved():
                return value.format_token_to_number()
            milliseconds = int(value.to_milliseconds())
            return f"{milliseconds // 1000}s" if milliseconds % 1000 == 0 else f"{milliseconds}ms"
        case Mapping():
            return {str(key): yaml_value(inner) for key, inner in value.items()}
        case list() | tuple():
            return [yaml_value(inner) for inner in value]
    return value
