"""An image from its Dockerfile to the endpoint: built by Foundation's project, locked, deployed by its digest.

CodeBuild runs the real build script; Docker is a stand-in, which assembles the image and runs nothing of it.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from fleet_emulator.registry import backend
from tests.support.container_images import FILES, ContainerRepository, layer
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import Stacks
from tests.support.fleet_folder import SPEC
from tests.support.image_fleet import ACCOUNT, DEPLOYMENT, DOCKERFILE, ImageFleet
from triton_fleet.check.run import checked_fleet
from triton_fleet.project.project import open_project

pytestmark = pytest.mark.nightly


def keys(s3: Any, prefix: str) -> list[str]:
    contents = s3.list_objects_v2(Bucket=DEPLOYMENT.bucket, Prefix=prefix).get("Contents", [])
    return [content["Key"] for content in contents]


def test_an_image_is_built_locked_and_listed(fleet: ImageFleet) -> None:
    fleet.succeed("lock", "--env", "dev")
    assert fleet.lock["image"].keys() == {"key", "expected"}
    assert fleet("check", "--env", "dev").returncode == 0
    text = fleet.succeed("images", "build", "--env", "dev")
    assert "sentences: built, triton-fleet-dev@sha256:" in text
    assert fleet.succeed("images", "build", "--env", "dev").startswith("sentences: already present")
    fleet.succeed("lock", "--env", "dev")
    image = fleet.lock["image"]
    facts = image["facts"]
    assert (facts["triton"], facts["architecture"], facts["multi_model"]) == ("25.04", "linux/amd64", True)
    assert facts["packages"]["einops"] == "0.8.0"
    ecr = client(fleet.aws, "ecr")
    assert facts["media_type"] == "application/vnd.docker.distribution.manifest.v2+json"
    (stored_image_detail,) = ecr.describe_images(
        repositoryName="triton-fleet-dev", imageIds=[{"imageDigest": image["digest"]}]
    )["imageDetails"]
    assert stored_image_detail["imageTags"] == [image["key"].removeprefix("sha256:")]
    (entries,) = json.loads(fleet.succeed("images", "ls", "--env", "dev", "--format", "json"))
    assert (entries["digest"], entries["needed_by"]) == (image["digest"], ["sentences"])


def test_the_endpoint_runs_the_image_by_its_digest_and_its_role_may_pull_it(fleet: ImageFleet) -> None:
    fleet.succeed("images", "build", "--env", "dev")
    fleet.succeed("lock", "--env", "dev")
    resources = fleet.template()["Resources"].values()
    repository = f"{ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/triton-fleet-dev"
    assert fleet.image == f"{repository}@{fleet.lock['image']['digest']}"
    text = json.dumps([resource for resource in resources if resource["Type"] == "AWS::IAM::Policy"])
    assert f"arn:aws:ecr:us-east-1:{ACCOUNT}:repository/triton-fleet-dev" in text
    assert "763104351884" not in text
    fleet.succeed("publish", "--env", "dev")
    ours = {
        name: resource
        for name, resource in fleet.template()["Resources"].items()
        if resource["Type"] in ("AWS::SageMaker::Model", "AWS::IAM::Role", "AWS::IAM::Policy")
    }
    assert Stacks(fleet.aws).create("one-model", ours) == "CREATE_COMPLETE"
    assert "image.build` of the spec" in fleet.succeed("show", "sentences", "--env", "dev")


def test_a_change_of_the_folder_is_another_image_and_said_before_a_deploy(fleet: ImageFleet) -> None:
    fleet.succeed("images", "build", "--env", "dev")
    fleet.succeed("lock", "--env", "dev")
    before = fleet.lock["image"]["digest"]
    assert fleet("check", "--env", "dev").returncode == 0
    fleet.folder.write("images/detector/labels.txt", "cat\n")
    result = fleet("check", "--env", "dev")
    assert result.returncode == 1
    assert "model_specs/sentences.yaml:6:9: error[stale-image] FL969" in result.stderr
    fleet.succeed("images", "build", "--env", "dev")
    fleet.succeed("lock", "--env", "dev")
    assert fleet("check", "--env", "dev").returncode == 0
    assert fleet.lock["image"]["digest"] != before


def test_what_is_doubtful_about_a_dockerfile_is_shown_and_holds_nothing_up(fleet: ImageFleet) -> None:
    fleet.dockerfile(f'{DOCKERFILE}CMD ["other"]\n')
    result = fleet("images", "build", "--env", "dev")
    assert result.returncode == 0
    assert "images/detector/Dockerfile:7: warning[ineffective-command] FL935" in result.stderr
    fleet.succeed("lock", "--env", "dev")
    check = fleet("check", "--env", "dev")
    assert (check.returncode, "FL935" in check.stderr + check.stdout) == (0, True)
    assert checked_fleet(open_project(fleet.folder.root, "dev")).endpoints[0].image.is_own


def test_an_instruction_that_fails_is_told_with_the_end_of_the_log(fleet: ImageFleet) -> None:
    fleet.dockerfile(f"{DOCKERFILE}HEALTHCHECK CMD true\n")
    result = fleet("images", "build", "--env", "dev")
    assert result.returncode == 1
    assert (
        "error[unbuildable-image] FL967: the image was not built: the image does not build" in result.stderr
    )
    assert "HEALTHCHECK" in result.stderr


def test_a_mistake_in_the_dockerfile_is_told_before_anything_is_built(fleet: ImageFleet) -> None:
    fleet.dockerfile(DOCKERFILE.replace("labels.txt /opt", "../labels.txt /opt"))
    result = fleet("images", "build", "--env", "dev")
    assert result.returncode == 1
    assert "images/detector/Dockerfile:6: error[" in result.stderr
    assert fleet("images", "plan", "--env", "dev").returncode == 1


def test_a_push_without_a_record_is_recorded_by_the_next_build(fleet: ImageFleet) -> None:
    fleet.succeed("images", "build", "--env", "dev")
    fleet.succeed("lock", "--env", "dev")
    image, s3 = fleet.lock["image"], client(fleet.aws, "s3")
    key = f"images/built/{image['key'].removeprefix('sha256:')}/manifest.json"
    s3.delete_object(Bucket=DEPLOYMENT.bucket, Key=key)
    assert "sentences: built" in fleet.succeed("images", "build", "--env", "dev")
    (fleet.folder.root / "locks/dev/sentences.lock.yaml").unlink()
    fleet.succeed("lock", "--env", "dev")
    assert fleet.lock["image"]["digest"] == image["digest"]


def test_a_push_that_does_not_say_what_it_contains_is_told_with_its_remedy(fleet: ImageFleet) -> None:
    fleet.dockerfile(f"{DOCKERFILE}ENV FORGOTTEN=yes\n")
    fleet.succeed("images", "build", "--env", "dev")
    fleet.succeed("lock", "--env", "dev")
    s3, image = client(fleet.aws, "s3"), fleet.lock["image"]["key"].removeprefix("sha256:")
    for name in ("manifest.json", "draft.json"):
        s3.delete_object(Bucket=DEPLOYMENT.bucket, Key=f"images/built/{image}/{name}")
    result = fleet("images", "build", "--env", "dev")
    assert result.returncode == 1
    assert "aws ecr batch-delete-image --repository-name triton-fleet-dev" in result.stderr


def test_an_image_of_another_endpoint_is_not_read(fleet: ImageFleet) -> None:
    theirs = f"{ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/triton-fleet-dev@sha256:{'a' * 64}"
    fleet.dockerfile(f"{DOCKERFILE}COPY --from={theirs} /models /stolen\n")
    for command in (["images", "build"], ["images", "plan"], ["lock"], ["check"]):
        result = fleet(*command, "--env", "dev")
        assert (result.returncode, "FL943" in result.stdout + result.stderr) == (1, True), command


def test_a_publish_builds_the_image_that_the_lock_expects_and_a_second_lock_pins_it(
    fleet: ImageFleet,
) -> None:
    fleet.dockerfile(f"{DOCKERFILE}ENV BUILT_BY=publish\n")
    fleet.succeed("lock", "--env", "dev")
    key = fleet.lock["image"]["key"]
    repository = f"{ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/triton-fleet-dev"
    assert fleet.image == f"{repository}:{key.removeprefix('sha256:')}"
    published_text = fleet.succeed("publish", "--env", "dev")
    assert "`fleet lock --env dev sentences` records it, for review" in published_text
    fleet.succeed("lock", "--env", "dev")
    image = fleet.lock["image"]
    assert (image["key"], image["facts"]["triton"]) == (key, "25.04")
    assert f"sentences: the image is {image['digest']};" in published_text
    assert fleet.image == f"{repository}@{image['digest']}"
    assert "the image is" not in fleet.succeed("publish", "--env", "dev")


def test_a_release_that_is_published_again_is_built_on_if_the_spec_names_its_digest(
    fleet: ImageFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.dockerfile(f"{DOCKERFILE}ENV PUBLISHED=again\n")
    fleet.succeed("images", "build", "--env", "dev")
    fleet.succeed("lock", "--env", "dev")
    before, second_text = fleet.lock["image"], f"sha256:{hashlib.sha256(b'again').hexdigest()}"
    monkeypatch.setattr(backend, "_digest_of", lambda _: second_text)
    fleet.succeed("lock", "--env", "dev")
    assert fleet.lock["image"] == before
    spec = fleet.folder.root / "model_specs" / "sentences.yaml"
    spec.write_text(f"{spec.read_text()}image_digest: {second_text}\n")
    assert fleet("check", "--env", "dev").returncode == 1
    assert "sentences: built" in fleet.succeed("images", "build", "--env", "dev")
    fleet.succeed("lock", "--env", "dev")
    after = fleet.lock["image"]
    assert (before["base"] == after["base"], after["base"]) == (False, second_text)
    assert before["key"] != after["key"]
    record = f"images/built/{after['key'].removeprefix('sha256:')}/manifest.json"
    content = client(fleet.aws, "s3").get_object(Bucket=DEPLOYMENT.bucket, Key=record)["Body"].read()
    assert json.loads(content)["base"].endswith(f"/sagemaker-tritonserver:25.04-py3@{second_text}")


def test_plan_and_explain_show_what_the_key_follows_from(fleet: ImageFleet) -> None:
    plan = fleet.succeed("images", "plan", "--env", "dev")
    assert "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3" in plan
    text = fleet.succeed("images", "explain", "sentences", "--env", "dev")
    assert "the build argument GREETING=servus" in text
    assert "labels.txt: sha256:" in text
    fleet.succeed("lock", "--env", "dev")
    (plan,) = json.loads(fleet.succeed("images", "plan", "--env", "dev", "--format", "json"))
    assert plan["key"] == fleet.lock["image"]["key"]
    assert plan["tag"] == plan["key"].removeprefix("sha256:")


def test_a_lock_whose_image_is_gone_is_refused_before_anything_is_uploaded(fleet: ImageFleet) -> None:
    fleet.succeed("images", "build", "--env", "dev")
    fleet.succeed("lock", "--env", "dev")
    ecr, digest = client(fleet.aws, "ecr"), fleet.lock["image"]["digest"]
    ecr.batch_delete_image(repositoryName="triton-fleet-dev", imageIds=[{"imageDigest": digest}])
    s3 = client(fleet.aws, "s3")
    for key in keys(s3, "endpoints/"):
        s3.delete_object(Bucket=DEPLOYMENT.bucket, Key=key)
    result = fleet("publish", "--env", "dev")
    assert result.returncode == 1
    assert "model_specs/sentences.yaml:6" in result.stderr
    assert "error[missing-image] FL628: the image of sentences" in result.stderr
    assert "run `fleet images build --env dev sentences`" in result.stderr
    assert keys(s3, "endpoints/") == []
    (entries,) = [
        entry
        for entry in json.loads(fleet.succeed("images", "ls", "--env", "dev", "--format", "json"))
        if entry["digest"] == digest
    ]
    assert entries["exists"] is False
    assert "sentences: built" in fleet.succeed("images", "build", "--env", "dev")
    fleet.succeed("lock", "--env", "dev")
    fleet.succeed("publish", "--env", "dev")


def test_an_image_that_exists_is_locked_with_the_facts_that_its_registry_shows(fleet: ImageFleet) -> None:
    text = ContainerRepository(client(fleet.aws, "ecr"), "theirs").push([layer(FILES)], tag="one")
    uri = f"{ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/theirs"
    fleet.folder.spec(f"image: {{uri: {uri}, digest: '{text}'}}\n", base=SPEC)
    fleet.succeed("lock", "--env", "dev")
    assert fleet.lock["image"]["digest"] == text
    assert fleet.lock["image"]["facts"]["cuda"] == "12.9"
    assert f"{uri}@{text}" in fleet.succeed("show", "sentences", "--env", "dev")
    inspected_text = fleet.succeed("images", "inspect", f"{uri}:one", "--env", "dev")
    assert f"digest: {text}" in inspected_text
    fleet.succeed("lock", "--env", "dev")
    assert fleet("check", "--env", "dev").returncode == 0
    gone_text = f"sha256:{7:064}"
    fleet.folder.spec(f"image: {{uri: {uri}, digest: '{gone_text}'}}\n", base=SPEC)
    result = fleet("lock", "--env", "dev")
    assert result.returncode == 1
    assert f"the registry does not have, or no longer has, the digest {gone_text}" in result.stderr
    assert "model_specs/sentences.yaml:6" in result.stderr
