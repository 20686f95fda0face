"""Which archives a spec stands for: copies, sources in S3, and model data that is not compressed."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.spec.endpoint import Compression

MULTI = SPEC.replace("triton:", "mode: multi-model\ntriton:")
ENTRY = "archive: sentences, repository: ../repository"
DIGEST = "sha256:" + "a" * 64


def lock(folder: FleetFolder, *names: str) -> None:
    lines = [f"  {name}: {{digest: {DIGEST!r}, size: 1, models: [{name}]}}\n" for name in names]
    folder.write("locks/dev/sentences.lock.yaml", "endpoint: sentences\narchives:\n" + "".join(lines))


def test_copies_are_archives_of_their_own_numbered_from_0(folder: FleetFolder) -> None:
    folder.spec(base=MULTI.replace(ENTRY, f"{ENTRY}, copies: 3"))
    lock(folder, "sentences-0", "sentences-1", "sentences-2")
    endpoint = folder.resolve()
    targets = [archive.key.removeprefix(endpoint.model_data) for archive in endpoint.archives]
    assert targets == ["sentences-0.tar.gz", "sentences-1.tar.gz", "sentences-2.tar.gz"]
    assert [archive.source.copy for archive in endpoint.archives] == [0, 1, 2]


def test_copies_of_a_live_set_carry_its_version(folder: FleetFolder) -> None:
    live = MULTI.replace(ENTRY, f"{ENTRY}, copies: 1, version: 4").replace(
        "mode:", "archive_set: live\nmode:"
    )
    folder.spec(base=live)
    lock(folder, "sentences-0")
    assert folder.resolve().archives[0].key == "endpoints/sentences/live/sentences-0-v4.tar.gz"


def test_a_copy_that_the_lock_lacks_is_named(folder: FleetFolder) -> None:
    folder.spec(base=MULTI.replace(ENTRY, f"{ENTRY}, copies: 2"))
    lock(folder, "sentences-0")
    (finding,) = folder.findings()
    assert (finding.code, finding.message) == (
        "FL302",
        "the lock has no archive 'sentences-1'; it was written for another spec",
    )


@pytest.mark.parametrize(
    ("entry", "line", "message"),
    [
        (
            f"{ENTRY}, copies: 2}}\n  - {{archive: sentences-1, repository: x",
            5,
            "two archives are named 'sentences-1'",
        ),
        (f"archive: {'x' * 62}, repository: ../repository, copies: 1", 5, "is longer than 63 characters"),
        (f"{ENTRY}, copies: 0", 6, "at least 1"),
        (f"{ENTRY}, compression: zip", 6, "it must be 'gzip' or 'none'"),
    ],
)
def test_a_name_that_cannot_be_is_refused(folder: FleetFolder, entry: str, line: int, message: str) -> None:
    folder.spec(base=MULTI.replace(ENTRY, entry))
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == ("FL112", line)
    assert message.lower() in finding.message.lower()


def test_uncompressed_model_data_is_a_prefix_named_by_its_content(folder: FleetFolder) -> None:
    folder.spec(base=SPEC.replace(ENTRY, f"{ENTRY}, compression: none"))
    endpoint = folder.resolve()
    assert (endpoint.compression, endpoint.model_data) == (
        Compression.NONE,
        f"endpoints/sentences/{'a' * 64}/",
    )


@pytest.mark.parametrize(
    ("base", "keys", "message"),
    [
        (SPEC, "copies: 2", "`copies` has no effect in mode 'single'"),
        (MULTI, "compression: none", "`compression` has no effect in mode 'multi-model'"),
    ],
)
def test_what_the_mode_has_no_use_for_is_refused(
    folder: FleetFolder, base: str, keys: str, message: str
) -> None:
    folder.spec(base=base.replace(ENTRY, f"{ENTRY}, {keys}"))
    assert ("FL218", message) in {(finding.code, finding.message) for finding in folder.findings()}


@pytest.mark.parametrize("url", ["s3://models/embed.tar.gz", "s3://models/a b/ü/", "s3://models/"])
def test_a_repository_in_s3_is_an_archive_or_a_prefix_whose_content_is_expected(
    folder: FleetFolder, url: str
) -> None:
    folder.spec(base=SPEC.replace("../repository", f'"{url}", digest: "{DIGEST}"'))
    assert folder.findings() == []


@pytest.mark.parametrize(
    ("repository", "code", "message"),
    [
        (f's3://models/embed, digest: "{DIGEST}"', "FL219", "is neither an archive nor a prefix in S3"),
        (f's3://models, digest: "{DIGEST}"', "FL219", "is neither an archive nor a prefix in S3"),
        ("s3://models/embed/", "FL220", "and the spec has no digest of it"),
        (f'../repository, digest: "{DIGEST}"', "FL220", "a folder needs no digest: its lock has it"),
    ],
)
def test_a_source_that_leaves_its_content_open_is_refused(
    folder: FleetFolder, repository: str, code: str, message: str
) -> None:
    folder.spec(base=SPEC.replace("../repository", repository))
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == (code, 5)
    assert message in finding.message
