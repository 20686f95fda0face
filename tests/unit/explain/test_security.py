"""`fleet show`: what an endpoint reaches, what encrypts what, what is kept, each with its reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.context.context import EndpointContext
from triton_fleet.explain.decision import Decision
from triton_fleet.explain.decisions import decisions
from triton_fleet.project.project import open_project
from triton_fleet.spec.monitoring import Metrics
from triton_fleet.spec.values import Seconds

VPC = "subnets: [subnet-00000001, subnet-00000002], security_groups: [sg-00000001]"
KEY = "arn:aws:kms:us-east-1:111122223333:key/1234abcd"


class FurtherMetrics(Metrics):
    """Those of a spec with a key that no code explains."""

    sampled_every: Seconds | None = None
    """How often something is sampled, 10s to 1h. Default: every 60s."""


def decisions_by_key(
    folder: FleetFolder, keys: str = "", base: str = SPEC, metrics: Metrics | None = None
) -> dict[str, Decision]:
    folder.spec(keys, base=base)
    project = open_project(folder.root, "dev", ["sentences"])
    spec = project.load("sentences")
    if metrics is not None:
        spec = replace(spec, spec=spec.spec.model_copy(update={"metrics": metrics}))
    made_decisions = decisions(
        EndpointContext(loaded_spec=spec, environment=project.environment, lock=None),
        project.deployment,
        project.fleet.prices,
    )
    return {made_decision.what: made_decision for made_decision in made_decisions}


def values(decisions: dict[str, Decision], *whats: str) -> list[str | None]:
    return [decisions[what].value for what in whats]


def test_by_default_nothing_is_closed_kept_or_bounded(folder: FleetFolder) -> None:
    decisions = decisions_by_key(folder)
    assert values(decisions, "network", "isolation", "key", "volume", "captured", "permissions boundary") == [
        "SageMaker's own network",
        "off",
        "AWS's own",
        "its hardware's own",
        "nothing",
        "none",
    ]
    assert "VPC endpoints" not in decisions
    assert values(decisions, "retention", "detailed observability", "enhanced metrics") == [
        "30 days",
        "off",
        "off",
    ]


@pytest.mark.parametrize(
    ("keys", "services"),
    [
        (f"network: {{{VPC}}}", ["s3", "logs", "monitoring"]),
        (f"network: {{{VPC}}}\nmetrics: {{triton: false}}", ["s3"]),
        (f"network: {{{VPC}, isolated: true}}\nmetrics: {{triton: false}}", ["s3"]),
    ],
)
def test_a_vpc_is_told_with_the_endpoints_that_it_needs(
    folder: FleetFolder, keys: str, services: list[str]
) -> None:
    decisions = decisions_by_key(folder, f"{keys}\n")
    assert decisions["network"].value == "subnet-00000001, subnet-00000002 with sg-00000001"
    needed_text = ", ".join(f"com.amazonaws.us-east-1.{service}" for service in services)
    assert decisions["VPC endpoints"].value == needed_text
    assert ("Triton's metrics" in decisions["VPC endpoints"].reason) == (len(services) > 1)


@pytest.mark.parametrize(
    ("instance", "value", "reason"),
    [
        (
            "ml.g5.xlarge",
            "its hardware's own",
            "ml.g5.xlarge keeps models on local storage, which no key encrypts",
        ),
        ("ml.c5.xlarge", KEY, "ml.c5.xlarge keeps models on a volume"),
    ],
)
def test_whether_the_key_encrypts_the_volume_is_told_with_its_reason(
    folder: FleetFolder, instance: str, value: str, reason: str
) -> None:
    folder.environment(f"kms_key: {KEY}\n")
    decisions = decisions_by_key(folder, base=SPEC.replace("ml.g5.xlarge", instance))
    assert decisions["key"].value == KEY
    assert (decisions["volume"].value, decisions["volume"].reason) == (value, reason)


def test_the_volume_of_a_pool_is_told_with_its_instance_type(folder: FleetFolder) -> None:
    folder.environment(f"kms_key: {KEY}\n")
    pools = "[{InstanceType: ml.c5d.xlarge, Priority: 1}, {InstanceType: ml.c5.xlarge, Priority: 2}]"
    raw = f"cloudformation: {{EndpointConfig: {{ProductionVariants.0.InstancePools: {pools}}}}}\n"
    volume = decisions_by_key(folder, raw, base=SPEC.replace("ml.g5.xlarge", "ml.c5d.xlarge"))["volume"]
    assert (volume.value, volume.reason) == (KEY, "ml.c5.xlarge keeps models on a volume")


def test_what_is_captured_is_told_with_its_place(folder: FleetFolder) -> None:
    decision = decisions_by_key(folder, "capture: {sample: 10%, requests: false}\n")["captured"]
    assert decision.value == "10% of calls"
    place = "s3://triton-fleet-dev-111122223333-us-east-1/capture/sentences/"
    assert decision.reason == f"from `capture`: responses, into {place}; nothing deletes them"


def test_each_tag_is_told_with_its_origin(folder: FleetFolder) -> None:
    folder.environment("tags: {team: search, cost: '1'}\n")
    decisions = decisions_by_key(folder, "tags: {team: ranking}\n")
    assert (decisions["team"].value, decisions["team"].reason) == ("ranking", "from `tags`")
    assert (decisions["cost"].value, decisions["cost"].reason) == ("1", "from `tags` of the environment")
    assert decisions["triton-fleet:endpoint"].reason == "ours"


def test_every_key_of_metrics_is_explained(folder: FleetFolder) -> None:
    reasons = " ".join(decision.reason for decision in decisions_by_key(folder).values())
    assert [name for name in Metrics.model_fields if f"`metrics.{name}`" not in reasons] == []


@pytest.mark.parametrize(
    ("metrics", "value", "reason"),
    [
        (FurtherMetrics(), "every 60s", "`metrics.sampled_every` is left out"),
        (FurtherMetrics(sampled_every="5m"), "300s", "from `metrics.sampled_every`"),  # type: ignore[arg-type]
    ],
)
def test_a_key_without_an_explanation_of_its_own_is_shown_as_the_spec_describes_it(
    folder: FleetFolder, metrics: Metrics, value: str, reason: str
) -> None:
    decision = decisions_by_key(folder, metrics=metrics)["sampled every"]
    assert (decision.group, decision.value, decision.reason) == ("metrics", value, reason)
