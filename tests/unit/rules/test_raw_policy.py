"""Roles and images of a spec are the product's, and exceptions are the environment's to give, not the spec's."""

from __future__ import annotations

from typing import Any

import pytest

from triton_fleet.context.registries import Repository, is_fleet_repository, pulled_repositories
from triton_fleet.rules.example import REGION, Case
from triton_fleet.rules.registry import rules
from triton_fleet.spec.deployment import repository_of

ROLE = "arn:aws:iam::111122223333:role/reader"
OTHER_REGISTRY = "444455556666.dkr.ecr.us-east-1.amazonaws.com"
OWN = "111122223333.dkr.ecr.us-east-1.amazonaws.com"
AWS = "763104351884.dkr.ecr.us-east-1.amazonaws.com"
SECRET_REFERENCE = "{resolve:secretsmanager:prod/db:SecretString:pw}}"
REFUSED_TEXTS = (
    "{",
    "}",
    "$",
    "$a",
    "${",
    "${}",
    "${ A }",
    "${!A}",
    "${A.}",
    "${A..B}",
    "${A-B}",
    "${AWS::NoValue}",
    "${AWS::NotificationARNs}",
    "${AWS::Region}{a}",
    "${AWS::regıon}",
    "${\uff21}",
    "$${A}",
    "${A}}",
    "{${A}resolve:ssm:a}}",
)
"""Texts of `Fn::Sub` of which some have, for some value of their variables, a brace."""


def case(resource: str, raw: dict[str, Any], region: str = REGION, **environment: Any) -> Case:
    """A spec with raw properties of one resource, in an environment with further keys."""
    spec = {"cloudformation": {resource: raw}}
    return Case(spec=spec, region=region, models=None, archive_size=1 << 20, environment=environment)


def policy_messages(code: str, case: Case) -> list[str]:
    return [problem.message for problem in case.problems(rules()[code])]


class TestRoles:
    @pytest.mark.parametrize("resource", ["Model", "EndpointConfig"])
    @pytest.mark.parametrize("role", [ROLE, {"Fn::Sub": "a"}, None])
    def test_no_resource_is_given_a_role_that_the_environment_does_not_allow(
        self, resource: str, role: object
    ) -> None:
        (message,) = policy_messages(
            "FL346", case(resource, {"ExecutionRoleArn": role}, allowed_roles=[f"{ROLE}-2"])
        )
        assert message.startswith(f"ExecutionRoleArn of {resource} gives the endpoint a role that")

    @pytest.mark.parametrize("key", ["Execution\\RoleArn", "\\ExecutionRoleArn"])
    def test_a_backslash_in_the_key_hides_no_role(self, key: str) -> None:
        assert policy_messages("FL346", case("Model", {key: ROLE}))

    @pytest.mark.parametrize("resource", ["Model", "EndpointConfig"])
    def test_a_role_that_the_environment_allows_is_taken(self, resource: str) -> None:
        assert (
            policy_messages("FL346", case(resource, {"ExecutionRoleArn": ROLE}, allowed_roles=[ROLE])) == []
        )

    def test_the_hint_names_the_key_of_the_environment(self) -> None:
        (problem,) = case("Model", {"ExecutionRoleArn": ROLE}).problems(rules()["FL346"])
        assert problem.hint == (
            "leave it out, or add it to `allowed_roles` in environments/example.yaml: a spec cannot `allow` it"
        )

    def test_a_role_of_another_account_is_told_as_such(self) -> None:
        (message,) = policy_messages(
            "FL346", case("Model", {"ExecutionRoleArn": "arn:aws:iam::444455556666:role/a"})
        )
        assert message.endswith(", of account 444455556666: SageMaker assumes only roles of 111122223333")

    @pytest.mark.parametrize(
        "raw",
        [
            {"ExecutionRoleArn.Fn::Sub": ROLE},
            {"ExecutionRoleArn": {"Fn::Sub": ROLE}},
            {"Fn::Transform": {"Name": "AWS::Include", "Parameters": {"Location": "s3://theirs/role.json"}}},
            {"Fn::Transform.Name": "AWS::Include"},
        ],
    )
    def test_a_role_that_cloudformation_computes_is_refused_with_the_allowed_one_in_it(
        self, raw: dict[str, Any]
    ) -> None:
        assert policy_messages("FL346", case("Model", raw, allowed_roles=[ROLE])) != []

    def test_no_spec_can_allow_itself_one(self) -> None:
        assert rules()["FL346"].is_needed


