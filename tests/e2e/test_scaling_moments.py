"""Deploys and deletions that scaling meets at any moment: all of them end well.

The CDK CLI deploys once; then the embedded CloudFormation gets the templates that it would send, because what a
scaling activity meets are CloudFormation's steps.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from fleet_emulator.autoscaling.targets import ObjectNotFoundError
from fleet_emulator.sagemaker.backend import EmbeddedSageMaker
from fleet_emulator.stacks.stack import EmbeddedStack
from tests.support.deployment import DEPLOYMENT, REGION
from tests.support.deploys import Deploys, empty_account
from tests.support.embedded_app.stacks import Stacks, absent_model
from tests.support.embedded_keys import KEYS
from tests.support.endpoint_capacity import await_service
from tests.support.fleet_folder import SPEC
from tests.support.kills import SEED
from tests.support.updated_account import STACK, TARGET
from tests.synth.shipped_specs import assembly
from triton_fleet.aws.access import embedded_access
from triton_fleet.aws.deploy.destroy import destroy, plan_deletion
from triton_fleet.aws.deploy.endpoint_wait import await_endpoint
from triton_fleet.aws.deploy.stack_repair import ready_stack

pytestmark = [pytest.mark.cdk, pytest.mark.nightly]

COUNT = {"ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
SCALING = "scaling: {min: 1, max: 6, invocations_per_instance: 600}\n"
TYPES = ("ml.g5.xlarge", "ml.g5.2xlarge")
MOMENTS = 12
"""Random moments of an update, each with another number of steps that the activity lasts."""


class ScaledAccount:
    """A deployed endpoint that scales when a test wants it to, and CloudFormation beside it."""

    def __init__(self, deploys: Deploys) -> None:
        self.deploys, self.access = deploys, embedded_access(DEPLOYMENT, deploys.aws.url, KEYS)
        self.stacks, self.sagemaker = Stacks(deploys.aws), deploys.client("sagemaker")
        self.autoscaling = deploys.client("application-autoscaling")
        self.notices: list[str] = []
        self._looks = 0
        self._templates = {(type, count): self._template(type, count) for type in TYPES for count in (1, 2)}
        self.runs = (TYPES[0], 1)

    def look(self, status: str) -> None:
        """Let the instances serve after so many looks at an endpoint that is Updating."""
        if status == "Updating" and not self.deploys.host.may_scale.is_set():
            self._looks -= 1
            if self._looks < 0:
                self.deploys.host.may_scale.set()

    def scale(self, looks: int = 1) -> None:
        """Begin an activity that lasts for so many looks; nothing where scaling is suspended or deregistered."""
        (variant,) = self.sagemaker_variants()
        expected_number = 2 if variant["DesiredInstanceCount"] != 2 else 3
        self._looks = looks
        self.deploys.host.may_scale.clear()
        with suppress(ObjectNotFoundError):
            self.deploys.aws.scale("sentences", expected_number, region=REGION)

    def sagemaker_variants(self) -> list[dict[str, Any]]:
        return list(self.sagemaker.describe_endpoint(EndpointName="sentences")["ProductionVariants"])

    def deploy(
        self, *, between: Callable[[], None] = lambda: None, type: str = "", is_broken: bool = False
    ) -> str:
        """The stack's status after what `fleet deploy` does for it when its spec has changed.

        `is_broken`: a part fails when all the rest is done.
        """
        before, count = self.runs
        target = (type or before, 3 - count)
        assert ready_stack(self.access, STACK, lambda _: True, self.notices.append).stack is not None
        await_endpoint(self.access, "sentences", self.notices.append)
        between()
        self.stacks.api.update_stack(
            StackName=STACK,
            TemplateBody=break_template(self._templates[target]) if is_broken else self._templates[target],
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"],
        )
        status = self.stacks.final_status(STACK)
        if status == "UPDATE_COMPLETE":
            self.runs = target
        return status

    def require_calm(self) -> None:
        """The endpoint settles with what its stack declares, and scales again."""
        self.deploys.host.may_scale.set()
        await_service(self.sagemaker, "sentences")
        endpoint = self.sagemaker.describe_endpoint(EndpointName="sentences")
        declared_physical_ids = self.stacks.physical_ids(STACK)
        configs = [
            physical_id
            for name, physical_id in declared_physical_ids.items()
            if name.startswith("EndpointConfig")
        ]
        assert [config.rpartition("/")[2] for config in configs] == [endpoint["EndpointConfigName"].lower()]
        (target,) = self.autoscaling.describe_scalable_targets(
            ServiceNamespace="sagemaker", ResourceIds=[TARGET["ResourceId"]]
        )["ScalableTargets"]
        assert not any(target["SuspendedState"].values())
        assert self.autoscaling.describe_scaling_policies(**TARGET, **COUNT)["ScalingPolicies"]

    def _template(self, type: str, count: int) -> str:
        root = self.deploys.folder.root
        spec(self.deploys, type, count)
        made_root = root / "templates"
        shutil.rmtree(made_root, ignore_errors=True)
        assembly(root, "dev", str(made_root))
        return (Path(made_root) / f"{STACK}.template.json").read_text()


def break_template(template: str) -> str:
    """The template with a resource that fails after all others."""
    content = json.loads(template)
    broken_absent_model = absent_model()
    broken_absent_model["DependsOn"] = list(content["Resources"])
    content["Resources"]["Broken"] = broken_absent_model
    return json.dumps(content)


def spec(deploys: Deploys, type: str, count: int) -> None:
    deploys.folder.spec(SCALING, base=SPEC.replace("ml.g5.xlarge", f"{type}, count: {count}"))


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScaledAccount]:
    with empty_account(tmp_path_factory.mktemp("moments") / "fleet") as deploys:
        spec(deploys, TYPES[0], 1)
        deploys.deploy()
        yield ScaledAccount(deploys)


@pytest.fixture(autouse=True)
def watched_names(account: ScaledAccount, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The looks at the endpoint are counted; what is returned are the steps of the stack's resources."""
    describe, tell, steps = EmbeddedSageMaker.describe_endpoint, EmbeddedStack.tell, list[str]()

    def look(self: EmbeddedSageMaker, endpoint_name: str) -> Any:
        result = describe(self, endpoint_name)
        account.look(result["EndpointStatus"] if isinstance(result, dict) else result.endpoint_status)
        return result

    def step(self: EmbeddedStack, declared_values: Any, status: str, **messages: Any) -> None:
        tell(self, declared_values, status, **messages)
        steps.append(f"{declared_values.logical_id} {status}")
        for moment in account_moments:
            moment(steps)

    account_moments.clear()
    monkeypatch.setattr(EmbeddedSageMaker, "describe_endpoint", look)
    monkeypatch.setattr(EmbeddedStack, "tell", step)
    yield steps
    account_moments.clear()
    account.deploys.host.failures.clear()


