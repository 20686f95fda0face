"""Problems of constructs are told together, each at its construct's path and its prop."""

from __future__ import annotations

from pathlib import Path

import pytest
from aws_cdk import App, Environment, Stack, Stage
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Annotations, Match

from tests.support.fleet_folder import LOCK, SPEC
from tests.synth.library.host import ACCOUNT, DATA, HOST_ENVIRONMENT, Host
from triton_endpoints import (
    Capture,
    EndpointSupport,
    FleetEnvironment,
    Instance,
    Rollout,
    Scaling,
    TritonEndpoint,
    TritonModel,
)


def test_all_endpoints_are_told_at_their_paths_with_all_their_mistakes() -> None:
    host = Host()
    host.support()
    old = Instance(type="ml.g4dn.xlarge", ami="al2-ami-sagemaker-inference-gpu-2")
    host.endpoint("Driver", triton="25.12", instance=old)
    host.endpoint(
        "Props",
        instance=Instance(type="ml.g5.large", count=0),
        scaling=Scaling(min=4, max=2).scale_on_invocations(10),
    )
    model = TritonModel.multi_model("s3://their-models/zoo/", archives=["a", "a"])
    host.endpoint("Twice", model=model)
    host.endpoint("Right")
    problems = host.problems()
    text = "\n".join(problems)
    assert {line.split("]")[0] for line in problems} == {"[Host/Driver", "[Host/Props", "[Host/Twice"}
    assert "[Host/Driver] instance.ami: FL2" in text
    assert "[Host/Props] instance.count: FL112 `instance.count` is 0: it must be at least 1" in text
    assert "[Host/Props] scaling" in text and "`min` is 4 and `max` is 2" in text
    assert (
        "[Host/Twice] model.archives: FL112 `model.archives` is" in text
        and "two archives are named 'a'" in text
    )
    assert all("Traceback" not in line for line in problems)


def test_messages_name_props_where_they_are_not_called_as_keys() -> None:
    host = Host()
    host.support()
    host.endpoint(endpoint_name="bad name", container_environment={"1X": "2"}, model=TritonModel.single(DATA))
    assert [line.split("; remedy")[0] for line in host.problems()] == [
        "[Host/Embeddings] container_environment.1X: FL112 `container_environment.1X` is"
        ' "1X": it must match ^[a-zA-Z_][a-zA-Z0-9_]*$',
        "[Host/Embeddings] endpoint_name: FL112 `endpoint_name` is"
        ' "bad name": it must match ^[a-zA-Z0-9](-*[a-zA-Z0-9])*$',
    ]


def test_a_remedy_speaks_of_no_file_to_users_of_props() -> None:
    host = Host()
    host.support()
    host.endpoint(
        endpoint_name="bad name",
        cloudformation={"EndpointConfig": {"ProductionVariants.0.EnableSSMAccess": True}},
    )
    host.endpoint("Shell", cloudformation={"EndpointConfig": {"ProductionVariants.0.EnableSSMAccess": True}})
    EndpointSupport(host.stack, "Wrong", environment=FleetEnvironment(name="Prod-1"))
    remedies = [problem.split("; remedy: ")[1] for problem in host.problems()]
    assert sorted(remedies) == [
        "Fixed public name: letters, digits and inner hyphens, at most 63.",
        "leave it out, or write `shell_access: true` in the environment: a spec cannot `allow` it",
        "write lower-case letters and digits, with single hyphens between them",
    ]


def test_what_only_a_vpc_has_is_refused_without_one_beside_all_other_mistakes(tmp_path: Path) -> None:
    host = Host()
    host.support()
    group = ec2.SecurityGroup.from_security_group_id(host.stack, "Group", "sg-0000000a")
    subnets = ec2.SubnetSelection(subnet_group_name="Models")
    host.endpoint("Group1", security_groups=[group], instance=Instance(type="ml.g5.xlarge", count=0))
    host.endpoint("Both", security_groups=[group], vpc_subnets=subnets)
    host.endpoint("Empty", security_groups=[])
    file = tmp_path / "sentences.yaml"
    file.write_text(SPEC)
    TritonEndpoint.from_spec(
        host.stack,
        "Sentences",
        spec=file,
        environment="prod",
        model_data_url="s3://their-models/a.tar.gz",
        vpc_subnets=subnets,
    )
    problems = host.problems()
    assert len(problems) == 4
    told_problems = [problem for problem in problems if "FL111" in problem]
    remedy = "; remedy: give the VPC of these, or leave them out"
    assert told_problems == [
        f"[Host/Group1] vpc: FL111 `vpc` is missing, and `security_groups` is given{remedy}",
        f"[Host/Both] vpc: FL111 `vpc` is missing, and `vpc_subnets` and `security_groups` are given{remedy}",
        f"[Host/Sentences] vpc: FL111 `vpc` is missing, and `vpc_subnets` is given{remedy}",
    ]


def test_an_instance_type_that_does_not_exist_names_the_prop_and_the_remedy() -> None:
    host = Host()
    host.support()
    host.endpoint(instance=Instance(type="ml.g5.large"))
    (problem,) = host.problems()
    assert problem.startswith("[Host/Embeddings] instance.type: FL203 ")
    assert "ml.g5.large" in problem and "remedy: " in problem


def test_what_needs_the_artifact_bucket_without_a_support_names_its_prop_and_hides_no_other_mistake() -> None:
    host = Host()
    host.endpoint(capture=Capture(sample="10%"), instance=Instance(type="ml.g5.large"))
    problems = host.problems()
    assert len(problems) == 2
    (bucket_problem,) = [problem for problem in problems if "FL608" in problem]
    assert bucket_problem.startswith(
        "[Host/Embeddings] capture: FL608 `capture` needs an artifact bucket: environment 'prod' has none"
    )
    assert "EndpointSupport.from_environment" in bucket_problem