class TestImages:
    @pytest.mark.parametrize(
        "image", [f"{OTHER_REGISTRY}/own:1", f"{OWN}/own:1", "registry.example.com/own:1"]
    )
    def test_an_image_of_another_registry_is_refused(self, image: str) -> None:
        assert policy_messages("FL349", case("Model", {"PrimaryContainer.Image": image})) == [
            f"the image is from {image.split(':')[0]}, which the environment does not allow"
        ]

    @pytest.mark.parametrize("image", ["own:1", "library/own"])
    def test_an_image_without_a_registry_is_of_docker_hub(self, image: str) -> None:
        (message,) = policy_messages("FL349", case("Model", {"PrimaryContainer.Image": image}))
        assert message.startswith("the image is from docker.io/")

    @pytest.mark.parametrize(
        ("image", "allowed_text"),
        [
            (f"{OTHER_REGISTRY}/own:1", "444455556666"),
            (f"{OTHER_REGISTRY}/own/deeper@sha256:{'a' * 64}", OTHER_REGISTRY),
            (f"{OTHER_REGISTRY.replace('ecr', 'ecr-fips')}/own:1", "444455556666"),
            ("registry.example.com:5000/own:1", "registry.example.com:5000"),
        ],
    )
    def test_a_registry_that_the_environment_allows_is_taken(self, image: str, allowed_text: str) -> None:
        raw = {"PrimaryContainer": {"Image": image}}
        assert policy_messages("FL349", case("Model", raw, allowed_registries=[allowed_text])) == []

    def test_sagemakers_own_image_of_triton_is_always_allowed(self) -> None:
        image = f"{AWS}/sagemaker-tritonserver:25.03-py3"
        assert policy_messages("FL349", case("Model", {"PrimaryContainer.Image": image})) == []

    @pytest.mark.parametrize(
        "repository", ["pytorch-inference", "sagemaker-tritonserver-2", "a/sagemaker-tritonserver"]
    )
    def test_another_image_of_sagemakers_registry_is_allowed_by_the_environment_alone(
        self, repository: str
    ) -> None:
        raw = {"PrimaryContainer.Image": f"{AWS}/{repository}:2.6"}
        assert policy_messages("FL349", case("Model", raw)) == [
            f"the image is from {AWS}/{repository}, which the environment does not allow"
        ]
        assert policy_messages("FL349", case("Model", raw, allowed_registries=[AWS.split(".")[0]])) == []

    @pytest.mark.parametrize("registry", [OWN, OTHER_REGISTRY, OWN.replace(".ecr", ".ecr-fips")])
    @pytest.mark.parametrize("repository", ["triton-fleet-example", "a/triton-fleet-prod-0123abcd"])
    def test_an_image_that_a_fleet_built_for_an_endpoint_is_named_by_no_raw_property(
        self, registry: str, repository: str
    ) -> None:
        raw = {"PrimaryContainer.Image": f"{registry}/{repository}@sha256:{'a' * 64}"}
        allowed_names = ["111122223333", "444455556666", registry]
        (problem,) = case("Model", raw, allowed_registries=allowed_names).problems(rules()["FL349"])
        assert problem.message == f"{repository} has the images that an environment builds for its endpoints"
        assert problem.hint.startswith("write `image`")

    @pytest.mark.parametrize("key", [None, "arn:aws:kms:us-east-1:111122223333:key/1"])
    def test_the_repository_of_every_environment_and_key_is_known_as_such(self, key: str | None) -> None:
        assert all(is_fleet_repository(repository_of(name, key)) for name in ("a", "a23456789012345z"))

    @pytest.mark.parametrize(
        "host",
        [
            "444455556666.dkr.ecr.us-east-1.example.com",
            "444455556666.dkr.ecr.us-east-1.amazonaws.com.example.com",
            "444455556666.dkr.ecr.us-west-2.amazonaws.com",
            "1444455556666.dkr.ecr.us-east-1.amazonaws.com",
            "444455556666",
        ],
    )
    def test_a_host_that_looks_like_the_registry_of_an_allowed_account_is_none(self, host: str) -> None:
        raw = {"PrimaryContainer.Image": f"{host}/own:1"}
        assert len(policy_messages("FL349", case("Model", raw, allowed_registries=["444455556666"]))) == 1

    def test_of_china_the_registry_has_its_own_domain(self) -> None:
        raw = {"PrimaryContainer.Image": "444455556666.dkr.ecr.cn-north-1.amazonaws.com.cn/own:1"}
        assert (
            policy_messages("FL349", case("Model", raw, "cn-north-1", allowed_registries=["444455556666"]))
            == []
        )

    @pytest.mark.parametrize(
        "raw",
        [
            {"PrimaryContainer.Image": {"Fn::Sub": f"{OTHER_REGISTRY}/own"}},
            {"PrimaryContainer.Image.Fn::Sub": f"{OTHER_REGISTRY}/own"},
            {"PrimaryContainer.Image": f"{OTHER_REGISTRY}/*"},
            {"PrimaryContainer.Image": None},
            {"PrimaryContainer": {"Fn::If": ["a", {}, {}]}},
            {"PrimaryContainer.Fn::Transform": {"Name": "AWS::Include"}},
            {"PrimaryContainer.ModelPackageName": "theirs"},
            {"Containers": [{"Image": f"{AWS}/own:1"}]},
            {"Fn::Transform": {"Name": "AWS::Include"}},
        ],
    )
    def test_an_image_that_nobody_can_read_off_the_spec_is_refused(self, raw: dict[str, Any]) -> None:
        (problem,) = case("Model", raw, allowed_registries=["444455556666"]).problems(rules()["FL349"])
        assert problem.path[:2] == ("cloudformation", "Model")

    def test_no_spec_can_allow_itself_one(self) -> None:
        assert rules()["FL349"].is_needed