account_moments: list[Callable[[list[str]], None]] = []
"""Called after each step of a resource, with all the steps."""


def test_scaling_that_began_before_the_deploy_is_waited_for(account: ScaledAccount) -> None:
    account.notices.clear()
    account.scale(looks=3)
    assert account.deploy() == "UPDATE_COMPLETE"
    assert [text.partition(":")[0] for text in account.notices] == ["the endpoint sentences is Updating"]
    account.require_calm()


@pytest.mark.parametrize("looks", [0, 1, 2, 5])
def test_scaling_that_begins_between_the_wait_and_the_guard_is_waited_for(
    account: ScaledAccount, looks: int
) -> None:
    assert account.deploy(between=lambda: account.scale(looks)) == "UPDATE_COMPLETE"
    account.require_calm()


@pytest.mark.parametrize("number", range(MOMENTS))
def test_scaling_that_begins_at_any_step_of_an_update_does_not_stop_it(
    account: ScaledAccount, watched_names: list[str], number: int
) -> None:
    assert account.deploy() == "UPDATE_COMPLETE"
    account.require_calm()
    chance = random.Random(f"{SEED}-{number}")
    at, looks, length = chance.randrange(len(watched_names)), chance.randrange(6), len(watched_names)
    watched_names.clear()

    def begin(steps: list[str]) -> None:
        if len(steps) == at + 1:
            account.scale(looks)

    account_moments.append(begin)
    kind = TYPES[1 - TYPES.index(account.runs[0])] if number % 3 == 0 else ""
    status = account.deploy(type=kind)
    assert status == "UPDATE_COMPLETE", f"FLEET_SEED={SEED}, step {at} of {length}: {watched_names}"
    account.require_calm()


def is_failure_of_endpoint(step: str) -> bool:
    return step.startswith("Endpoint") and step.endswith(" UPDATE_FAILED")


@pytest.mark.parametrize("at", ["when the endpoint fails", "before the continuation"])
def test_scaling_that_meets_a_stopped_rollback_does_not_stop_the_next_deploy(
    account: ScaledAccount, watched_names: list[str], at: str
) -> None:
    """The embedded SageMaker refuses the configuration in use, so CloudFormation's rollback stops."""
    account.deploys.host.failures["sentences"] = "no capacity"

    def begin(steps: list[str]) -> None:
        if is_failure_of_endpoint(steps[-1]):
            account.scale(2)

    if at == "when the endpoint fails":
        account_moments.append(begin)
    assert account.deploy() == "UPDATE_ROLLBACK_FAILED"
    assert any(map(is_failure_of_endpoint, watched_names))
    account_moments.clear()
    account.deploys.host.failures.clear()
    if at == "before the continuation":
        account.scale(2)
    assert account.deploy() == "UPDATE_COMPLETE"
    account.require_calm()


@pytest.mark.parametrize("type", ["same", "other"])
def test_scaling_that_meets_a_rollback_does_not_stop_it(account: ScaledAccount, type: str) -> None:
    def begin(steps: list[str]) -> None:
        if steps[-1] == "Broken CREATE_FAILED":
            account.scale(2)

    account_moments.append(begin)
    other_text = TYPES[1 - TYPES.index(account.runs[0])] if type == "other" else ""
    assert account.deploy(type=other_text, is_broken=True) == "UPDATE_ROLLBACK_COMPLETE"
    account_moments.clear()
    account.require_calm()
    assert account.deploy() == "UPDATE_COMPLETE"
    account.require_calm()


@pytest.fixture
def redeployed_account(account: ScaledAccount) -> Iterator[ScaledAccount]:
    """The account, whose endpoint a test deletes; other tests find it again."""
    yield account
    spec(account.deploys, *account.runs)
    account.deploys.deploy()


def test_scaling_that_meets_a_deletion_is_waited_for(redeployed_account: ScaledAccount) -> None:
    account = redeployed_account
    account.notices.clear()
    account.scale(looks=3)
    deletion = plan_deletion(account.access, "sentences")
    assert deletion is not None
    destroy(account.access, deletion, account.notices.append)
    assert [text.partition(":")[0] for text in account.notices] == ["the endpoint sentences is Updating"]
