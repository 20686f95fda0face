"""Of the artifact buckets of fleets, a spec reads what was uploaded for its own endpoint, and nothing else."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.findings import FindingsError, Severity
from triton_fleet.project.project import open_project
from triton_fleet.store.lock import write_locks

OWN = "triton-fleet-dev-111122223333-us-east-1"
OTHER_BUCKET = "triton-fleet-prod-777788889999-us-west-2"
DIGEST = f"sha256:{'a' * 64}"
ALLOW = 'allow: {source-of-another-endpoint: "they know it"}\n'


def repository(folder: FleetFolder, url: str, keys: str = "") -> None:
    named_text = f'repository: "{url}", digest: "{DIGEST}"'
    folder.spec(keys, base=SPEC.replace("repository: ../repository", named_text))


def onnx(folder: FleetFolder, url: str, keys: str = "") -> None:
    engines = f'engines: [{{model: embed, onnx: "{url}", digest: "{DIGEST}"}}]'
    folder.spec(keys, base=SPEC.replace("../repository", f"../repository, {engines}"))


def errors(folder: FleetFolder) -> list[tuple[str, int | None]]:
    findings = folder.check()
    return [
        (finding.code, finding.line)
        for finding in findings
        if finding.code == "FL753" and finding.severity is Severity.ERROR
    ]


@pytest.mark.parametrize("bucket", [OWN, OTHER_BUCKET])
@pytest.mark.parametrize(
    "key",
    [
        "endpoints/rank/",
        "endpoints/sentences/",
        "archives/sha256/x.tar.gz",
        "capture/rank/AllTraffic/",
        "engines/onnx/",
        "",
        "uploads/",
        "uploads/rank/",
        "uploads/sentences.tar.gz",
        "uploads/sentencesmore/",
        "uploads/sentences/../rank/",
        "uploads/sentences/../../endpoints/rank/",
        "uploads/sentences/./../x.tar.gz",
        "uploads/sentences//x/",
        "uploads//sentences/",
        "/uploads/sentences/",
        "uploads/sentences/%2e%2e/rank/",
        "uploads/sentences/..%2frank/",
        "uploads%2fsentences/",
        "UPLOADS/sentences/",
    ],
)
def test_a_repository_in_it_is_an_error_that_no_spec_can_allow(
    folder: FleetFolder, bucket: str, key: str
) -> None:
    repository(folder, f"s3://{bucket}/{key}", ALLOW)
    assert errors(folder) == [("FL753", 5)]
    assert "FL131" in {finding.code for finding in folder.check()}
    assert "FL753" in {finding.code for finding in folder.findings()}


@pytest.mark.parametrize(
    "url",
    [
        f"s3://{OWN}/engines/onnx/{'a' * 64}.onnx",
        f"s3://{OTHER_BUCKET}/engines/onnx/{'a' * 64}.onnx",
        f"s3://{OWN}/uploads/rank/m.onnx",
        f"s3://{OWN}/uploads/sentences/../rank/m.onnx",
        "s3://arn:aws:s3:us-east-1:111122223333:accesspoint:all/engines/onnx/a.onnx",
        "s3://arn:aws:s3:us-east-1:111122223333:accesspoint/all/engines/onnx/a.onnx",
        "s3://all-abcdefgh1234abcdefgh1234abcdefghs-s3alias/engines/onnx/a.onnx",
        "s3://all-abcdefgh1234abcdefgh1234abcdefgh--ol-s3/engines/onnx/a.onnx",
        "s3://mfzwi23gnjvgw.mrap/engines/onnx/a.onnx",
        f"s3://{OWN.upper()}/engines/onnx/a.onnx",
        f"s3://{OWN}%2fengines/onnx/a.onnx",
    ],
)
def test_an_onnx_model_in_it_or_behind_another_name_of_it_is_one_too(folder: FleetFolder, url: str) -> None:
    folder.lock()
    onnx(folder, url)
    assert errors(folder) == [("FL753", 5)]


def test_a_bucket_that_an_environment_names_is_one_of_them_in_every_environment(folder: FleetFolder) -> None:
    folder.environment("artifact_bucket: our-artifacts\n", name="prod")
    repository(folder, "s3://our-artifacts/endpoints/rank/")
    assert errors(folder) == [("FL753", 5)]


@pytest.mark.parametrize(
    "url",
    [
        f"s3://{OWN}/uploads/sentences/",
        f"s3://{OWN}/uploads/sentences/2026-11/model.tar.gz",
        f"s3://{OTHER_BUCKET}/uploads/sentences/v1/",
        "s3://our-models/endpoints/rank/",
        "s3://our-models/a/../b/",
    ],
)
def test_uploads_for_the_endpoint_and_other_buckets_are_taken(folder: FleetFolder, url: str) -> None:
    repository(folder, url)
    assert errors(folder) == []


def test_the_hint_is_where_to_upload_it(folder: FleetFolder) -> None:
    repository(folder, f"s3://{OWN}/endpoints/rank/")
    (finding,) = [finding for finding in folder.check() if finding.code == "FL753"]
    assert finding.hint == f"upload it below s3://{OWN}/uploads/sentences/, or to a bucket of your own"


def test_no_lock_reads_it(folder: FleetFolder) -> None:
    repository(folder, f"s3://{OWN}/endpoints/rank/")

    def s3() -> None:
        raise AssertionError("S3 is asked")

    with pytest.raises(FindingsError) as refusal:
        write_locks(open_project(folder.root, "dev"), s3)  # type: ignore[arg-type]
    assert [finding.code for finding in refusal.value.findings] == ["FL753"]
