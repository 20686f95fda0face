"""The key of an image has the digest of the image that it is built on: builds and locks read it, all else knows it."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from fleet.check.lock_drift import stale_findings
from fleet.cli.commands import app
from fleet.exits import run_to_exit
from fleet.findings import CannotRunError, FindingsError
from fleet.spec.project import open_project
from fleet_folder import SPEC, FleetFolder
from image_bases import BASE, BUILT, MOVED, ImageFleet
from image_builds import DIGEST, START

ASKED = "763104351884/sagemaker-tritonserver:25.04-py3"
UNKNOWN = "known once `fleet images build` and `fleet lock` have read the digest of the base"
NAME = "sagemaker-tritonserver:25.04-py3"


@pytest.fixture
def fleet(folder: FleetFolder) -> ImageFleet:
    return ImageFleet(folder)


def stale(fleet: ImageFleet) -> list[str]:
    found = stale_findings(open_project(fleet.folder.root, "dev"), "sentences")
    return [f"{each.code} {each.message}" for each in found]


def refused(fleet: ImageFleet) -> str:
    with pytest.raises(FindingsError) as raised:
        fleet.write_lock()
    (found,) = raised.value.findings
    return f"{found.code} {found.message} | {found.hint}"


def without_base(fleet: ImageFleet) -> None:
    """The lock as a version wrote it that knew no base."""
    document = yaml.safe_load(fleet.lock_file.read_text())
    del document["image"]["base"]
    fleet.lock_file.write_text(yaml.safe_dump(document))


class TestBuild:
    def test_it_stands_on_the_digest_that_the_tag_names(self, fleet: ImageFleet) -> None:
        (image,) = fleet.wanted()
        assert image.base.reference == f"763104351884.dkr.ecr.us-east-1.amazonaws.com/{NAME}@{BASE}"
        assert fleet.registry.asked == [ASKED]

    def test_a_base_whose_tag_moved_is_another_key(self, fleet: ImageFleet) -> None:
        (before,) = fleet.wanted()
        fleet.registry.digest = MOVED
        (after,) = fleet.wanted()
        assert before.key != after.key

    def test_the_registry_is_asked_once_for_each_base(self, fleet: ImageFleet) -> None:
        for name in ("a", "b"):
            spec = SPEC.replace("sentences", name)
            fleet.folder.spec("image: {build: ../images/detector}\n", name, base=spec)
        fleet.folder.spec(
            "image: {build: ../images/detector}\n",
            "c",
            base=SPEC.replace("sentences", "c").replace("ml.g5.xlarge", "ml.c5.xlarge"),
        )
        wanted = fleet.wanted()
        assert [[use.endpoint for use in each.uses] for each in wanted] == [["a", "b", "sentences"], ["c"]]
        assert fleet.registry.asked == [ASKED, f"{ASKED}-cpu"]

    def test_a_digest_in_the_spec_is_not_asked_for_and_is_the_same_key(self, fleet: ImageFleet) -> None:
        (tagged,) = fleet.wanted()
        fleet.registry.asked.clear()
        fleet.spec(f"image_digest: {BASE}\n")
        (pinned,) = fleet.wanted()
        assert (pinned.key, fleet.registry.asked) == (tagged.key, [])

    def test_a_registry_that_may_not_be_read_names_the_permission(self, fleet: ImageFleet) -> None:
        fleet.registry.digest = None
        with pytest.raises(CannotRunError, match="on which sentences is built: no") as raised:
            fleet.wanted()
        assert raised.value.remedy == (
            "allow ecr:BatchGetImage on arn:aws:ecr:us-east-1:763104351884:repository/sagemaker-tritonserver,"
            " or write `image_digest` in the spec"
        )

    def test_a_release_that_the_registry_does_not_have_is_told_at_the_spec(self, fleet: ImageFleet) -> None:
        fleet.registry.digest = ""
        with pytest.raises(FindingsError) as raised:
            fleet.wanted()
        (found,) = raised.value.findings
        assert (found.code, found.line) == ("FL628", 6)
        assert f"does not have 763104351884.dkr.ecr.us-east-1.amazonaws.com/{NAME}," in found.message


class TestLock:
    def test_the_lock_records_the_bases_digest(self, fleet: ImageFleet) -> None:
        key = fleet.build()
        locked = fleet.write_lock()
        assert (locked.key, locked.base, locked.digest) == (key, BASE, BUILT)
        assert f"image:\n  key: {key}\n  base: {BASE}\n  digest:" in fleet.lock_file.read_text()

    def test_a_digest_of_the_spec_is_recorded_as_well(self, fleet: ImageFleet) -> None:
        fleet.spec(f"image_digest: {MOVED}\n")
        fleet.build()
        assert fleet.write_lock().base == MOVED

    def test_a_tag_that_moved_since_the_build_is_not_built_and_said_to_have_moved(
        self, fleet: ImageFleet
    ) -> None:
        fleet.build()
        fleet.write_lock()
        fleet.registry.digest = MOVED
        assert refused(fleet) == (
            "FL968 the image of sentences is not built in 'dev': since the lock was written, the tag"
            f" {NAME} moved to {MOVED}"
            " | run `fleet images build --env dev sentences`, then this command again;"
            f" or write `image_digest: {BASE}`, on which the lock's image is built"
        )

    def test_the_former_digest_in_the_spec_keeps_the_image(self, fleet: ImageFleet) -> None:
        fleet.build()
        before = fleet.write_lock()
        fleet.registry.digest = MOVED
        fleet.spec(f"image_digest: {BASE}\n")
        assert fleet.write_lock() == before

    def test_of_a_changed_folder_nobody_knows_whether_the_tag_moved(self, fleet: ImageFleet) -> None:
        fleet.build()
        fleet.write_lock()
        fleet.registry.digest = MOVED
        fleet.folder.write("images/detector/Dockerfile", f"{START}ENV A=1\n")
        assert refused(fleet) == (
            "FL968 the image of sentences is not built in 'dev' | run `fleet images build --env dev"
            " sentences`, then this command again"
        )

    def test_without_an_answer_of_the_registry_the_former_base_counts(self, fleet: ImageFleet) -> None:
        fleet.build()
        before = fleet.write_lock()
        fleet.registry.digest = None
        assert fleet.write_lock() == before
        fleet.folder.write("images/detector/Dockerfile", f"{START}ENV A=1\n")
        fleet.registry.digest = BASE
        key = fleet.build()
        fleet.registry.digest = None
        assert fleet.write_lock().key == key

    def test_without_any_answer_the_former_lock_is_kept(self, fleet: ImageFleet) -> None:
        fleet.build()
        before = fleet.write_lock()
        assert fleet.write_lock_offline() == before

    def test_without_a_former_base_the_permission_is_named(self, fleet: ImageFleet) -> None:
        fleet.build()
        fleet.write_lock()
        without_base(fleet)
        fleet.registry.digest = None
        with pytest.raises(CannotRunError, match="no permission to read the digest"):
            fleet.write_lock()

    def test_without_a_record_on_the_former_base_the_permission_is_named(self, fleet: ImageFleet) -> None:
        fleet.build()
        fleet.write_lock()
        fleet.registry.digest = None
        fleet.folder.write("images/detector/Dockerfile", f"{START}ENV A=1\n")
        with pytest.raises(CannotRunError, match="no permission to read the digest"):
            fleet.write_lock()


class TestWithoutAws:
    def test_check_knows_the_key_by_the_locks_base(self, fleet: ImageFleet) -> None:
        fleet.build()
        fleet.write_lock()
        asked = len(fleet.registry.asked)
        assert (stale(fleet), len(fleet.registry.asked)) == ([], asked)
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
        assert [each for each in stale(fleet) if each.startswith("FL969")]

    def test_a_lock_without_a_base_is_stale(self, fleet: ImageFleet) -> None:
        fleet.build()
        fleet.write_lock()
        without_base(fleet)
        assert stale(fleet) == [
            "FL969 the lock does not record the digest of the release's image that its image is built on"
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
    def told(
        self, fleet: ImageFleet, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> Any:
        monkeypatch.chdir(fleet.folder.root)

        def told(*arguments: str) -> str:
            run_to_exit(lambda: app(["images", *arguments, "--env", "dev"], standalone_mode=False))
            return capsys.readouterr().out

        return told

    def test_before_a_lock_the_key_is_known_once_the_base_was_read(
        self, fleet: ImageFleet, told: Any
    ) -> None:
        assert f"key: {UNKNOWN}\n" in told("plan")
        assert f"the release's image: {NAME}, by its digest\n" in told("explain", "sentences")
        (planned,) = json.loads(told("plan", "--format", "json"))
        assert (planned["key"], planned["tag"], planned["base"][-len(NAME) :]) == (None, None, NAME)

    def test_with_a_lock_the_key_follows_from_its_base(self, fleet: ImageFleet, told: Any) -> None:
        key = fleet.build()
        fleet.write_lock()
        assert f"  key: {key}\n" in told("plan")
        assert f"the release's image: {NAME}@{BASE}\n" in told("explain", "sentences")
        (planned,) = json.loads(told("plan", "--format", "json"))
        assert planned["key"] == key
        assert planned["base"].endswith(f"{NAME}@{BASE}")
        assert planned["locked"]["base"] == BASE

    def test_after_a_change_the_locks_base_may_be_of_another_release(
        self, fleet: ImageFleet, told: Any
    ) -> None:
        fleet.build()
        fleet.write_lock()
        fleet.spec(base=SPEC.replace("25.04", "24.09"))
        shown = told("plan")
        assert "key: known once" in shown
        assert f"{BUILT}; the folder, its arguments or the release changed since" in shown
        assert BASE not in shown

    def test_with_a_digest_in_the_spec_the_key_is_known(self, fleet: ImageFleet, told: Any) -> None:
        fleet.spec(f"image_digest: {BASE}\n")
        (image,) = fleet.wanted()
        assert f"  key: {image.key}\n" in told("plan")
