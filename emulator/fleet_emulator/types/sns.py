"""AWS::SNS: topics (moto replaces them with every update), policies and subscriptions (moto hosts none)."""

from __future__ import annotations

import json
from typing import Any

from moto.sns.models import SNSBackend, sns_backends
from moto.sns.models import Topic as MotoTopic

from fleet_emulator.types.resource import Declaration, Resource

_ATTRIBUTES = {"DisplayName": "display_name", "KmsMasterKeyId": "kms_master_key_id"}
"""What can be changed where it is; by CloudFormation's names, and moto's."""
_NAMES = {"TopicName", "FifoTopic"}


def _backend(declared: Declaration) -> SNSBackend:
    return sns_backends[declared.account_id][declared.region]


class Topic:
    """`Ref` is the topic's ARN."""

    def create(self, declared: Declaration) -> Resource:
        """Create the topic under its own name or a generated one, with the subscriptions that it names."""
        name = declared.properties.get("TopicName", f"{declared.stack_name}-{declared.generated_name()}")
        topic = _backend(declared).create_topic(name, {})
        return self._put(topic, declared)

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """When it has another name."""
        return not declared.changed(before).isdisjoint(_NAMES)

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Replace the attributes; subscriptions stay."""
        return self._put(_backend(declared).get_topic(resource.physical_resource_id), declared)

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Delete the topic with its subscriptions."""
        _backend(declared).delete_topic(resource.physical_resource_id)

    @staticmethod
    def _put(topic: MotoTopic, declared: Declaration) -> Resource:
        backend, properties = _backend(declared), declared.properties
        for key, attribute in _ATTRIBUTES.items():
            backend.set_topic_attribute(topic.arn, attribute, properties.get(key, ""))
        topic._tags = {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}
        for each in properties.get("Subscription", []):
            backend.subscribe(topic.arn, each["Endpoint"], each["Protocol"])
        return Resource(topic.arn, {"TopicArn": topic.arn, "TopicName": topic.name})


class TopicPolicy:
    """A topic's policy in place of the one that every topic has at first."""

    def create(self, declared: Declaration) -> Resource:
        """Put it on its topics."""
        return self._put(declared.generated_name(), declared)

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """Never."""
        return False

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Put it again, and take it from topics that it is no longer of."""
        _restore(before, kept=declared.properties["Topics"])
        return self._put(resource.physical_resource_id, declared)

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Give its topics the first policy back."""
        _restore(declared, kept=())

    @staticmethod
    def _put(name: str, declared: Declaration) -> Resource:
        policy = json.dumps(declared.properties["PolicyDocument"])
        for arn in declared.properties["Topics"]:
            _backend(declared).set_topic_attribute(arn, "policy", policy)
        return Resource(name, {"Id": name})


class Subscription:
    """`Ref` is the subscription's ARN."""

    def create(self, declared: Declaration) -> Resource:
        """Subscribe."""
        properties = declared.properties
        made = _backend(declared).subscribe(
            properties["TopicArn"], properties["Endpoint"], properties["Protocol"]
        )
        return Resource(made.arn, {"Arn": made.arn})

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """When the topic or the subscriber changes."""
        return not declared.changed(before).isdisjoint({"TopicArn", "Endpoint", "Protocol"})

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Change nothing: of the rest, nothing acts here."""
        return resource

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Unsubscribe."""
        _backend(declared).unsubscribe(resource.physical_resource_id)


def _restore(declared: Declaration, *, kept: Any) -> None:
    backend = _backend(declared)
    for arn in declared.properties["Topics"]:
        if arn in backend.topics and arn not in kept:
            topic = backend.get_topic(arn)
            first = topic._create_default_topic_policy(backend.region_name, backend.account_id, topic.name)
            backend.set_topic_attribute(arn, "policy", json.dumps(first))
