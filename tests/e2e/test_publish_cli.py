"""`fleet publish` as it is run: against an account, which is an embedded AWS."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from botocore.exceptions import ClientError
from moto.ecr.models import ecr_backends
from moto.s3.models import s3_backends

from tests.support.artifact_bucket import ArtifactBucket, empty_bucket
from tests.support.container_images import ContainerRepository, layer
from tests.support.embedded_keys import VARIABLES
from tests.support.fleet_folder import ROOT, FleetFolder
from triton_fleet.store.progress import shown_size

pytestmark = pytest.mark.nightly

ACCOUNT = "123456789012"
BUCKET = f"triton-fleet-dev-{ACCOUNT}-us-east-1"
REPOSITORY = "triton-fleet-dev"
OLD = "archives/" + "b" * 64 + ".tar.gz"
FLEET = str(Path(sys.executable).parent / "fleet")


@dataclass
class Command:
    bucket: ArtifactBucket
    url: str

    @property
    def variables(self) -> dict[str, str]:
        return {**os.environ, **VARIABLES, "AWS_ENDPOINT_URL": self.url, "NO_PROXY": "localhost"}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """`fleet publish` without a terminal."""
        return subprocess.run(
            [FLEET, "publish", "--env", "dev", *arguments],
            cwd=self.bucket.folder.root,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def run_with_answer(self, answer: str, *arguments: str) -> tuple[int, str]:
        """`fleet publish` on a terminal on which that is typed; exit code, and what was shown."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [FLEET, "publish", "--env", "dev", *arguments],
            cwd=self.bucket.folder.root,
            env={**self.variables, "TERM": "xterm"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        os.write(ours, f"{answer}\n".encode())
        content = b""
        while True:
            try:
                content += os.read(ours, 4096)
            except OSError:  # the terminal's other end is closed
                break
        os.close(ours)
        return process.wait(60), content.decode()

    def put(self, key: str, *, hours: int) -> None:
        """An object that was put so many hours ago."""
        self.bucket.s3.put_object(Bucket=BUCKET, Key=key, Body=b"x" * 1500)
        held_key = s3_backends[ACCOUNT]["aws"].buckets[BUCKET].keys[key]
        held_key.last_modified -= timedelta(hours=hours)

    def object_keys(self, prefix: str = "") -> list[str]:
        contents = self.bucket.s3.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", [])
        return [content["Key"] for content in contents]


@pytest.fixture
def command(aws_url: str, folder: FleetFolder) -> Command:
    """A locked endpoint whose bucket is there and empty."""
    command = Command(empty_bucket(aws_url, folder), aws_url)
    file = folder.root / "environments/dev.yaml"
    file.write_text(file.read_text().replace("111122223333", ACCOUNT))
    (folder.root / "app.py").write_text("")
    command.bucket.single()
    command.bucket.lock()
    command.bucket.s3.create_bucket(Bucket=BUCKET)
    with suppress(ClientError):
        command.bucket.ecr.delete_repository(repositoryName=REPOSITORY, force=True)
    for key in command.object_keys():
        command.bucket.s3.delete_object(Bucket=BUCKET, Key=key)
    return command


def test_it_says_what_it_did_and_has_nothing_to_do_again(command: Command) -> None:
    process = command.run()
    assert (process.returncode, process.stderr) == (0, "")
    text, copied_text, said_text = process.stdout.splitlines()
    assert text.startswith("uploaded sentences/sentences: 10.2 kB in ")
    assert copied_text == "copied within S3: 1 object"
    assert said_text == "archives: uploaded 1 (10.2 kB), copied 1 to the endpoints"
    assert len(command.object_keys()) == 3
    assert command.run("sentences").stdout == "archives: 1 already present\n"


def test_a_changed_repository_is_a_finding(command: Command, folder: FleetFolder) -> None:
    folder.write("sentences/embed/1/model.py", "class TritonPythonModel: x = 2\n")
    process = command.run()
    assert process.returncode == 1
    assert "model_specs/sentences.yaml:5" in process.stderr
    assert "FL303" in process.stderr


def test_a_bucket_that_the_environment_names_is_taken_and_a_missing_one_is_told(command: Command) -> None:
    file = command.bucket.folder.root / "environments/dev.yaml"
    file.write_text(file.read_text() + "artifact_bucket: our-models\n")
    process = command.run()
    assert process.returncode == 2
    assert (
        "the artifact bucket our-models does not exist\n  remedy: create it, or set `artifact_bucket`"
        in process.stderr
    )
    command.bucket.s3.create_bucket(Bucket="our-models")
    actual_process = command.run()
    assert (actual_process.returncode, actual_process.stderr) == (0, "")
    assert command.object_keys() == []
    assert len(command.bucket.s3.list_objects_v2(Bucket="our-models")["Contents"]) == 3


def test_without_the_bucket_it_cannot_run(command: Command) -> None:
    command.bucket.s3.delete_bucket(Bucket=BUCKET)
    process = command.run()
    assert process.returncode == 2
    assert "does not exist\n  remedy: run `fleet deploy --env dev --foundation`" in process.stderr
    assert "Traceback" not in process.stderr


def test_a_prune_shows_what_goes_how_much_and_what_is_too_young(command: Command) -> None:
    command.put(OLD, hours=25)
    command.put("endpoints/gone/set/a.tar.gz", hours=30)
    command.put("endpoints/gone/set/b.tar.gz", hours=30)
    command.put("endpoints/gone/other.tar.gz", hours=23)
    process = command.run("--prune", "--yes")
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.splitlines()[3:] == [
        f"  archives/{'b' * 64}: 1.5 kB",
        "  endpoints/gone/set/: 3.0 kB, 2 objects",
        f"unused: 3 objects in s3://{BUCKET}, 4.5 kB",
        "kept for now: 1 object, unused but younger than 24 hours",
        "the bucket is versioned: deleted objects can be restored for 90 days",
        "removed 3 objects, 4.5 kB",
    ]
    assert "endpoints/gone/other.tar.gz" in command.object_keys()
    assert len(command.object_keys()) == 4


def test_a_prune_shows_images_with_their_records_and_removes_both(command: Command) -> None:
    ecr = command.bucket.ecr
    repository = ContainerRepository(ecr, REPOSITORY)
    old, young = (repository.push([layer([tag])], tag=tag * 64) for tag in ("a", "b"))
    (stored_image, _) = ecr_backends[ACCOUNT]["us-east-1"].repositories[REPOSITORY].images
    stored_image.image_pushed_at -= 25 * 3600
    for tag, hours in (("a", 25), ("b", 1)):
        command.put(f"images/built/{tag * 64}/manifest.json", hours=hours)
    command.put(f"images/contexts/{'a' * 64}.tar", hours=25)
    process = command.run("--prune", "--yes")
    assert (process.returncode, process.stderr) == (0, "")
    size = shown_size(stored_image.get_image_size_in_bytes() or 0)
    assert process.stdout.splitlines()[3:] == [
        f"  images/contexts/{'a' * 64}.tar: 1.5 kB",
        f"  triton-fleet-dev@{old}: an image of {size}, with its record, 1 object",
        f"unused: 2 objects in s3://{BUCKET}, 3.0 kB",
        f"unused: 1 image in triton-fleet-dev, {size} with the layers that images share",
        "kept for now: 1 object and 1 image, unused but younger than 24 hours",
        "the bucket is versioned: deleted objects can be restored for 90 days",
        "images cannot be restored: an image that is built again has another digest",
        "removed 2 objects, 3.0 kB, 1 image",
    ]
    remaining_image_details = ecr.describe_images(repositoryName=REPOSITORY)["imageDetails"]
    assert [detail["imageDigest"] for detail in remaining_image_details] == [young]


def test_a_prune_without_a_terminal_needs_a_yes(command: Command) -> None:
    command.put(OLD, hours=25)
    process = command.run("--prune")
    assert process.returncode == 2
    assert "remedy: pass --yes" in process.stderr
    assert OLD in command.object_keys()


@pytest.mark.parametrize(("answer", "is_removed"), [("n", False), ("", False), ("y", True)])
def test_on_a_terminal_a_prune_asks(command: Command, answer: str, is_removed: bool) -> None:
    command.put(OLD, hours=25)
    code, text = command.run_with_answer(answer, "--prune")
    assert (code, "Remove them?" in text) == (0, True)
    assert (OLD in command.object_keys()) is not is_removed


def test_a_prune_that_finds_nothing_asks_nothing(command: Command) -> None:
    process = command.run("--prune")
    assert process.returncode == 0
    assert process.stdout.splitlines()[-2:] == [
        "archives: uploaded 1 (10.2 kB), copied 1 to the endpoints",
        f"nothing to remove from s3://{BUCKET}",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--keep", "3"), "requires --prune"),
        (("--prune", "--keep", "-1"), "should be greater than or equal to 0"),
    ],
)
def test_a_number_of_releases_that_makes_no_sense_is_refused(
    command: Command, arguments: tuple[str, ...], message: str
) -> None:
    process = command.run(*arguments)
    assert process.returncode == 2
    assert message in " ".join(process.stderr.replace("│", " ").split())
    assert command.object_keys() == []


def test_the_documented_days_are_the_buckets_own() -> None:
    from triton_fleet.cli.publish import NONCURRENT_DAYS

    source = (ROOT / "constructs/triton_endpoints/foundation.py").read_text()
    assert f"NONCURRENT_DAYS, UPLOAD_DAYS, LOG_DAYS = {NONCURRENT_DAYS}, " in source
