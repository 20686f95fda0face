"""An image is locked by its inputs without AWS; its build pins the release's image, and the lock records that."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml

from tests.support.fleet_folder import SPEC
from tests.support.image_bases import BASE, BUILT_DIGEST, MOVED_BASE, ImageFleet
from tests.support.image_builds import DIGEST, START
from triton_fleet.check.lock_drift import stale_findings
from triton_fleet.cli.commands import app
from triton_fleet.exits import run_to_exit
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.project import open_project

BASE_IMAGE = "763104351884/sagemaker-tritonserver:25.04-py3"
NAME = "sagemaker-tritonserver:25.04-py3"


def stale(fleet: ImageFleet) -> list[str]:
    findings = stale_findings(open_project(fleet.folder.root, "dev"), "sentences")
    return [f"{finding.code} {finding.message}" for finding in findings]


def without_base(fleet: ImageFleet) -> None:
    """The lock as a version wrote it that knew no base, and so had another key."""
    document = yaml.safe_load(fleet.lock_file.read_text())
    del document["image"]["base"]
    fleet.lock_file.write_text(yaml.safe_dump(document))


class TestBuild:
    def test_it_stands_on_the_digest_that_the_tag_names(self, fleet: ImageFleet) -> None:
        (image,) = fleet.wanted_images()
        assert image.base.reference == f"763104351884.dkr.ecr.us-east-1.amazonaws.com/{NAME}@{BASE}"
        assert fleet.registry.requests == [BASE_IMAGE]

    def test_it_is_on_the_base_that_the_lock_of_an_earlier_build_records(self, fleet: ImageFleet) -> None:
        key = fleet.build()
        fleet.write_lock()
        fleet.registry.digest = MOVED_BASE
        (image,) = fleet.wanted_images()
        assert (image.key, image.base.digest) == (key, BASE)

    def test_a_changed_folder_is_built_on_what_the_tag_names_now(self, fleet: ImageFleet) -> None:
        key = fleet.build()
        fleet.write_lock()
        fleet.registry.digest = MOVED_BASE
        fleet.folder.write("images/detector/Dockerfile", f"{START}ENV A=1\n")
        (image,) = fleet.wanted_images()
        assert image.key != key
        assert image.base.digest == MOVED_BASE

    def test_the_registry_is_asked_once_for_each_base(self, fleet: ImageFleet) -> None:
        for name in ("a", "b"):
            spec = SPEC.replace("sentences", name)
            fleet.folder.spec("image: {build: ../images/detector}\n", name, base=spec)
        fleet.folder.spec(
            "image: {build: ../images/detector}\n",
            "c",
            base=SPEC.replace("sentences", "c").replace("ml.g5.xlarge", "ml.c5.xlarge"),
        )
        expected_images = fleet.wanted_images()
        assert [[use.endpoint for use in expected_image.uses] for expected_image in expected_images] == [
            ["a", "b", "sentences"],
            ["c"],
        ]
        assert fleet.registry.requests == [BASE_IMAGE, f"{BASE_IMAGE}-cpu"]

    def test_a_digest_in_the_spec_is_not_asked_for_and_is_part_of_the_key(self, fleet: ImageFleet) -> None:
        (image,) = fleet.wanted_images()
        fleet.registry.requests.clear()
        fleet.spec(f"image_digest: {BASE}\n")
        (pinned_image,) = fleet.wanted_images()
        fleet.spec(f"image_digest: {MOVED_BASE}\n")
        (other_image,) = fleet.wanted_images()
        assert len({image.key, pinned_image.key, other_image.key}) == 3
        assert (pinned_image.base.digest, other_image.base.digest, fleet.registry.requests) == (
            BASE,
            MOVED_BASE,
            [],
        )

    def test_a_registry_that_may_not_be_read_names_the_permission(self, fleet: ImageFleet) -> None:
        fleet.registry.digest = None
        with pytest.raises(CannotRunError, match="on which sentences is built: no") as error_info:
            fleet.wanted_images()
        assert error_info.value.remedy == (
            "allow ecr:BatchGetImage on arn:aws:ecr:us-east-1:763104351884:repository/sagemaker-tritonserver,"
            " or write `image_digest` in the spec"
        )

    def test_a_release_that_the_registry_does_not_have_is_told_at_the_spec(self, fleet: ImageFleet) -> None:
        fleet.registry.digest = ""
        with pytest.raises(FindingsError) as error_info:
            fleet.wanted_images()
        (finding,) = error_info.value.findings
        assert (finding.code, finding.line) == ("FL628", 6)
        assert f"does not have 763104351884.dkr.ecr.us-east-1.amazonaws.com/{NAME}," in finding.message


class TestLock:
    def test_the_lock_records_the_bases_digest(self, fleet: ImageFleet) -> None:
        key = fleet.build()
        locked_image = fleet.write_lock()
        assert (locked_image.key, locked_image.base, locked_image.digest) == (key, BASE, BUILT_DIGEST)
        assert f"image:\n  key: {key}\n  base: {BASE}\n  digest:" in fleet.lock_file.read_text()

    def test_a_digest_of_the_spec_is_recorded_as_well(self, fleet: ImageFleet) -> None:
        fleet.spec(f"image_digest: {MOVED_BASE}\n")
        fleet.build()
        assert fleet.write_lock().base == MOVED_BASE

    def test_a_tag_that_moved_since_the_build_changes_nothing(self, fleet: ImageFleet) -> None:
        fleet.build()
        before = fleet.write_lock()
        fleet.registry.digest = MOVED_BASE
        assert (fleet.write_lock(), fleet.registry.requests) == (before, [BASE_IMAGE])

    def test_the_former_digest_in_the_spec_keeps_the_image(self, fleet: ImageFleet) -> None:
        fleet.build()
        before = fleet.write_lock()
        fleet.registry.digest = MOVED_BASE
        fleet.spec(f"image_digest: {BASE}\n")
        assert fleet.write_lock() == before

    def test_an_image_that_was_built_again_is_recorded_in_place_of_the_lost_one(
        self, fleet: ImageFleet
    ) -> None:
        fleet.build()
        fleet.write_lock()
        fleet.build(DIGEST)
        assert fleet.write_lock().digest == DIGEST


class TestWithoutAws:
    def test_check_knows_the_key(self, fleet: ImageFleet) -> None:
        fleet.build()
        fleet.write_lock()
        requested_number = len(fleet.registry.requests)
        assert (stale(fleet), len(fleet.registry.requests)) == ([], requested_number)
        fleet.folder.write("images/detector/Dockerfile", f"{START}ENV A=1\n")
        assert stale(fleet) == [
            "FL969 the folder, its arguments or the release changed since the lock was written"
        ]

    def test_the_locks_digest_in_the_spec_is_the_same_image(self, fleet: ImageFleet) -> None:
        fleet.build()
        fleet.write_lock()
        fleet.spec(f"image_digest: {BASE}\n")
        assert stale(fleet) == []

    def test_another_digest_in_the_spec_makes_the_lock_stale(self, fleet: ImageFleet) -> None:
        fleet.build()
        fleet.write_lock()
        fleet.spec(f"image_digest: {DIGEST}\n")
        assert stale(fleet) == [
            f"FL969 the lock's image is built on {BASE}, but `image_digest` of the spec is {DIGEST}"
        ]

    @pytest.mark.parametrize("change", [('"25.04"', '"24.09"'), ("ml.g5.xlarge", "ml.c5.xlarge")])
    def test_another_release_or_a_cpu_makes_the_lock_stale(
        self, fleet: ImageFleet, change: tuple[str, str]
    ) -> None:
        fleet.build()
        fleet.write_lock()
        fleet.spec(base=SPEC.replace(*change))
        assert [line for line in stale(fleet) if line.startswith("FL969")]

    def test_a_lock_of_an_earlier_version_has_the_base_in_its_key(self, fleet: ImageFleet) -> None:
        (source,) = fleet.sources()
        former = replace(source, base=replace(source.base, digest=BASE)).key
        fleet.build()
        document = fleet.write_lock().model_dump(mode="json", exclude_defaults=True)
        lock = yaml.safe_load(fleet.lock_file.read_text()) | {"image": document | {"key": former}}
        fleet.lock_file.write_text(yaml.safe_dump(lock))
        assert stale(fleet) == []
        assert fleet.write_lock_offline().key == former
        without_base(fleet)
        assert stale(fleet) == [
            "FL969 the folder, its arguments or the release changed since the lock was written"
        ]

    def test_a_base_belongs_to_an_image_that_was_built(self, fleet: ImageFleet) -> None:
        fleet.build()
        fleet.write_lock()
        document = yaml.safe_load(fleet.lock_file.read_text())
        del document["image"]["key"]
        fleet.lock_file.write_text(yaml.safe_dump(document))
        with pytest.raises(FindingsError, match="`base` belongs to `key`"):
            fleet.lock()


class TestPlan:
    """`fleet images plan` and `explain`, which ask nobody."""

    @pytest.fixture
    def drift_messages(
        self, fleet: ImageFleet, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> Any:
        monkeypatch.chdir(fleet.folder.root)

        def message_of_drift(*arguments: str) -> str:
            run_to_exit(lambda: app(["images", *arguments, "--env", "dev"], standalone_mode=False))
            return capsys.readouterr().out

        return message_of_drift

    def test_before_a_build_the_key_is_known_and_the_base_is_not_pinned(
        self, fleet: ImageFleet, drift_messages: Any
    ) -> None:
        (source,) = fleet.sources()
        text = drift_messages("plan")
        assert f"key: {source.key}\n" in text
        assert f"{NAME}, by the digest that its tag has when the image is built\n" in text
        assert f"the release's image: {NAME}\n" in drift_messages("explain", "sentences")
        fleet.write_lock_offline()
        assert "lock: not built when it was written\n" in drift_messages("plan")
        assert "contents, from the lock, as expected of a build\n" in drift_messages("explain", "sentences")
        (plan,) = json.loads(drift_messages("plan", "--format", "json"))
        assert (plan["key"], plan["tag"]) == (source.key, source.key.removeprefix("sha256:"))
        assert plan["base"].endswith(NAME)

    def test_with_a_lock_of_a_build_its_base_is_shown(self, fleet: ImageFleet, drift_messages: Any) -> None:
        key = fleet.build()
        fleet.write_lock()
        assert f"  key: {key}\n" in drift_messages("plan")
        (plan,) = json.loads(drift_messages("plan", "--format", "json"))
        assert plan["key"] == key
        assert plan["base"].endswith(f"{NAME}@{BASE}")
        assert plan["locked"]["base"] == BASE

    def test_after_a_change_the_locks_base_may_be_of_another_release(
        self, fleet: ImageFleet, drift_messages: Any
    ) -> None:
        fleet.build()
        fleet.write_lock()
        fleet.spec(base=SPEC.replace("25.04", "24.09"))
        text = drift_messages("plan")
        assert f"{BUILT_DIGEST}; the folder, its arguments or the release changed since" in text
        assert BASE not in text

    def test_with_a_digest_in_the_spec_the_key_is_known(self, fleet: ImageFleet, drift_messages: Any) -> None:
        fleet.spec(f"image_digest: {BASE}\n")
        (image,) = fleet.wanted_images()
        assert f"  key: {image.key}\n" in drift_messages("plan")
