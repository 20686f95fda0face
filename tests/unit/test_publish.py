"""A locked archive reaches the bucket once, and only as the lock says."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from fleet.artifacts.lock import write_locks
from fleet.artifacts.publish import publish
from fleet.artifacts.sources.folder import FolderSource
from fleet.findings import FindingsError
from fleet.resolve.endpoint import ResolvedEndpoint
from fleet.spec.project import open_project
from fleet_folder import FleetFolder

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


@pytest.fixture
def s3() -> Iterator[S3Client]:
    with mock_aws():
        yield boto3.client(
            "s3", region_name="us-east-1", aws_access_key_id="local", aws_secret_access_key="local"
        )


@pytest.fixture
def endpoint(folder: FleetFolder, s3: S3Client) -> ResolvedEndpoint:
    """A locked endpoint whose bucket is there and empty."""
    folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    folder.write("repository/embed/1/model.py", "x = 1\n")
    write_locks(open_project(folder.root, "dev"))
    endpoint = folder.resolve()
    s3.create_bucket(Bucket=endpoint.place.bucket)
    return endpoint


def test_the_model_data_is_the_tar_stream_that_the_lock_digests(
    folder: FleetFolder, s3: S3Client, endpoint: ResolvedEndpoint
) -> None:
    assert publish(s3, endpoint, endpoint.archives[0], FolderSource(folder.root / "repository"))
    body = s3.get_object(Bucket=endpoint.place.bucket, Key=endpoint.archives[0].key)["Body"].read()
    digest = hashlib.sha256(gzip.decompress(body)).hexdigest()
    assert f"sha256:{digest}" == endpoint.archives[0].digest


def test_it_is_kept_in_the_store_and_in_the_endpoints_prefix(
    folder: FleetFolder, s3: S3Client, endpoint: ResolvedEndpoint
) -> None:
    publish(s3, endpoint, endpoint.archives[0], FolderSource(folder.root / "repository"))
    listed = s3.list_objects_v2(Bucket=endpoint.place.bucket)["Contents"]
    name = endpoint.archives[0].digest.removeprefix("sha256:")
    assert [entry["Key"] for entry in listed] == [
        f"archives/{name}.tar.gz",
        f"endpoints/sentences/{name}.tar.gz",
    ]


def test_what_is_there_is_not_uploaded_again(
    folder: FleetFolder, s3: S3Client, endpoint: ResolvedEndpoint
) -> None:
    publish(s3, endpoint, endpoint.archives[0], FolderSource(folder.root / "repository"))
    before = s3.head_object(Bucket=endpoint.place.bucket, Key=endpoint.archives[0].key)["LastModified"]
    assert not publish(s3, endpoint, endpoint.archives[0], FolderSource(folder.root / "repository"))
    after = s3.head_object(Bucket=endpoint.place.bucket, Key=endpoint.archives[0].key)["LastModified"]
    assert before == after


def test_a_repository_that_changed_since_the_lock_is_refused_and_nothing_is_left(
    folder: FleetFolder, s3: S3Client, endpoint: ResolvedEndpoint
) -> None:
    folder.write("repository/embed/1/model.py", "x = 2\n")
    with pytest.raises(FindingsError, match="FL303: the repository is not what the lock of 'sentences' says"):
        publish(s3, endpoint, endpoint.archives[0], FolderSource(folder.root / "repository"))
    assert "Contents" not in s3.list_objects_v2(Bucket=endpoint.place.bucket)


LIVE = """\
endpoint: sentences
mode: multi-model
archive_set: live
triton: "25.04"
instance: {type: ml.g5.xlarge}
models:
  - {archive: sentences, version: 1, repository: ../repository}
"""


@pytest.fixture
def live(folder: FleetFolder, endpoint: ResolvedEndpoint) -> ResolvedEndpoint:
    """The same archive in a live set."""
    folder.spec(base=LIVE)
    return folder.resolve()


def test_a_version_of_a_live_set_that_is_published_already_is_left_alone(
    folder: FleetFolder, s3: S3Client, live: ResolvedEndpoint
) -> None:
    assert publish(s3, live, live.archives[0], FolderSource(folder.root / "repository"))
    assert not publish(s3, live, live.archives[0], FolderSource(folder.root / "repository"))


def test_a_published_version_of_a_live_set_is_never_overwritten(
    folder: FleetFolder, s3: S3Client, live: ResolvedEndpoint
) -> None:
    publish(s3, live, live.archives[0], FolderSource(folder.root / "repository"))
    key = {"Bucket": live.place.bucket, "Key": live.archives[0].key}
    before = s3.get_object(**key)["Body"].read()  # type: ignore[arg-type]
    folder.write("repository/embed/1/model.py", "x = 2\n")
    write_locks(open_project(folder.root, "dev"))
    changed = folder.resolve()
    with pytest.raises(FindingsError, match="FL304: s3://.*/live/sentences-v1.tar.gz holds another content"):
        publish(s3, changed, changed.archives[0], FolderSource(folder.root / "repository"))
    assert s3.get_object(**key)["Body"].read() == before  # type: ignore[arg-type]


def test_what_was_put_into_the_store_by_hand_is_known_again_once_it_is_published(
    folder: FleetFolder, s3: S3Client, endpoint: ResolvedEndpoint, live: ResolvedEndpoint
) -> None:
    publish(s3, endpoint, endpoint.archives[0], FolderSource(folder.root / "repository"))
    stored = f"archives/{live.archives[0].digest.removeprefix('sha256:')}.tar.gz"
    body = s3.get_object(Bucket=live.place.bucket, Key=stored)["Body"].read()
    s3.put_object(Bucket=live.place.bucket, Key=stored, Body=body)
    assert publish(s3, live, live.archives[0], FolderSource(folder.root / "repository"))
    assert not publish(s3, live, live.archives[0], FolderSource(folder.root / "repository"))