class TestPulls:
    @pytest.mark.parametrize(
        ("image", "allowed_lines", "more"),
        [
            (f"{OTHER_REGISTRY}/team/own:1", ["444455556666"], [Repository("444455556666", "team/own")]),
            (f"{OTHER_REGISTRY}/team/own:1", [OTHER_REGISTRY], [Repository("444455556666", "team/own")]),
            (f"{AWS}/sagemaker-tritonserver:25.03-py3", [], []),
            (f"{AWS}/other:1", [], []),
            (f"{AWS}/other:1", ["763104351884"], [Repository("763104351884", "other")]),
            (f"{OTHER_REGISTRY}/own:1", [], []),
            ("registry.example.com/own:1", ["registry.example.com"], []),
        ],
    )
    def test_the_role_pulls_what_is_allowed_beside_the_release(
        self, image: str, allowed_lines: list[str], more: list[Repository]
    ) -> None:
        context = case("Model", {"PrimaryContainer.Image": image}, allowed_registries=allowed_lines).context()
        assert pulled_repositories(context) == (Repository("763104351884", "sagemaker-tritonserver"), *more)


class TestFunctions:
    @pytest.mark.parametrize(
        "raw",
        [
            {"PrimaryContainer.Environment.X": {"Fn::Join": ["", ["{{resolve:secretsm", "anager:a}}"]]}},
            {"PrimaryContainer.Environment.X": {"Fn::ImportValue": "export-of-others"}},
            {"PrimaryContainer.Environment.X.Fn::ImportValue": "export-of-others"},
            {"PrimaryContainer.Environment.X": {"Fn::If": ["A", {"Fn::ImportValue": "a"}, ""]}},
            {"PrimaryContainer.Environment.X": {"Fn::Sub": ["${A}resolve:ssm:a}}", {"A": "{{"}]}},
            {"PrimaryContainer": {"Environment": [{"Fn::GetStackOutput": {}}]}},
            {"Fn::Transform": {"Name": "AWS::Include"}},
            {"PrimaryContainer.ContainerHostname": {"Fn::Sub": f"${{!{SECRET_REFERENCE}}}"}},
            {"PrimaryContainer.ContainerHostname": {"Fn::Sub": f"{{${{AWS::NoValue}}{SECRET_REFERENCE}"}},
            {"PrimaryContainer.ContainerHostname.Fn::Sub": f"${{!{SECRET_REFERENCE}}}"},
            {
                "PrimaryContainer.ContainerHostname.Fn::If": [
                    "A",
                    "a",
                    {"Fn::Sub": f"${{!{SECRET_REFERENCE}}}"},
                ]
            },
            {"PrimaryContainer.Fn::Sub.ContainerHostname": "a"},
            {"PrimaryContainer": {"Environment": {"X": [{"Fn::Sub": f"${{!{SECRET_REFERENCE}}}"}]}}},
            {"A": {"Fn::GetAtt": ["A", {"Fn::Sub": f"${{!{SECRET_REFERENCE}}}"}]}},
            {"A": {"Fn::GetAtt": ["A", "B", "C"]}},
            {"A": {"Fn::If": ["A", "a"]}},
            {"A": {"Fn::If": [{"Fn::Sub": "A"}, "a", "b"]}},
            *({"A": {"Fn::Sub": text}} for text in REFUSED_TEXTS),
        ],
    )
    def test_a_function_that_may_lead_elsewhere_is_refused(self, raw: dict[str, Any]) -> None:
        (message,) = policy_messages("FL561", case("Model", raw))
        assert " of Model uses Fn::" in message

    @pytest.mark.parametrize(
        "name", ["{{", "AWS::NoValue::", "AWS::NotificationARNs", "A.B", "", 1, None, ["A"]]
    )
    def test_a_reference_to_what_is_no_name_is_refused(self, name: object) -> None:
        (message,) = policy_messages("FL561", case("Model", {"A": {"Ref": name}}))
        assert message.startswith("A of Model uses Ref")

    def test_the_hint_says_what_a_text_may_have(self) -> None:
        (problem,) = case("Model", {"A": {"Fn::Sub": "${!{a}"}}).problems(rules()["FL561"])
        assert problem.message == "A of Model uses Fn::Sub with '${!{a}'"
        assert problem.hint.endswith(
            "; its text has `${NAME}` or `${NAME.ATTRIBUTE}`, and no other `$`, `{`, `}`"
        )

    @pytest.mark.parametrize(
        "value",
        [
            {"Ref": "AWS::Region"},
            {"Fn::GetAtt": ["Model0301700E", "ModelName"]},
            {"Fn::Sub": "${AWS::Region}-a"},
            {"Fn::Sub": "arn:${AWS::Partition}:s3:::${Bucket.Name.Part}/${Bucket}\nü"},
            {"Fn::Sub": ""},
            {"Fn::GetAtt": "Model0301700E.ModelName"},
            {"Ref": "AWS::NoValue"},
            {"Fn::If": ["A", "a", {"Ref": "AWS::NoValue"}]},
        ],
    )
    def test_one_that_stays_in_the_stack_is_taken(self, value: object) -> None:
        assert policy_messages("FL561", case("Model", {"PrimaryContainer": {"A": [value]}})) == []
        ((key, inner),) = value.items()  # type: ignore[attr-defined]
        assert policy_messages("FL561", case("Model", {f"A.{key}": inner})) == []

    @pytest.mark.parametrize("value", ["{{name}} ${HOME}", 1, 1.5, True, None, [], {}, "2026-01-01"])
    def test_what_no_function_reads_is_taken_as_it_is(self, value: object) -> None:
        assert policy_messages("FL561", case("Model", {"A": value})) == []


