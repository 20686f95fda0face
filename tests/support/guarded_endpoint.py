"""An endpoint with scaling in the embedded AWS, and the scaling guard as CloudFormation calls it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple, Self

from botocore.exceptions import ClientError

from fleet_emulator.server import EmbeddedAws
from scaling_guard.handler import handler, is_complete
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import DATA, ROLE, TOPIC, Stacks, absent_model
from triton_endpoints.scaling_guard import SECONDS_TO_WAIT

BUCKET = "artifacts"
OLD, NEW = "ml.g5.xlarge", "ml.g6.xlarge"
"""Configurations by their instance types."""
OTHER_CONFIG = f"{OLD}/other"
"""Another configuration with the old instance type."""
CHANGES = {
    "PutObject",
    "DeleteObject",
    "DeregisterScalableTarget",
    "RegisterScalableTarget",
    "DeleteScalingPolicy",
    "PutScalingPolicy",
    "PutScheduledAction",
}
COUNT = {"ServiceNamespace": "sagemaker", "ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
SUSPENDED_STATE = {
    "DynamicScalingInSuspended": True,
    "DynamicScalingOutSuspended": False,
    "ScheduledScalingSuspended": False,
}
TAGS = {"team": "search"}
_READ_ONLY_KEYS = {"ScalableTargetARN", "PolicyARN", "ScheduledActionARN", "CreationTime", "Alarms"}

Clients = Callable[[str], Any]


class StackIds(NamedTuple):
    """Of a stack that goes forward, and of one that has been rolled back."""

    calm: str
    rolling_back: str

    @classmethod
    def of(cls, aws: EmbeddedAws) -> Self:
        """Those of two new stacks."""
        stacks = Stacks(aws)
        for name in ("calm", "rolling-back"):
            stacks.create(name, {"Topic": TOPIC})
        stacks.update("rolling-back", {"Topic": TOPIC, "Absent": absent_model()})
        described_stacks = stacks.api.describe_stacks()["Stacks"]
        ids = {stack["StackName"]: stack["StackId"] for stack in described_stacks}
        return cls(ids["calm"], ids["rolling-back"])


class FunctionDeath(BaseException):
    """The function is no more: nothing of its own code runs after this."""


class Account:
    """The embedded AWS's clients, plain ones and such as do what a test wants."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self._client = partial(client, aws)
        self.plain = cache(self._client)
        self.plain("s3").create_bucket(Bucket=BUCKET)
        self.plain("sagemaker").create_model(
            ModelName="any",
            ExecutionRoleArn=ROLE,
            PrimaryContainer={"Image": "triton:25.04", "ModelDataUrl": DATA},
        )

    def clients(
        self, *, before: Callable[..., None] | None = None, after: Callable[..., None] | None = None
    ) -> Clients:
        """A factory like boto3.client: `before` sees each call's name and body, `after` its name and answer."""

        def make(service: str) -> Any:
            answer = self._client(service)
            if before:
                answer.meta.events.register(
                    "before-call", lambda model, params, **_: before(model.name, str(params["body"]))
                )
            if after:
                answer.meta.events.register(
                    "after-call", lambda model, parsed, **_: after(model.name, parsed)
                )
            return answer

        return cache(make)

    def clients_that_die(self, changes: int) -> Clients:
        """Clients of a function that dies after so many changes; after none, at its first call."""
        remaining_calls = changes

        def before(_: str, __: str) -> None:
            if changes == 0:
                raise FunctionDeath

        def after(operation: str, _: object) -> None:
            nonlocal remaining_calls
            remaining_calls -= operation in CHANGES
            if remaining_calls == 0:
                raise FunctionDeath

        return self.clients(before=before, after=after)

    def clients_that_refuse(
        self, operation: str, code: str, *, message: str = "", part: str = "", times: int = 1_000_000
    ) -> Clients:
        """Clients of which the first so many calls of one operation, with some words in it, are refused."""
        remaining_calls = times

        def before(name: str, body: str) -> None:
            nonlocal remaining_calls
            if name == operation and part in body and remaining_calls:
                remaining_calls -= 1
                raise ClientError({"Error": {"Code": code, "Message": message}}, operation)

        return self.clients(before=before)