def test_archives_of_a_lock_need_the_artifact_bucket_too(tmp_path: Path) -> None:
    (tmp_path / "sentences.yaml").write_text(SPEC)
    (tmp_path / "sentences.lock.yaml").write_text(LOCK)
    host = Host()
    TritonEndpoint.from_spec(host.stack, "Sentences", spec=tmp_path / "sentences.yaml", environment="prod")
    (problem,) = host.problems()
    assert "FL608 `spec` without `model_data_url` needs an artifact bucket" in problem
    assert "remedy: give `model_data_url`, declare `EndpointSupport(" in problem


def test_an_environments_file_of_another_account_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "prod.yaml"
    file.write_text('environment: prod\naccount: "999922223333"\nregion: us-east-1\n')
    host = Host()
    host.support(environment=str(file))
    (problem,) = host.problems()
    assert "FL609" in problem and "'999922223333'" in problem and "'111122223333'" in problem


def test_a_mistake_in_the_props_of_an_environment_names_its_prop() -> None:
    host = Host()
    host.support(environment=FleetEnvironment(name="prod", kms_key="alias/mine"))
    (problem,) = host.problems()
    assert problem.startswith("[Host/Support] environment.kms_key: FL112 ")


def test_a_second_support_of_an_environment_is_refused() -> None:
    host = Host()
    host.support()
    EndpointSupport(host.stack, "Again", environment="prod")
    (problem,) = host.problems()
    assert problem.startswith("[Host/Again] FL610 Host/Support is the support of environment 'prod' already")


def test_model_data_that_is_neither_an_archive_nor_a_prefix_is_refused() -> None:
    host = Host()
    host.support()
    host.endpoint(model=TritonModel.single("their-models/a.zip"))
    (problem,) = host.problems()
    assert problem.startswith("[Host/Embeddings] model.model_data_url: FL219 ")


def test_neither_environment_nor_support_is_an_error() -> None:
    host = Host()
    TritonEndpoint(
        host.stack,
        "Embeddings",
        endpoint_name="embeddings",
        triton="25.04",
        instance=Instance(type="ml.g5.xlarge"),
        model=TritonModel.single(DATA),
    )
    (problem,) = host.problems()
    assert "neither `environment` nor `support` is given" in problem


def test_an_environment_that_is_not_the_supports_is_refused() -> None:
    host = Host()
    support = host.support()
    host.endpoint(support=support, environment="dev")
    (problem,) = host.problems()
    assert "`environment` is 'dev', and `support` is of 'prod'" in problem


def test_what_is_doubtful_is_an_annotation_that_can_be_acknowledged() -> None:
    host = Host()
    host.support()
    host.endpoint(
        rollout=Rollout(strategy="all-at-once", rollback_on=[]),
        instance=Instance(type="ml.g5.xlarge", count=1),
    )
    warnings = Annotations.from_stack(host.stack).find_warning("/Host/Embeddings", Match.any_value())
    assert warnings == [] or all("[ack: triton-fleet:FL" in str(warning.entry.data) for warning in warnings)


def test_a_support_of_another_region_is_refused() -> None:
    host = Host()
    support = host.support()
    west = Stack(host.app, "West", env=Environment(account=ACCOUNT, region="us-west-2"))
    host.endpoint(scope=west, support=support)
    (problem,) = host.problems()
    assert problem.startswith(
        "[West/Embeddings] FL608 `support` is of account 111122223333 and region 'us-east-1'"
    )


def test_an_endpoints_name_is_taken_once_whatever_its_case() -> None:
    host = Host()
    host.support()
    host.endpoint("One", endpoint_name="search")
    host.endpoint("Two", endpoint_name="Search")
    (problem,) = host.problems()
    assert problem.startswith("[Host/Two] FL613 Host/One declares an endpoint 'Search' of this account")


def test_two_stacks_of_one_app_share_a_support() -> None:
    app = App()
    shared_stack, own = Stack(app, "Shared", env=HOST_ENVIRONMENT), Stack(app, "Own", env=HOST_ENVIRONMENT)
    host = Host(app)
    host.support(shared_stack)
    host.endpoint(scope=own)
    assembly = app.synth()
    assert [
        dependency.id
        for dependency in assembly.get_stack_by_name("Own").dependencies
        if dependency.id != "Own.assets"
    ] == ["Shared"]


def test_under_the_cli_errors_are_annotations_which_it_prints_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    host = Host(is_audited=False)
    host.support()
    monkeypatch.setenv("CDK_OUTDIR", "cdk.out")
    endpoint = host.endpoint(instance=Instance(type="ml.g5.large"))
    assert host.problems() == []
    (error,) = Annotations.from_stack(host.stack).find_error("*", Match.any_value())
    assert error.id == "/Host/Embeddings"
    assert str(error.entry.data).startswith("instance.type: FL203 ")
    with pytest.raises(ValueError, match="FL203"):
        _ = endpoint.parts


def test_under_the_cli_errors_in_a_stage_fail_the_synth_as_it_reads_no_annotations_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = App()
    stack = Stack(Stage(app, "Prod", env=HOST_ENVIRONMENT), "Models")
    monkeypatch.setenv("CDK_OUTDIR", "cdk.out")
    EndpointSupport(stack, "Support", environment="prod")
    Host(app).endpoint(scope=stack, instance=Instance(type="ml.g5.large"))
    with pytest.raises(RuntimeError, match=r"\[Prod/Models/Embeddings\] instance.type: FL203"):
        app.synth()