class TestTags:
    @pytest.mark.parametrize(
        ("resource", "raw"),
        [
            ("Endpoint", {"Tags": [{"Key": "a", "Value": "b"}]}),
            ("Endpoint", {"Tags.0.Value": "b"}),
            ("Endpoint", {"Ta\\gs": None}),
            ("Model", {"Tags": [{"Key": "triton-fleet:owner", "Value": "b"}]}),
            ("EndpointConfig", {"Tags.0": {"Key": "triton-fleet:environment", "Value": "b"}}),
            ("EndpointConfig", {"Tags.0.Key": "triton-fleet:environment"}),
            ("Model", {"Tags": []}),
            ("Model", {"Tags": [{"Key": "team", "Value": "ml"}]}),
            ("Model", {"Tags.0.Key": "team"}),
            ("Model", {"Tags.7": {"Key": "team", "Value": "ml"}}),
            ("Model", {"Tags.Fn::If": ["A", [], []]}),
            ("EndpointConfig", {"Tags": None}),
            ("EndpointConfig", {"\\Tags": {"Fn::If": ["A", [], []]}}),
            ("EndpointConfig", {"Tags.0.Value": "b"}),
        ],
    )
    def test_tags_of_the_product_cannot_be_replaced(self, resource: str, raw: dict[str, Any]) -> None:
        (message,) = policy_messages("FL562", case(resource, raw))
        assert f" of {resource} replaces the tags that the product sets" in message