def raise_error() -> None:
    raise AssertionError("the guard waits")


class GuardedEndpoint:
    """An endpoint `name` with one variant, and what the guard of its stack does.

    `own` are the names of the stack's policies, by configuration. `meanwhile` is called while the guard waits.
    """

    def __init__(self, account: Account, name: str, *, stack_id: str) -> None:
        self.own: dict[str, list[str]] = {}
        self.meanwhile: Callable[[], None] = raise_error
        self.account, self.name, self.stack_id, self.variant = account, name, stack_id, "AllTraffic"
        self.target = {**COUNT, "ResourceId": f"endpoint/{name}/variant/{self.variant}"}
        self.sagemaker, self.scaling, self.s3 = map(
            account.plain, ("sagemaker", "application-autoscaling", "s3")
        )

    def serve(self, instance_type: str) -> None:
        self.sagemaker.create_endpoint(EndpointName=self.name, EndpointConfigName=self.config(instance_type))

    def move(self, instance_type: str) -> None:
        self.sagemaker.update_endpoint(EndpointName=self.name, EndpointConfigName=self.config(instance_type))

    def scale(self) -> None:
        """Register the variant with a bit of everything."""
        self.scaling.register_scalable_target(
            **self.target, MinCapacity=2, MaxCapacity=7, SuspendedState=SUSPENDED_STATE, Tags=TAGS
        )
        self.put_policy("Load", 600)
        self.put_policy("Gpu", 60)
        self.put_action(
            "night", "cron(0 22 * * ? *)", StartTime="2199-01-01T00:00:00Z", Timezone="Europe/Berlin"
        )
        self.put_action("launch", "at(2199-12-24T18:00:00)")

    def put_policy(self, name: str, value: float) -> None:
        metric = {"Namespace": "Tests", "MetricName": name.partition("-")[0], "Statistic": "Average"}
        if name.startswith("one-more"):
            metric["MetricName"] = name
        tracking_values = {
            "TargetValue": value,
            "CustomizedMetricSpecification": metric,
            "ScaleInCooldown": 0,
        }
        self.scaling.put_scaling_policy(
            **self.target,
            PolicyName=name,
            PolicyType="TargetTrackingScaling",
            TargetTrackingScalingPolicyConfiguration=tracking_values,
        )

    def put_action(self, name: str, schedule: str, **more: Any) -> None:
        action = {"MinCapacity": 1, "MaxCapacity": 3}
        self.scaling.put_scheduled_action(
            **self.target, ScheduledActionName=name, Schedule=schedule, ScalableTargetAction=action, **more
        )

    def registered_target(self) -> dict[str, Any]:
        """The whole scaling as AWS describes it, without what AWS gives it anew."""
        result = {
            "ScalableTargets": self.scaling.describe_scalable_targets(
                **COUNT, ResourceIds=[self.target["ResourceId"]]
            ),
            "ScalingPolicies": self.scaling.describe_scaling_policies(**self.target),
            "ScheduledActions": self.scaling.describe_scheduled_actions(**self.target),
        }
        return {
            kind: sorted(
                ({k: v for k, v in entry.items() if k not in _READ_ONLY_KEYS} for entry in answer[kind]),
                key=str,
            )
            for kind, answer in result.items()
        } | {
            "Tags": [
                self.tags(scalable_target["ScalableTargetARN"])
                for scalable_target in result["ScalableTargets"]["ScalableTargets"]
            ]
        }

    def tags(self, arn: str) -> dict[str, str]:
        return dict(self.scaling.list_tags_for_resource(ResourceARN=arn)["Tags"])

    def suspension_by_kind(self) -> dict[str, bool]:
        [target] = self.registered_target()["ScalableTargets"]
        return dict(target["SuspendedState"])

    def arns(self) -> dict[str, str]:
        """The ARN of each policy, by its name."""
        policies = self.scaling.describe_scaling_policies(**self.target)["ScalingPolicies"]
        return {policy["PolicyName"]: policy["PolicyARN"] for policy in policies}

    def delete_policy(self, name: str) -> None:
        self.scaling.delete_scaling_policy(**self.target, PolicyName=name)

    def names(self) -> list[str]:
        """The names of policies and scheduled actions that are registered."""
        values = self.registered_target()
        return [scaling_policy["PolicyName"] for scaling_policy in values["ScalingPolicies"]] + [
            action["ScheduledActionName"] for action in values["ScheduledActions"]
        ]

    def is_registered(self) -> bool:
        return bool(self.registered_target()["ScalableTargets"])

    def is_saved(self) -> bool:
        return "Contents" in self.s3.list_objects_v2(Bucket=BUCKET, Prefix=self._key)

    def saved_state(self) -> dict[str, Any]:
        result: dict[str, Any] = json.load(self.s3.get_object(Bucket=BUCKET, Key=self._key)["Body"])
        return result

    @property
    def _key(self) -> str:
        return f"scaling-guard/{self.name}/{self.variant}.json"

    def guard(
        self,
        step: str,
        config: str,
        clients: Clients | None = None,
        *,
        former: str = "",
        **changed_values: Any,
    ) -> str:
        """An update of one of the stack's two resources, from the configuration `former`; what it did."""
        return str(
            self.answer(self.event(step, config, former=former, **changed_values), clients)["Data"]["Summary"]
        )

    def answer(
        self, event: Mapping[str, Any], clients: Clients | None = None, *, is_late: bool = False
    ) -> dict[str, Any]:
        """The framework's answers to CloudFormation."""
        environ = {"BUCKET": BUCKET, "SECONDS": str(SECONDS_TO_WAIT)}
        client = clients or self.account.plain
        started_names = {
            **event,
            **handler(event, None, client, environ),
            **({"Deadline": 0} if is_late else {}),
        }
        while not (answer := is_complete(started_names, None, client, environ))["IsComplete"]:
            self.meanwhile()
        return {**started_names, **answer}

    def answer_too_late(self, event: Mapping[str, Any], clients: Clients | None = None) -> dict[str, Any]:
        """The same when the guard has waited for as long as it may."""
        return self.answer(event, clients, is_late=True)

    def event(self, step: str, config: str, *, former: str = "", **changed_values: Any) -> Mapping[str, Any]:
        event: dict[str, Any] = {
            "RequestType": "Update",
            "StackId": self.stack_id,
            "LogicalResourceId": step.capitalize(),
            "PhysicalResourceId": f"physical-{step}",
            "ResourceProperties": self.properties(step, config),
            "OldResourceProperties": self.properties(step, former or config),
        }
        return event | changed_values

    def properties(self, step: str, config: str) -> dict[str, Any]:
        own = self.own.get(config, [])
        return {
            "EndpointName": self.name,
            "VariantName": self.variant,
            "InstanceType": config.partition("/")[0],
            "EndpointConfigName": self.config(config),
            **({"Policies": own} if own else {}),
            "Step": step,
        }

    def config_name(self, config: str) -> str:
        return f"{self.name}-{config.replace('.', '-').replace('/', '-')}"

    def config(self, config: str) -> str:
        """The name of a configuration, which is made if it does not exist."""
        name, instance_type = self.config_name(config), config.partition("/")[0]
        variant = {"VariantName": self.variant, "ModelName": "any", "InstanceType": instance_type}
        try:
            self.sagemaker.create_endpoint_config(
                EndpointConfigName=name, ProductionVariants=[{**variant, "InitialInstanceCount": 2}]
            )
        except ClientError as error:
            if "already existing" not in str(error):
                raise
        return name
