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
"""The properties of the resource with a physical id; None for a resource that does not exist."""
_NOT_CHECKED_STATUS = "NOT_CHECKED"


@dataclass(frozen=True, kw_only=True)
class Detection:
    """One detection: in progress when it is first asked about, and then complete."""

    stack_id: str
    id: str = field(default_factory=lambda: str(uuid4()))
    drifts: tuple[Properties, ...]
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def status(self, *, is_over: bool) -> Properties:
        """The answer of DescribeStackDriftDetectionStatus."""
        common = {
            "StackId": self.stack_id,
            "StackDriftDetectionId": self.id,
            "DetectionStatus": "DETECTION_COMPLETE" if is_over else "DETECTION_IN_PROGRESS",
            "Timestamp": self.at,
        }
        count = sum(drift["StackResourceDriftStatus"] in ("MODIFIED", "DELETED") for drift in self.drifts)
        result = {"StackDriftStatus": "DRIFTED" if count else "IN_SYNC", "DriftedStackResourceCount": count}
        return {**common, **(result if is_over else {})}


def drift_of(deployed_resource: DeployedResource, stack_id: str) -> Properties:
    """A StackResourceDrift of what is deployed."""
    declaration, id = deployed_resource.declaration, deployed_resource.physical_resource_id
    reader = _READERS.get(declaration.type)
    common = {
        "StackId": stack_id,
        "LogicalResourceId": declaration.logical_id,
        "PhysicalResourceId": id,
        "ResourceType": declaration.type,
        "Timestamp": datetime.now(UTC),
    }
    if reader is None:
        return {**common, "StackResourceDriftStatus": _NOT_CHECKED_STATUS}
    actual = reader(declaration, id)
    if actual is None:
        return {**common, "StackResourceDriftStatus": "DELETED"}
    expected_properties = {
        name: declaration.properties[name] for name in declaration.properties if name in actual
    }
    actual_properties = {name: actual[name] for name in expected_properties}
    differences = list(_differences(expected_properties, actual_properties))
    return {
        **common,
        "StackResourceDriftStatus": "MODIFIED" if differences else "IN_SYNC",
        "ExpectedProperties": json.dumps(expected_properties),
        "ActualProperties": json.dumps(actual_properties),
        "PropertyDifferences": differences,
    }


def _differences(declared_value: Any, actual: Any, path: str = "") -> Iterator[Properties]:
    if isinstance(declared_value, Mapping) and isinstance(actual, Mapping):
        for name in [*declared_value, *(key for key in actual if key not in declared_value)]:
            yield from _differences(declared_value.get(name), actual.get(name), f"{path}/{name}")
    elif str(declared_value) != str(actual):
        kind = "ADD" if declared_value is None else "REMOVE" if actual is None else "NOT_EQUAL"
        values = {"ExpectedValue": _text(declared_value), "ActualValue": _text(actual)}
        yield {"PropertyPath": path, **values, "DifferenceType": kind}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _bucket(declaration: Declaration, id: str) -> Properties | None:
    bucket = s3_backends[declaration.account_id][get_partition(declaration.region)].buckets.get(id)
    if bucket is None:
        return None
    block = bucket.public_access_block
    block_settings = {} if block is None else block.to_config_dict()
    return {
        "PublicAccessBlockConfiguration": {
            f"{name[0].upper()}{name[1:]}": on for name, on in block_settings.items()
        },
        "VersioningConfiguration": {"Status": bucket.versioning_status} if bucket.versioning_status else {},
    }


def _topic(declaration: Declaration, id: str) -> Properties | None:
    topic = sns_backends[declaration.account_id][declaration.region].topics.get(id)
    if topic is None:
        return None
    return {"DisplayName": topic.display_name, "KmsMasterKeyId": topic.kms_master_key_id}


def _function(declaration: Declaration, id: str) -> Properties | None:
    functions = lambda_backends[declaration.account_id][declaration.region].list_functions()
    match = next((function for function in functions if function.function_name == id), None)
    if match is None:
        return None
    return {
        "Environment": {"Variables": match.environment_vars},
        "Handler": match.handler,
        "MemorySize": match.memory_size,
        "Role": match.role,
        "Runtime": match.run_time,
        "Timeout": match.timeout,
    }


def _log_group(declaration: Declaration, id: str) -> Properties | None:
    group = logs_backends[declaration.account_id][declaration.region].groups.get(id)
    return (
        None if group is None else {"RetentionInDays": group.retention_in_days, "KmsKeyId": group.kms_key_id}
    )


def _rule(declaration: Declaration, id: str) -> Properties | None:
    bus = events_backends[declaration.account_id][declaration.region].event_buses["default"]
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
