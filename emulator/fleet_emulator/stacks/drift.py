"""Drift of stacks: what CloudFormation reads of each resource, compared with what its template declares.

Source: CloudFormation API reference, DetectStackDrift, DescribeStackDriftDetectionStatus, StackResourceDrift
and PropertyDifference; guide, using-cfn-stack-drift: only properties that the template has are compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from moto.awslambda.models import lambda_backends
from moto.events.models import events_backends
from moto.logs.models import logs_backends
from moto.s3.models import s3_backends
from moto.sns.models import sns_backends
from moto.utilities.utils import get_partition

from fleet_emulator.types.resource import Declaration, DeployedResource

Properties = dict[str, Any]
Reader = Callable[[Declaration, str], Properties | None]
"""What a type's reading answers for a physical id; None for a resource that does not exist."""
_NOT_CHECKED = "NOT_CHECKED"


@dataclass(frozen=True, kw_only=True)
class Detection:
    """One detection: in progress when it is first asked about, and then complete."""

    stack_id: str
    id: str = field(default_factory=lambda: str(uuid4()))
    drifts: tuple[Properties, ...]
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def status(self, *, ended: bool) -> Properties:
        """What DescribeStackDriftDetectionStatus answers."""
        common = {
            "StackId": self.stack_id,
            "StackDriftDetectionId": self.id,
            "DetectionStatus": "DETECTION_COMPLETE" if ended else "DETECTION_IN_PROGRESS",
            "Timestamp": self.at,
        }
        count = sum(drift["StackResourceDriftStatus"] in ("MODIFIED", "DELETED") for drift in self.drifts)
        result = {"StackDriftStatus": "DRIFTED" if count else "IN_SYNC", "DriftedStackResourceCount": count}
        return {**common, **(result if ended else {})}


def drift_of(deployed: DeployedResource, stack_id: str) -> Properties:
    """A StackResourceDrift of what is deployed."""
    declared, id = deployed.declared, deployed.physical_resource_id
    reader = _READERS.get(declared.type)
    common = {
        "StackId": stack_id,
        "LogicalResourceId": declared.logical_id,
        "PhysicalResourceId": id,
        "ResourceType": declared.type,
        "Timestamp": datetime.now(UTC),
    }
    if reader is None:
        return {**common, "StackResourceDriftStatus": _NOT_CHECKED}
    actual = reader(declared, id)
    if actual is None:
        return {**common, "StackResourceDriftStatus": "DELETED"}
    expected = {name: declared.properties[name] for name in declared.properties if name in actual}
    found = {name: actual[name] for name in expected}
    differing = list(_differences(expected, found))
    return {
        **common,
        "StackResourceDriftStatus": "MODIFIED" if differing else "IN_SYNC",
        "ExpectedProperties": json.dumps(expected),
        "ActualProperties": json.dumps(found),
        "PropertyDifferences": differing,
    }


def _differences(expected: Any, actual: Any, path: str = "") -> Iterator[Properties]:
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for name in [*expected, *(each for each in actual if each not in expected)]:
            yield from _differences(expected.get(name), actual.get(name), f"{path}/{name}")
    elif str(expected) != str(actual):
        kind = "ADD" if expected is None else "REMOVE" if actual is None else "NOT_EQUAL"
        values = {"ExpectedValue": _text(expected), "ActualValue": _text(actual)}
        yield {"PropertyPath": path, **values, "DifferenceType": kind}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _bucket(declared: Declaration, id: str) -> Properties | None:
    bucket = s3_backends[declared.account_id][get_partition(declared.region)].buckets.get(id)
    if bucket is None:
        return None
    block = bucket.public_access_block
    blocked = {} if block is None else block.to_config_dict()
    return {
        "PublicAccessBlockConfiguration": {
            f"{name[0].upper()}{name[1:]}": on for name, on in blocked.items()
        },
        "VersioningConfiguration": {"Status": bucket.versioning_status} if bucket.versioning_status else {},
    }


def _topic(declared: Declaration, id: str) -> Properties | None:
    topic = sns_backends[declared.account_id][declared.region].topics.get(id)
    if topic is None:
        return None
    return {"DisplayName": topic.display_name, "KmsMasterKeyId": topic.kms_master_key_id}


def _function(declared: Declaration, id: str) -> Properties | None:
    functions = lambda_backends[declared.account_id][declared.region].list_functions()
    found = next((function for function in functions if function.function_name == id), None)
    if found is None:
        return None
    return {
        "Environment": {"Variables": found.environment_vars},
        "Handler": found.handler,
        "MemorySize": found.memory_size,
        "Role": found.role,
        "Runtime": found.run_time,
        "Timeout": found.timeout,
    }


def _log_group(declared: Declaration, id: str) -> Properties | None:
    group = logs_backends[declared.account_id][declared.region].groups.get(id)
    return (
        None if group is None else {"RetentionInDays": group.retention_in_days, "KmsKeyId": group.kms_key_id}
    )


def _rule(declared: Declaration, id: str) -> Properties | None:
    bus = events_backends[declared.account_id][declared.region].event_buses["default"]
    rule = bus.rules.get(id.rpartition("/")[2])
    return None if rule is None else {"State": rule.state, "Description": rule.description}


_READERS: Mapping[str, Reader] = {
    "AWS::Events::Rule": _rule,
    "AWS::Lambda::Function": _function,
    "AWS::Logs::LogGroup": _log_group,
    "AWS::S3::Bucket": _bucket,
    "AWS::SNS::Topic": _topic,
}
"""The types that are read, each with the properties that are compared here; others are NOT_CHECKED."""
