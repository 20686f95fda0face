"""The tested archive is what ships: by digest, across accounts and regions, without packing anything again."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from tests.support.embedded_app.host import RecordingHost
from tests.support.fleet_folder import SPEC
from tests.support.promotion import Promotion
from tests.support.silent_progress import SilentProgress
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.project import open_project
from triton_fleet.spec.environment import LOCAL
from triton_fleet.store.progress import Advance
from triton_fleet.store.promote.lock import require_two
from triton_fleet.store.upload.object import SMALLEST_PART

MULTI = """\
endpoint: sentences
mode: multi-model
triton: "25.04"
instance: {type: ml.g5.xlarge}
models:
  - {archive: sentences, repository: ../repository, copies: 3}
"""
LIVE = MULTI.replace("triton:", "archive_set: live\ntriton:").replace("copies: 3", "version: 1")
AS_FILES = SPEC.replace("../repository", "../repository, compression: none")


def findings_of(promotion: Promotion, **options: Any) -> list[str]:
    """The reason why a promotion is refused; nothing was copied, no lock written."""
    with pytest.raises(FindingsError) as refusal:
        promotion.promote(**options)
    assert promotion.keys("prod") == []
    assert not (promotion.folder.root / "locks/prod").exists()
    return [f"{finding.code} {finding.message} | {finding.hint}" for finding in refusal.value.findings]


def test_the_tested_archive_arrives_in_another_account_without_its_repository(promotion: Promotion) -> None:
    (archive,) = promotion.test().archives
    result = promotion.promote()
    (key,) = promotion.keys("prod", "archives/")
    stored_object = promotion.s3("prod").get_object(Bucket=promotion.bucket("prod"), Key=key)
    body = stored_object["Body"].read()
    assert key == f"archives/{archive.digest.removeprefix('sha256:')}.tar.gz"
    assert f"sha256:{hashlib.sha256(gzip.decompress(body)).hexdigest()}" == archive.digest
    assert stored_object["Metadata"] == {"tar-digest": archive.digest}
    assert (result.copies, result.streams, result.present, result.bytes) == (1, 1, 0, len(body))


def test_the_lock_says_what_was_tested_and_where(promotion: Promotion) -> None:
    promotion.test()
    result = promotion.promote()
    assert result.files == (promotion.folder.root / "locks/prod/sentences.lock.yaml",)
    lock, promoted_lock = promotion.lock("staging"), promotion.lock("prod")
    assert promoted_lock == lock.model_copy(update={"promoted_from": "staging"})
    assert promotion.folder.findings("prod") == []


def test_a_second_run_finds_everything_there(promotion: Promotion) -> None:
    promotion.test()
    promotion.promote()
    result = promotion.promote()
    assert (result.copies, result.streams, result.present, result.files) == (0, 0, 1, ())


def test_what_the_target_has_of_a_set_is_skipped(promotion: Promotion) -> None:
    promotion.folder.spec(base=MULTI)
    first, *_ = promotion.test().archives
    promotion.promote()
    bucket, key = promotion.bucket("prod"), f"archives/{first.digest.removeprefix('sha256:')}.tar.gz"
    promotion.s3("prod").delete_object(Bucket=bucket, Key=key)
    result = promotion.promote()
    assert (result.copies, result.present) == (1, 2)


def test_within_an_account_the_server_copies_across_regions(promotion: Promotion) -> None:
    (archive,) = promotion.test().archives
    result = promotion.promote("qa")
    assert (result.copies, result.streams) == (1, 0)
    assert promotion.keys("qa", "archives/") == [f"archives/{archive.digest.removeprefix('sha256:')}.tar.gz"]


class StoppingProgress(SilentProgress):
    """Is interrupted at the first part that has arrived."""

    def archive(self, name: str, size: int) -> AbstractContextManager[Advance]:
        return nullcontext(_interrupt)


def _interrupt(_count: int) -> None:
    raise KeyboardInterrupt


def write_weights(promotion: Promotion, parts: int) -> None:
    """Have an archive of so many parts."""
    size = (parts - 1) * SMALLEST_PART + (1 << 20)
    (promotion.folder.root / "repository/embed/1/weights.bin").write_bytes(os.urandom(size))


def test_a_large_archive_comes_in_parts_with_the_checksum_of_the_whole(promotion: Promotion) -> None:
    write_weights(promotion, 3)
    (archive,) = promotion.test().archives
    numbers: list[int] = []

    class CountingProgress(SilentProgress):
        def archive(self, name: str, size: int) -> AbstractContextManager[Advance]:
            return nullcontext(numbers.append)

    result = promotion.promote(progress=CountingProgress())
    (key,) = promotion.keys("prod", "archives/")
    own_text, files = (
        promotion.s3(name).get_object(Bucket=promotion.bucket(name), Key=key, ChecksumMode="ENABLED")
        for name in ("staging", "prod")
    )
    body = files["Body"].read()
    assert body == own_text["Body"].read()
    assert files["ChecksumType"] == "FULL_OBJECT"
    assert files["ChecksumCRC32"] == own_text["ChecksumCRC32"]
    assert (sum(numbers), result.bytes) == (len(body), len(body))
    assert f"sha256:{hashlib.sha256(gzip.decompress(body)).hexdigest()}" == archive.digest


def test_an_interruption_leaves_nothing_half_there_and_the_next_run_goes_on(promotion: Promotion) -> None:
    write_weights(promotion, 2)
    promotion.test()
    with pytest.raises(KeyboardInterrupt):
        promotion.promote(progress=StoppingProgress())
    s3, bucket = promotion.s3("prod"), promotion.bucket("prod")
    assert promotion.keys("prod") == []
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=bucket)
    assert not (promotion.folder.root / "locks/prod").exists()
    assert promotion.promote().copies == 1
    assert promotion.lock("prod").promoted_from == "staging"


@pytest.mark.parametrize("to", ["prod", pytest.param("qa", marks=pytest.mark.nightly)])
def test_uncompressed_files_arrive_and_their_marker_is_the_last(promotion: Promotion, to: str) -> None:
    promotion.folder.spec(base=AS_FILES)
    (archive,) = promotion.test().archives
    target = promotion.another_s3(to)
    written_lines: list[str] = []
    for call in ("PutObject", "CopyObject"):
        target.meta.events.register(f"provide-client-params.s3.{call}", _note(written_lines))
    assert promotion.promote(to, target_s3=target).copies == 1
    name = f"archives/{archive.digest.removeprefix('sha256:')}"
    assert promotion.keys(to, "archives/") == [
        key for key in promotion.keys("staging") if key.startswith(name)
    ]
    assert f"{name}/embed/1/model.py" in written_lines
    assert [key for key in written_lines if key.startswith("archives/")][-1] == f"{name}.files"
    assert promotion.promote(to).present == 1


def _note(written_lines: list[str]) -> Callable[..., None]:
    return lambda params, **_: written_lines.append(params["Key"])


def test_files_without_a_marker_are_copied_again(promotion: Promotion) -> None:
    promotion.folder.spec(base=AS_FILES)
    (archive,) = promotion.test().archives
    name = f"archives/{archive.digest.removeprefix('sha256:')}"
    s3, file = promotion.s3("prod"), {"Bucket": promotion.bucket("prod"), "Key": f"{name}/embed/1/model.py"}
    s3.put_object(**file, Body=b"half of another")  # type: ignore[arg-type]
    promotion.promote()
    assert s3.get_object(**file)["Body"].read() == b"class TritonPythonModel: x = 1\n"  # type: ignore[arg-type]


def test_an_endpoint_that_runs_something_else_was_not_tested(promotion: Promotion) -> None:
    promotion.serve(promotion.publish())
    promotion.folder.write("repository/embed/1/model.py", "x = 2\n")
    promotion.publish()
    (finding,) = findings_of(promotion)
    assert finding.startswith(
        "FL332 sentences was not tested in staging with its files: it runs s3://triton-"
    )
    assert finding.endswith("| run `fleet deploy --env staging sentences`, test it, then promote")


def test_an_endpoint_that_is_not_deployed_was_not_tested(promotion: Promotion) -> None:
    promotion.publish()
    (finding,) = findings_of(promotion)
    assert "FL332 sentences was not tested in staging with its files: it is not deployed there" in finding


def test_an_endpoint_that_is_not_in_service_was_not_tested(
    promotion: Promotion, promotion_host: RecordingHost
) -> None:
    promotion_host.failure = "broken"
    promotion.test()
    (finding,) = findings_of(promotion)
    assert "it is Failed, not InService" in finding


def test_a_tested_live_set_has_every_archive_of_its_lock(promotion: Promotion) -> None:
    promotion.folder.spec(base=LIVE)
    (archive,) = promotion.test().archives
    bucket = promotion.bucket("staging")
    promotion.s3("staging").delete_object(Bucket=bucket, Key=archive.key)
    (finding,) = findings_of(promotion)
    assert f"sentences-v1.tar.gz does not exist, but the lock has {archive.digest}" in finding
    promotion.s3("staging").put_object(Bucket=bucket, Key=archive.key, Body=b"by hand")
    (said_finding,) = findings_of(promotion)
    assert "sentences-v1.tar.gz has no digest" in said_finding


def test_a_tested_live_set_is_promoted(promotion: Promotion) -> None:
    promotion.folder.spec(base=LIVE)
    promotion.test()
    assert promotion.promote().copies == 1


@pytest.mark.parametrize(
    ("base", "override", "before", "current_text"),
    [
        (MULTI, "models: [{archive: other, repository: x}]", "archives sentences", "archives other"),
        (
            MULTI,
            "models: [{archive: sentences, repository: x, copies: 2}]",
            "`copies: 3` for 'sentences'",
            "`copies: 2` for 'sentences'",
        ),
        (
            SPEC,
            "models: [{archive: sentences, repository: x, compression: none}]",
            "`compression: gzip` for 'sentences'",
            "`compression: none` for 'sentences'",
        ),
        (SPEC, "mode: multi-model", "`mode: single`", "`mode: multi-model`"),
    ],
)
def test_a_spec_that_asks_for_other_archives_in_the_target_is_refused(
    promotion: Promotion, base: str, override: str, before: str, current_text: str
) -> None:
    promotion.folder.spec(base=base)
    promotion.test()
    environment = promotion.folder.root / "environments/prod.yaml"
    environment.write_text(f"{environment.read_text()}overrides:\n  sentences: {{{override}}}\n")
    (finding,) = findings_of(promotion)
    assert finding.startswith(
        f"FL336 sentences was tested in staging with {before}, but prod has {current_text}"
    )


def test_an_archive_that_the_source_has_lost_is_named(promotion: Promotion) -> None:
    (archive,) = promotion.test().archives
    key = f"archives/{archive.digest.removeprefix('sha256:')}.tar.gz"
    promotion.s3("staging").delete_object(Bucket=promotion.bucket("staging"), Key=key)
    (finding,) = findings_of(promotion)
    url = f"s3://{promotion.bucket('staging')}/{key}"
    assert finding.startswith(f"FL337 sentences/sentences, {url}, is not in the store | run `fleet publish")


def test_an_archive_that_says_to_be_another_is_refused(promotion: Promotion) -> None:
    (archive,) = promotion.test().archives
    key = f"archives/{archive.digest.removeprefix('sha256:')}.tar.gz"
    promotion.s3("staging").put_object(Bucket=promotion.bucket("staging"), Key=key, Body=b"by hand")
    (finding,) = findings_of(promotion)
    assert "has the digest none" in finding


def test_a_target_without_its_foundation_is_told_what_to_do_first(promotion: Promotion) -> None:
    promotion.test()
    promotion.s3("prod").delete_bucket(Bucket=promotion.bucket("prod"))
    with pytest.raises(
        CannotRunError, match="does not exist\n  remedy: run `fleet deploy --env prod --foundation`"
    ):
        promotion.promote()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("staging", "staging"), "staging cannot be promoted to itself"),
        (("local", "prod"), "'local' is this machine"),
    ],
)
def test_two_environments_in_accounts_are_needed(
    promotion: Promotion, names: tuple[str, str], message: str
) -> None:
    promotion.folder.environment(name="local")
    source, target = (open_project(promotion.folder.root, name) for name in names)
    with pytest.raises(FindingsError, match=f"FL338: {message}"):
        require_two(source, target, LOCAL)
