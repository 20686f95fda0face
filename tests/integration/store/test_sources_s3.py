"""A repository in S3 is packed as it is expected, or refused at the line of the spec that names it."""

from __future__ import annotations

import io
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.hostile_tar import END, file
from tests.support.hostile_tar import folder as tar_folder
from tests.support.s3_repositories import BUCKET, FILES, Repositories, digest, on_disk, pack_files
from triton_fleet.check.lock_drift import stale_findings
from triton_fleet.findings import CannotRunError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.repository.entry_path import belongs
from triton_fleet.repository.file_formats import BEGIN
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.spec.source import Mark
from triton_fleet.store.sources.s3_object import S3Location
from triton_fleet.store.sources.s3_source import S3PrefixSource

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


@pytest.mark.parametrize("form", ["team/", "team/embed.tar.gz"])
def test_the_lock_of_a_repository_in_s3_is_that_of_the_same_folder(
    empty_repositories: Repositories, form: str
) -> None:
    files = {path: content for path, content in FILES.items() if not path.startswith("embed-it")}
    stream = pack_files(files)
    empty_repositories.spec(form, digest(stream))
    empty_repositories.prefix(files) if form == "team/" else empty_repositories.archive(stream)
    (lock,) = empty_repositories.lock()
    actual_lock = load_lock(lock)
    on_disk(files, empty_repositories.folder.root / "r")
    empty_repositories.folder.spec(base=SPEC.replace("../repository", "../r"))
    empty_repositories.lock()
    assert actual_lock == load_lock(lock)
    assert actual_lock.archives["sentences"].digest == digest(stream)


PARTS = st.sampled_from(["a", "a-b", "a_b", "B", "ü", "10", "9", ".hidden", "__pycache__", "a b", "~"])
CONTENTS = st.binary(max_size=30).filter(lambda content: not content.startswith(BEGIN))
"""Of files that are no pointers of Git LFS."""
TREES = st.dictionaries(
    st.lists(PARTS, min_size=1, max_size=4).map("/".join), CONTENTS, min_size=1, max_size=8
).filter(lambda files: not any(path.startswith(f"{file}/") for path in files for file in files))


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=TREES)
def test_a_prefix_is_packed_as_a_folder_of_the_same_files(
    repositories_s3: S3Client, folder: FleetFolder, files: dict[str, bytes]
) -> None:
    repositories = Repositories(repositories_s3, folder)
    # A folder that has nothing but hidden files is not packed, and S3 has it by them.
    above = {"/".join(takewhile(belongs, path.split("/")[:-1])) for path in files}
    files |= {f"{item}/0".lstrip("/"): b"" for item in above}
    repositories.prefix(files)
    location = S3Location(bucket=BUCKET, key="team/", mark=Mark(Path("spec.yaml"), 1, 1))
    stream = pack_files(files)
    passed_stream = io.BytesIO()
    S3PrefixSource(repositories_s3, location, digest(stream), ServingContainer()).write(passed_stream)
    assert passed_stream.getvalue() == stream


def test_an_empty_object_with_a_slash_is_the_folder_that_it_stands_for(
    empty_repositories: Repositories,
) -> None:
    files = FILES | {"ensemble/config.pbtxt": b'platform: "ensemble"\n'}
    empty_repositories.prefix({"": b"", "embed/": b"", "ensemble/1/": b"", **files})
    empty_repositories.spec("team/", digest(pack_files(files)))
    (lock,) = empty_repositories.lock()
    assert list(load_lock(lock).archives["sentences"].models) == ["embed", "embed-it", "ensemble"]


@pytest.mark.parametrize("form", ["team/", "team/embed.tar.gz"])
def test_another_content_than_the_spec_expects_is_refused_with_both(
    empty_repositories: Repositories, form: str
) -> None:
    stream, other_text = pack_files(FILES), f"sha256:{'0' * 64}"
    empty_repositories.prefix()
    empty_repositories.archive(stream) if form != "team/" else None
    empty_repositories.spec(form, other_text)
    finding = empty_repositories.refusal()
    assert finding.code == "FL307"
    assert finding.message == f"s3://{BUCKET}/{form} has {digest(stream)}; the spec expects {other_text}"


@pytest.mark.parametrize("form", ["team/", "team/embed.tar.gz"])
def test_a_lock_without_an_expected_digest_is_refused_with_what_to_write(
    empty_repositories: Repositories, form: str
) -> None:
    stream = pack_files(FILES)
    empty_repositories.archive(stream) if form != "team/" else empty_repositories.prefix()
    empty_repositories.spec(form)
    finding = empty_repositories.refusal()
    assert (finding.code, finding.hint) == ("FL308", f"write `digest: {digest(stream)}`")


def test_what_the_lock_holds_as_expected_is_not_read_again(empty_repositories: Repositories) -> None:
    empty_repositories.prefix()
    empty_repositories.spec("team/", digest(pack_files(FILES)))
    empty_repositories.lock()
    read = empty_repositories.reads

    def nobody() -> S3Client:
        raise CannotRunError("no credentials")

    assert empty_repositories.lock(nobody) == []
    assert empty_repositories.reads == read == len(FILES)
    assert stale_findings(open_project(empty_repositories.folder.root, "dev"), "sentences") == []


