"""In which order CloudFormation makes the resources of an endpoint's stack, and how much its role may have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fleet_emulator.stacks.resources import references
from tests.support.fleet_folder import SPEC, FleetFolder
from tests.synth.conftest import templates
from tests.synth.resources import STACK
from tests.synth.stack_kinds import ENDPOINTS, stack_kinds

MAX_INLINE_POLICY_CHARACTERS = 10_240
"""Of a role, without white space; source: IAM user guide, reference_iam-quotas.html."""


def needs(resources: Mapping[str, Any], id: str) -> set[str]:
    """Resources that are made before a resource."""
    result, remaining_ids = set[str](), [id]
    while remaining_ids:
        resource = resources[remaining_ids.pop()]
        named_values = [*resource.get("DependsOn", ()), *references(resource.get("Properties", {}))]
        more = {named_value for named_value in named_values if named_value in resources} - result
        result |= more
        remaining_ids += more
    return result


@pytest.mark.parametrize("kind", ENDPOINTS)
def test_every_resource_is_made_before_the_endpoint_or_after_it(kind: str) -> None:
    """If one failed beside it, CloudFormation would change or delete an endpoint that is in progress."""
    resources = stack_kinds()[kind]["Resources"]
    (endpoint,) = [id for id, resource in resources.items() if resource["Type"] == "AWS::SageMaker::Endpoint"]
    before = needs(resources, endpoint)
    after = {id for id in resources if endpoint in needs(resources, id)}
    assert resources.keys() - before - after == {endpoint}
    assert not before & after
    assert {resources[item]["Type"] for item in after} <= {
        "AWS::ApplicationAutoScaling::ScalableTarget",
        "AWS::ApplicationAutoScaling::ScalingPolicy",
        "Custom::EndpointCheck",
        "Custom::ScalingGuard",
    }


def test_the_longest_policies_fit_into_a_role_twice(folder: FleetFolder) -> None:
    name = f"sentences-{'n' * 53}"
    subnets = [f"subnet-0123456789abcde{number:02x}" for number in range(16)]
    groups = [f"sg-0123456789abcde{number:02x}" for number in range(5)]
    folder.environment(
        f"allowed_networks: {[*subnets, *groups]}\n"
        "kms_key: arn:aws:kms:us-east-1:111122223333:key/11111111-2222-3333-4444-555555555555\n"
    )
    base = SPEC.replace("g5", "c5").replace("endpoint: sentences", f"endpoint: {name}")
    image = f"image: {{uri: 111122223333.dkr.ecr.us-east-1.amazonaws.com/detector, digest: sha256:{0:064}}}\n"
    network = f"network: {{subnets: {subnets}, security_groups: {groups}}}\n"
    folder.spec(f"{network}capture: {{sample: 10%}}\n{image}", name, base=base)
    folder.lock()
    resources = templates(folder)[STACK.replace("sentences", name)].find_resources("AWS::IAM::Policy")
    documents = [resource["Properties"]["PolicyDocument"] for resource in resources.values()]
    assert len(documents) == 4
    assert (
        2 * sum(len("".join(str(document).split())) for document in documents) < MAX_INLINE_POLICY_CHARACTERS
    )
