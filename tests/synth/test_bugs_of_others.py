"""Bugs of other tools that declare endpoints, held against this one unless their subject has its own tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk.assertions import Template
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # type: ignore[import-untyped]

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.synth.conftest import Synth, templates
from tests.synth.resources import BUCKET, KINDS, STACK, dimensions_of, only_resource, statements
from triton_endpoints.endpoint.scaling import EndpointScaling
from triton_fleet.catalog.instances import Processor, instance, instance_types
from triton_fleet.context.context import EndpointContext
from triton_fleet.endpoint.endpoint_parts import ResolvedScaling, TrackedTarget
from triton_fleet.rules.example import REGION, Case

ARN = "arn:aws:iam::111122223333:role/our-own"
IMAGE = "444455556666.dkr.ecr.us-east-1.amazonaws.com/team/triton:25.04"


class TestZeros:
    def test_cooldowns_of_zero_are_no_cooldowns(self, template: Synth) -> None:
        stack_template = template(
            "scaling: {min: 1, max: 4, invocations_per_instance: 60, scale_in: 0s, scale_out: 0s}\n"
        )
        policy = only_resource(stack_template, "AWS::ApplicationAutoScaling::ScalingPolicy")["Properties"]
        configuration = policy["TargetTrackingScalingPolicyConfiguration"]
        assert (configuration["ScaleInCooldown"], configuration["ScaleOutCooldown"]) == (0, 0)

    def test_a_rollout_that_waits_for_nothing_says_so(self, template: Synth) -> None:
        stack_template = template("rollout: {bake: 0s, termination_wait: 0s}\n")
        config = only_resource(stack_template, "AWS::SageMaker::Endpoint")["Properties"]["DeploymentConfig"]
        policy = config["BlueGreenUpdatePolicy"]
        assert policy["TrafficRoutingConfiguration"]["WaitIntervalInSeconds"] == 0
        assert policy["TerminationWaitInSeconds"] == 0

    def test_a_rolling_update_may_wait_for_nothing(self, folder: FleetFolder) -> None:
        base = SPEC.replace("ml.g5.xlarge}", "ml.g5.xlarge, count: 2}")
        folder.spec("rollout: {strategy: rolling, step: 50%, bake: 0s}\n", base=base)
        config = only_resource(templates(folder)[STACK], "AWS::SageMaker::Endpoint")["Properties"][
            "DeploymentConfig"
        ]
        assert config["RollingUpdatePolicy"]["WaitIntervalInSeconds"] == 0

    def test_a_weight_of_zero_takes_no_calls(self, template: Synth) -> None:
        stack_template = template(
            "cloudformation: {EndpointConfig: {ProductionVariants.0.InitialVariantWeight: 0}}\n"
        )
        (variant,) = only_resource(stack_template, "AWS::SageMaker::EndpointConfig")["Properties"][
            "ProductionVariants"
        ]
        assert variant["InitialVariantWeight"] == 0

    def test_settings_of_the_container_may_be_zero(self, template: Synth) -> None:
        stack_template = template("container: {buffer_manager_thread_count: 0, model_load_gpu_limit: 0}\n")
        variables = only_resource(stack_template, "AWS::SageMaker::Model")["Properties"]["PrimaryContainer"][
            "Environment"
        ]
        assert float(variables["SAGEMAKER_TRITON_MODEL_LOAD_GPU_LIMIT"]) == 0
        assert variables["SAGEMAKER_TRITON_BUFFER_MANAGER_THREAD_COUNT"] == "0"

    @pytest.mark.parametrize(
        ("scaling", "line"),
        [
            ("min: 0\n  max: 4\n  gpu_utilization: 60", 7),
            ('min: 1\n  max: 4\n  schedules:\n    - {name: night, at: "rate(12 hours)", min: 0}', 10),
        ],
    )
    def test_no_instances_are_refused_with_the_reason_and_not_read_as_one(
        self, folder: FleetFolder, scaling: str, line: int
    ) -> None:
        folder.spec(f"scaling:\n  {scaling}\n")
        (said_line,) = folder.finding_lines()
        assert said_line.startswith(f"sentences.yaml:{line} FL270 `min` is 0: an endpoint without instances")


class TestTwoVariants:
    def test_both_of_one_stack_are_scaled(self) -> None:
        app = App()
        stack = Stack(app, "Stack")
        targets = (TrackedTarget(measure="gpu_utilization", value=60.0),)
        for variant, maximum in (("First", 2), ("Second", 3)):
            scaling = ResolvedScaling(
                min=1, max=maximum, scale_in=0, scale_out=0, targets=targets, schedules=()
            )
            EndpointScaling(stack, f"{variant}Scaling", scaling=scaling, endpoint_name="e", variant=variant)
        stack_template = Template.from_stack(stack)

        resources = stack_template.find_resources("AWS::ApplicationAutoScaling::ScalableTarget")
        most_of = {
            resource["Properties"]["ResourceId"]: resource["Properties"]["MaxCapacity"]
            for resource in resources.values()
        }
        assert most_of == {"endpoint/e/variant/First": 2, "endpoint/e/variant/Second": 3}
        policies = stack_template.find_resources("AWS::ApplicationAutoScaling::ScalingPolicy").values()
        assert {policy["Properties"]["ScalingTargetId"]["Ref"] for policy in policies} == set(resources)
        variant_names = {dimensions_of(policy)["VariantName"] for policy in policies}
        assert variant_names == {"First", "Second"}


class TestWithoutScaling:
    def test_a_spec_without_it_is_deployed_with_its_count(self, folder: FleetFolder) -> None:
        folder.spec(base=SPEC.replace("ml.g5.xlarge}", "ml.g5.xlarge, count: 3}"))
        template = templates(folder)[STACK]
        (variant,) = only_resource(template, "AWS::SageMaker::EndpointConfig")["Properties"][
            "ProductionVariants"
        ]
        assert variant["InitialInstanceCount"] == 3
        assert (
            "RetainAllVariantProperties"
            not in only_resource(template, "AWS::SageMaker::Endpoint")["Properties"]
        )
        for kind in ("ScalableTarget", "ScalingPolicy"):
            template.resource_count_is(f"AWS::ApplicationAutoScaling::{kind}", 0)


class TestRoleOfOnesOwn:
    @pytest.mark.parametrize("allow", ["", 'allow: {FL346: "ours"}\n'])
    def test_a_spec_does_not_give_itself_one(self, folder: FleetFolder, allow: str) -> None:
        folder.spec(f'cloudformation: {{Model: {{ExecutionRoleArn: "{ARN}"}}}}\n{allow}')
        assert "FL346" in [finding.code for finding in folder.findings()]

    def test_the_environment_gives_it_one(self, folder: FleetFolder) -> None:
        folder.environment(f'allowed_roles: ["{ARN}"]\n')
        folder.spec(f'cloudformation: {{Model: {{ExecutionRoleArn: "{ARN}"}}}}\n')
        model = only_resource(templates(folder)[STACK], "AWS::SageMaker::Model")["Properties"]
        assert model["ExecutionRoleArn"] == ARN

    @pytest.mark.parametrize(
        "allow", ["", 'allow: {FL349: "ours", FL263: "ours", FL298: "ours", FL268: "ours"}\n']
    )
    def test_a_spec_does_not_allow_itself_an_image(self, folder: FleetFolder, allow: str) -> None:
        folder.spec(f"cloudformation: {{Model: {{PrimaryContainer.Image: {IMAGE}}}}}\n{allow}")
        assert "FL349" in [finding.code for finding in folder.findings()]

    def test_the_role_pulls_an_image_that_the_environment_allows(self, folder: FleetFolder) -> None:
        folder.environment('allowed_registries: ["444455556666"]\n')
        folder.spec(f"cloudformation: {{Model: {{PrimaryContainer.Image: {IMAGE}}}}}\n")
        template = templates(folder)[STACK]
        assert (
            only_resource(template, "AWS::SageMaker::Model")["Properties"]["PrimaryContainer"]["Image"]
            == IMAGE
        )
        assert statements(template)["PullImage"]["Resource"] == [
            "arn:aws:ecr:us-east-1:763104351884:repository/sagemaker-tritonserver",
            "arn:aws:ecr:us-east-1:444455556666:repository/team/triton",
        ]

    def test_no_key_takes_one_and_forgets_it(self, folder: FleetFolder) -> None:
        folder.spec(f'role: "{ARN}"\n')
        assert [finding.code for finding in folder.findings()] == ["FL110"]

    def test_the_endpoints_own_has_no_policy_of_aws(self, template: Synth) -> None:
        assert "ManagedPolicyArns" not in only_resource(template(), "AWS::IAM::Role")["Properties"]


class TestNames:
    @pytest.mark.parametrize("kind", KINDS)
    def test_nothing_has_a_fixed_name_that_does_not_need_one(self, folder: FleetFolder, kind: str) -> None:
        base, keys = KINDS[kind]
        folder.spec(keys, base=base)
        made_templates = templates(folder)
        assert dict(_names(made_templates["triton-fleet-dev"])) == {
            "AWS::S3::Bucket": {BUCKET},
            # CloudFormation refuses to change the token of a custom resource.
            "AWS::Lambda::Function": {
                f"triton-fleet-dev-{noun}" for noun in ("endpoint-check", "endpoint-logs", "scaling-guard")
            },
            "AWS::SSM::Parameter": {
                "/triton-fleet/dev/artifact-bucket-arn",
                "/triton-fleet/dev/alarm-topic/warning",
                "/triton-fleet/dev/alarm-topic/critical",
                "/triton-fleet/dev/engine-job-role",
            },
            # Builds are started, and found by people, by the project's name; nothing else of one asks for another.
            "AWS::CodeBuild::Project": {f"triton-fleet-dev-{noun}" for noun in ("engines-job", "images")},
            # Endpoints pull from it, whose stacks import nothing of Foundation.
            "AWS::ECR::Repository": {"triton-fleet-dev"},
            # Whoever writes to it may not make it, so that nobody makes it again after its deletion.
            "AWS::Logs::LogGroup": {"/triton-fleet/dev/engines", "/triton-fleet/dev/images"},
            # The policy of a topic names it.
            "AWS::Events::Rule": {"triton-fleet-dev-engine-failures", "triton-fleet-dev-image-failures"},
        }
        named_values = dict(_names(made_templates[STACK]))
        # Of one target, which has several; no other target meets the name.
        del named_values["AWS::ApplicationAutoScaling::ScalingPolicy"]
        # After the configuration, whose name CloudFormation makes.
        for alarm in named_values.pop("AWS::CloudWatch::Alarm", set()):
            assert "EndpointConfigName" in alarm
        assert named_values == {"AWS::SageMaker::Endpoint": {"sentences"}}

    @pytest.mark.parametrize("kind", KINDS)
    def test_model_data_is_where_s3_has_it_and_no_web_address(self, folder: FleetFolder, kind: str) -> None:
        base, _ = KINDS[kind]
        folder.spec(base=base)
        container = only_resource(templates(folder)[STACK], "AWS::SageMaker::Model")["Properties"][
            "PrimaryContainer"
        ]
        url = container["ModelDataUrl"]
        assert url.startswith(f"s3://{BUCKET}/endpoints/sentences/")
        assert url.endswith("/" if kind == "multi-model" else ".tar.gz")


class TestInstances:
    def test_gpus_get_the_image_for_gpus_whatever_their_family(self) -> None:
        got = {
            instance_type: endpoint_context(instance={"type": instance_type}).image
            for instance_type in instance_types()
        }
        wrong = [name for name, image in got.items() if image is None or image.gpu != has_gpu(name)]
        wrong += [
            name for name, image in got.items() if image and image.uri.endswith("-cpu") == has_gpu(name)
        ]
        assert wrong == []
        assert {has_gpu(item) for item in got} == {True, False}

    @pytest.mark.parametrize("type_", ["ml.p9.48xlarge", "ml.g.xlarge", "ml.g5.xlarg"])
    def test_a_type_that_looks_like_one_is_refused(self, folder: FleetFolder, type_: str) -> None:
        folder.spec(base=SPEC.replace("ml.g5.xlarge", type_))
        (finding,) = folder.findings()
        assert (finding.code, type_ in finding.message) == ("FL203", True)


class TestSecrets:
    @pytest.mark.parametrize("name", ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "MODEL_NAME"])
    def test_a_token_is_refused_and_not_repeated(self, folder: FleetFolder, name: str) -> None:
        token = f"hf_{'a' * 30}"
        folder.spec(f"environment: {{{name}: {token}}}\n")
        assert [finding.code for finding in folder.findings()] == ["FL242"]
        assert token not in "".join(folder.finding_lines())

    def test_its_arn_reaches_the_container(self, template: Synth) -> None:
        secret = "arn:aws:secretsmanager:us-east-1:111122223333:secret:hugging-face"
        stack_template = template(f'environment: {{HF_TOKEN: "{secret}"}}\n')
        variables = only_resource(stack_template, "AWS::SageMaker::Model")["Properties"]["PrimaryContainer"][
            "Environment"
        ]
        assert variables["HF_TOKEN"] == secret


def _names(template: Template) -> Iterator[tuple[str, set[str]]]:
    """By type: the names that resources are given, by CloudFormation's own schema of what names them."""
    names: dict[str, set[str]] = {}
    for resource in template.to_json()["Resources"].values():
        type_, properties = resource["Type"], resource.get("Properties", {})
        if type_.startswith("Custom::"):
            continue
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema(REGION, type_).schema
        for path in schema.get("createOnlyProperties", []):
            name = path.removeprefix("/properties/")
            if name.endswith("Name") and name in properties:
                value = properties[name]
                names.setdefault(type_, set()).add(value if isinstance(value, str) else json.dumps(value))
    yield from names.items()


def has_gpu(type_: str) -> bool:
    """Whether it is accelerated; what has Neuron or Gaudi chips is refused, whichever image it would get."""
    return instance(type_).kind is not Processor.CPU


def endpoint_context(**keys: Any) -> EndpointContext:
    """A spec with further keys, as the rules see it."""
    return Case(spec=keys, region=REGION, models=None, archive_size=1 << 20).context()