def test_an_archive_is_read_once_for_its_digest_and_its_layout(empty_repositories: Repositories) -> None:
    stream = pack_files(FILES)
    empty_repositories.archive(stream)
    empty_repositories.spec("team/embed.tar.gz", digest(stream))
    empty_repositories.lock()
    assert empty_repositories.reads == 1


def test_a_lock_of_another_content_than_the_spec_expects_is_stale_without_asking_s3(
    empty_repositories: Repositories,
) -> None:
    empty_repositories.prefix()
    empty_repositories.spec("team/", digest(pack_files(FILES)))
    empty_repositories.lock()
    empty_repositories.spec("team/", f"sha256:{'1' * 64}")
    read = empty_repositories.reads
    (finding,) = stale_findings(open_project(empty_repositories.folder.root, "dev"), "sentences")
    assert (finding.code, finding.line, empty_repositories.reads) == ("FL306", 5, read)
    assert f"the spec expects sha256:{'1' * 64}" in finding.message


@pytest.mark.parametrize(
    ("files", "said_message"),
    [
        (
            {"embed/config.pbtxt": b"", "embed/model.py": b""},
            "FL404|model 'embed': it has no version directory",
        ),
        ({"embed/1/x": b"", "embed/config.pbtxt": b'backend: "python"'}, "FL410|(embed/1): model 'embed'"),
        ({"config.pbtxt": b"", "1/x": b""}, "FL402|(config.pbtxt): Incorrect directory structure"),
        ({"notes": b""}, "FL407|team/: No model found in model repository"),
    ],
)
def test_the_layout_is_checked_as_that_of_a_folder(
    empty_repositories: Repositories, files: dict[str, bytes], said_message: str
) -> None:
    empty_repositories.prefix(files)
    empty_repositories.spec("team/", digest(pack_files(files)))
    finding = empty_repositories.refusal()
    code, message = said_message.split("|")
    assert finding.code == code
    assert message in finding.message


def test_a_python_model_may_name_its_code(empty_repositories: Repositories) -> None:
    files = {"m/config.pbtxt": b'backend: "python" default_model_filename: "code.bin"', "m/1/code.bin": b""}
    empty_repositories.prefix(files)
    empty_repositories.spec("team/", digest(pack_files(files)))
    assert len(empty_repositories.lock()) == 1


@pytest.mark.parametrize(
    ("stream", "problem"),
    [
        (file("../etc/passwd") + END, "leads out of its folder"),
        (tar_folder(".git") + END, "'.git' is hidden"),
        (file("m/__pycache__/x.pyc") + END, "was left by Python"),
        (file("m/config.pbtxt", bytes((1 << 20) + 1)) + END, "its content is not checked"),
        (b"x", "cut off"),
    ],
)
def test_an_archive_that_cannot_be_trusted_is_refused(
    empty_repositories: Repositories, stream: bytes, problem: str
) -> None:
    empty_repositories.archive(stream)
    empty_repositories.spec("team/embed.tar.gz", digest(stream))
    finding = empty_repositories.refusal()
    assert finding.code == "FL310"
    assert f"s3://{BUCKET}/team/embed.tar.gz cannot be packed" in finding.message
    assert problem in finding.message


@pytest.mark.parametrize(
    ("key", "problem"),
    [("a//b", "an empty name"), ("a\\b", "a backslash"), ("é" * 128, "255 bytes a name"), ("embed", "twice")],
)
def test_a_key_that_is_no_path_is_refused(empty_repositories: Repositories, key: str, problem: str) -> None:
    empty_repositories.prefix({**FILES, key: b"x"})
    empty_repositories.spec("team/", f"sha256:{'0' * 64}")
    finding = empty_repositories.refusal()
    assert finding.code == "FL310"
    assert problem in finding.message


@pytest.mark.parametrize(
    ("url", "message"),
    [("team/none.tar.gz", "the object does not exist"), ("none/", "no objects")],
)
def test_what_is_not_there_is_told_by_url(empty_repositories: Repositories, url: str, message: str) -> None:
    empty_repositories.spec(url, f"sha256:{'0' * 64}")
    finding = empty_repositories.refusal()
    assert (finding.code, finding.message) == ("FL309", f"s3://{BUCKET}/{url}: {message}")


@pytest.mark.parametrize("url", ["r.tar.gz", "r/"])
def test_a_bucket_that_is_not_there_is_told(empty_repositories: Repositories, url: str) -> None:
    empty_repositories.spec(url, f"sha256:{'0' * 64}")
    spec = empty_repositories.folder.root / "model_specs/sentences.yaml"
    spec.write_text(spec.read_text().replace(BUCKET, "nobodys-bucket"))
    finding = empty_repositories.refusal()
    assert (finding.code, finding.message) == (
        "FL309",
        f"s3://nobodys-bucket/{url}: the bucket does not exist",
    )
