"""States of an account that a deploy finds: stacks under way, stuck or never made, and bootstraps of any age."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from moto.sagemaker.exceptions import ValidationError

from fleet_emulator.sagemaker.backend import EmbeddedSageMaker
from tests.support.deployment import DEPLOYMENT
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import TOPIC, Stacks, absent_model, endpoint
from tests.support.fleet_folder import FleetFolder
from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.destroy import destroy, plan_deletion
from triton_fleet.aws.deploy.failures import deploy_failure, is_of_new_role
from triton_fleet.aws.deploy.stack_repair import must_bootstrap, ready_stack
from triton_fleet.aws.inventory import FileState, Runs, take_inventory
from triton_fleet.aws.running_configuration import (
    endpoint_stacks,
    require_own_configuration,
    require_own_content,
)
from triton_fleet.awsapi.stack import find_stack
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.project import open_project

VERSION = "/cdk-bootstrap/test/version"


@pytest.fixture
def assembly(tmp_path: Path) -> Path:
    """A synthesised stack that needs version 6 of the bootstrap."""
    needs = {"requiresBootstrapStackVersion": 6, "bootstrapStackVersionSsmParameter": VERSION}
    artifacts = {"stack": {"properties": needs}, "tree": {"properties": {"file": "tree.json"}}, "bare": {}}
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
    return tmp_path


def refuse_question(question: str) -> bool:
    raise AssertionError(question)


def test_a_bootstrap_is_needed_where_there_is_none_or_one_too_old(access: Access, assembly: Path) -> None:
    assert must_bootstrap(access, assembly)
    for version, needed_version in {"5": True, "6": False, "31": False}.items():
        access.client("ssm").put_parameter(Name=VERSION, Value=version, Type="String", Overwrite=True)
        assert must_bootstrap(access, assembly) is needed_version


def test_a_bootstrap_whose_creation_failed_is_made_again_whatever_version_it_left(
    access: Access, assembly: Path, stacks: Stacks
) -> None:
    access.client("ssm").put_parameter(Name=VERSION, Value="31", Type="String", Overwrite=True)
    assert stacks.create("CDKToolkit", {"Broken": absent_model()}) == "ROLLBACK_COMPLETE"
    assert must_bootstrap(access, assembly)


def test_a_stack_that_is_under_way_is_waited_for(access: Access, stacks: Stacks, host: RecordingHost) -> None:
    cloudformation = access.client("cloudformation")
    host.may_finish.clear()
    template = json.dumps({"Resources": endpoint("slow")})
    cloudformation.create_stack(StackName="slow", TemplateBody=template)
    assert stacks.status("slow") == "CREATE_IN_PROGRESS"
    with ThreadPoolExecutor(1) as pool:
        waiting_future = pool.submit(ready_stack, access, "slow", refuse_question)
        host.may_finish.set()
        stack = waiting_future.result().stack
    assert stack is not None
    assert stack.status == "CREATE_COMPLETE"


def test_a_protected_stack_whose_creation_failed_can_be_deleted_by_the_cdk_cli(
    access: Access, stacks: Stacks
) -> None:
    cloudformation = access.client("cloudformation")
    stacks.create("guarded", {"Broken": absent_model()})
    cloudformation.update_termination_protection(StackName="guarded", EnableTerminationProtection=True)
    assert ready_stack(access, "guarded", refuse_question).stack is not None
    stack = find_stack(cloudformation, "guarded")
    assert stack is not None
    assert not stack.is_protected


def test_the_protection_of_a_stack_that_works_is_left_alone(access: Access, stacks: Stacks) -> None:
    cloudformation = access.client("cloudformation")
    stacks.create("kept", {"Topic": TOPIC})
    cloudformation.update_termination_protection(StackName="kept", EnableTerminationProtection=True)
    ready_stack(access, "kept", refuse_question)
    stack = find_stack(cloudformation, "kept")
    assert stack is not None
    assert stack.is_protected


def test_a_stack_that_was_planned_and_never_made_is_found_and_destroyed(access: Access) -> None:
    cloudformation = access.client("cloudformation")
    cloudformation.create_change_set(
        StackName="triton-fleet-dev-planned",
        ChangeSetName="plan",
        ChangeSetType="CREATE",
        TemplateBody=json.dumps({"Resources": {"Topic": TOPIC}}),
    )
    deletion = plan_deletion(access, "planned")
    assert deletion is not None
    assert (deletion.stack.status, deletion.types, deletion.endpoint) == ("REVIEW_IN_PROGRESS", [], None)
    destroy(access, deletion, lambda _: None)
    assert "planned" not in endpoint_stacks(cloudformation, DEPLOYMENT)


def test_a_deletion_that_fails_is_told_by_its_resource(access: Access, stacks: Stacks) -> None:
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "holds-something"}}
    stacks.create("triton-fleet-dev-full", {"Bucket": bucket})
    access.client("s3").put_object(Bucket="holds-something", Key="x", Body=b"x")
    deletion = plan_deletion(access, "full")
    assert deletion is not None
    assert deletion.types == ["AWS::S3::Bucket"]
    with pytest.raises(FindingsError, match="FL601: AWS::S3::Bucket of triton-fleet-dev-full: "):
        destroy(access, deletion, lambda _: None)


def test_an_endpoint_of_which_there_never_was_anything_is_unknown(access: Access, stacks: Stacks) -> None:
    stacks.create("triton-fleet-dev-known", {"Topic": TOPIC})
    stacks.create("triton-fleet-prod-other", {"Topic": TOPIC})
    with pytest.raises(FindingsError, match="FL606: no endpoint 'know' is deployed in 'dev'") as refusal:
        plan_deletion(access, "know")
    (finding,) = refusal.value.findings
    assert finding.hint == "did you mean `known`?"
    assert "other" not in endpoint_stacks(access.client("cloudformation"), DEPLOYMENT)


def test_an_endpoint_that_runs_something_else_than_its_stack_declares_is_told(
    access: Access, stacks: Stacks, folder: FleetFolder
) -> None:
    declared_endpoint = folder.resolve()
    stacks.create(declared_endpoint.stack, endpoint("sentences"))
    sagemaker = access.client("sagemaker")
    start_endpoint(access, declared_endpoint)
    deployed_config_name = sagemaker.describe_endpoint(EndpointName="sentences")["EndpointConfigName"]
    variants = sagemaker.describe_endpoint_config(EndpointConfigName=deployed_config_name)[
        "ProductionVariants"
    ]
    sagemaker.create_endpoint_config(EndpointConfigName="past-it", ProductionVariants=variants)
    sagemaker.update_endpoint(EndpointName="sentences", EndpointConfigName="past-it")
    text = f"FL605: sentences runs the configuration past-it, but its stack declares {deployed_config_name.lower()}"
    with pytest.raises(FindingsError, match=text):
        start_endpoint(access, declared_endpoint)
    sagemaker.delete_endpoint(EndpointName="sentences")
    with pytest.raises(FindingsError, match="FL605: sentences runs nothing"):
        start_endpoint(access, declared_endpoint)


def start_endpoint(access: Access, declared_endpoint: ResolvedEndpoint) -> None:
    require_own_configuration(access.client("sagemaker"), access.client("cloudformation"), declared_endpoint)


def test_an_endpoint_that_another_clone_has_deployed_meanwhile_is_told(
    access: Access, stacks: Stacks, folder: FleetFolder
) -> None:
    folder.spec(name="twin", base=text_of(folder, "twin"))
    folder.lock()
    own, sagemaker = folder.resolve("dev", "twin"), access.client("sagemaker")
    key = own.model_data
    access.client("s3").create_bucket(Bucket=own.deployment.bucket)
    for name in (key, "of-another"):
        access.client("s3").put_object(Bucket=own.deployment.bucket, Key=name, Body=b"archive")
    stacks.create(own.stack, endpoint("twin", data=own.model_data_url))
    require_own_content(sagemaker, own)
    stacks.update(own.stack, endpoint("twin", data=own.model_data_url.replace(key, "of-another")))
    start_endpoint(access, own)
    with pytest.raises(CannotRunError, match="another deploy replaced this one of twin") as refusal:
        require_own_content(sagemaker, own)
    assert refusal.value.remedy == "if this clone's lock is the one to deploy, run the command again"
    image = replace(own.image, is_own=True, digest=f"sha256:{5:064}")
    stacks.update(own.stack, endpoint("twin", data=own.model_data_url))
    with pytest.raises(CannotRunError, match="it runs .* in triton:25.04, not .* in sha256:0+5"):
        require_own_content(sagemaker, replace(own, image=image))


def test_broken_files_are_compared_as_broken(access: Access, folder: FleetFolder) -> None:
    folder.environment("tags: {}\n")
    folder.spec("unknown: 1\n", name="wrong", base=text_of(folder, "wrong"))
    folder.spec(name="stale", base=text_of(folder, "stale"))
    folder.write("locks/dev/stale.lock.yaml", "endpoint: stale\narchives: {}\n")
    folder.write("locks/dev/torn.lock.yaml", "endpoint: [\n")
    entries = {entry.name: entry for entry in take_inventory(open_project(folder.root, "dev"), access)}
    assert (entries["wrong"].spec, entries["wrong"].lock) == (FileState.INVALID, FileState.NO)
    assert (entries["stale"].spec, entries["stale"].lock) == (FileState.YES, FileState.STALE)
    assert (entries["torn"].spec, entries["torn"].lock) == (FileState.NO, FileState.INVALID)
    assert entries["sentences"].runs is Runs.NO_ENDPOINT
    assert entries["sentences"].remedy == "`fleet deploy --env dev sentences`"
    assert entries["stale"].remedy == "`fleet lock --env dev stale`"


def text_of(folder: FleetFolder, name: str) -> str:
    return (folder.root / "model_specs/sentences.yaml").read_text().replace("sentences", name)


NEW_ROLE = (
    "Could not assume role arn:aws:iam::123456789012:role/new. Please ensure that the role exists and allows "
    "principal 'sagemaker.amazonaws.com' to assume the role."
)


def creation(access: Access, name: str) -> FindingsError | CannotRunError:
    """Why a stack was not created."""
    return deploy_failure(access.client("cloudformation"), name, "", "see a.log", is_new=True)


def test_a_creation_that_failed_by_the_new_role_alone_is_known(
    access: Access, stacks: Stacks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ValidationError(NEW_ROLE)

    cloudformation = access.client("cloudformation")
    stacks.create("elsewise", {"Broken": absent_model()})
    other_error = creation(access, "elsewise")
    assert isinstance(other_error, FindingsError)
    assert not is_of_new_role(cloudformation, "elsewise", other_error)
    assert stacks.create("updated", {"Topic": TOPIC}) == "CREATE_COMPLETE"
    monkeypatch.setattr(EmbeddedSageMaker, "create_model", refuse)
    assert stacks.create("young", endpoint("young")) == "ROLLBACK_COMPLETE"
    young = creation(access, "young")
    assert isinstance(young, FindingsError)
    assert is_of_new_role(cloudformation, "young", young)
    assert stacks.update("updated", endpoint("updated")) == "UPDATE_ROLLBACK_COMPLETE"
    error = creation(access, "updated")
    assert isinstance(error, FindingsError)
    assert not is_of_new_role(cloudformation, "updated", error)
