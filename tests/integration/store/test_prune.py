"""Objects that nobody uses, as a prune finds them, and everything that it keeps."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.artifact_bucket import BUCKET, ArtifactBucket
from tests.support.fleet_folder import FleetFolder
from tests.support.pruning import DIGEST, HEX, model, prune, work
from triton_fleet.findings import FindingsError
from triton_fleet.store.content_store import store_key
from triton_fleet.store.ownership import owner_key
from triton_fleet.store.releases import record_release


def forget_lock(artifact_bucket: ArtifactBucket, name: str) -> None:
    (artifact_bucket.folder.root / f"locks/dev/{name}.lock.yaml").unlink()


def test_what_nobody_uses_goes(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.put(store_key(DIGEST), b"12345")
    artifact_bucket.put(f"endpoints/gone/{HEX}.tar.gz", b"123")
    plan = prune(artifact_bucket)
    assert artifact_bucket.object_keys() == []
    assert (len(plan.objects), plan.size) == (2, 8)


def test_planning_changes_nothing(artifact_bucket: ArtifactBucket) -> None:
    key = artifact_bucket.put(store_key(DIGEST))
    assert list(work(artifact_bucket).plan().objects) == [key]
    assert artifact_bucket.object_keys() == [key]


def test_what_lies_elsewhere_in_the_bucket_stays(artifact_bucket: ArtifactBucket) -> None:
    keys = [
        artifact_bucket.put("engines/a.plan"),
        artifact_bucket.put("releases/zoo/notes.txt"),
        artifact_bucket.put("readme"),
    ]
    assert prune(artifact_bucket).objects == {}
    assert artifact_bucket.object_keys() == sorted(keys)


def test_of_engines_those_that_no_lock_names_go_with_all_that_is_theirs(
    artifact_bucket: ArtifactBucket, folder: FleetFolder
) -> None:
    other_text = "c" * 64
    lock = folder.root / "locks/dev/any.lock.yaml"
    engine = f'engines: {{m: {{key: "{DIGEST}", onnx: "{DIGEST}", size: 1}}}}'
    lock.write_text(
        f'endpoint: any\narchives: {{a: {{digest: "{DIGEST}", size: 1, {engine}, models: [m]}}}}\n'
    )
    kept_texts = [
        artifact_bucket.put(f"engines/plans/{HEX}/{name}") for name in ("manifest.json", "model.plan")
    ]
    kept_texts += [
        artifact_bucket.put(f"engines/{name}") for name in ("leases/x.json", "onnx/x.onnx", "scripts/x.zip")
    ]
    for name in ("failure.json", "manifest.json", "model.plan", "request.json"):
        artifact_bucket.put(f"engines/plans/{other_text}/{name}")
    (unit,) = prune(artifact_bucket).units
    assert unit.name == f"engines/plans/{other_text}/"
    assert artifact_bucket.object_keys() == sorted(kept_texts)


@pytest.mark.parametrize(
    "container",
    [
        {"Image": "i", "ModelDataUrl": f"s3://{BUCKET}/endpoints/a/{HEX}.tar.gz"},
        {
            "Image": "i",
            "ModelDataSource": {
                "S3DataSource": {
                    "S3Uri": f"s3://{BUCKET}/endpoints/a/{HEX}.tar.gz",
                    "S3DataType": "S3Object",
                    "CompressionType": "Gzip",
                }
            },
        },
    ],
)
@pytest.mark.parametrize("several", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_what_a_model_of_the_account_names_stays_with_the_records_of_its_endpoint(
    artifact_bucket: ArtifactBucket, container: dict[str, Any], several: bool
) -> None:
    keys = [artifact_bucket.put(f"endpoints/a/{HEX}.tar.gz"), artifact_bucket.put(owner_key("a", DIGEST))]
    artifact_bucket.put(f"endpoints/b/{HEX}.tar.gz")
    artifact_bucket.put(owner_key("b", DIGEST))
    model(artifact_bucket, **({"Containers": [container]} if several else {"PrimaryContainer": container}))
    prune(artifact_bucket)
    assert artifact_bucket.object_keys() == keys


def test_a_model_that_names_a_prefix_keeps_all_below_it(artifact_bucket: ArtifactBucket) -> None:
    keys = [
        artifact_bucket.put("endpoints/a/live/x-v1.tar.gz"),
        artifact_bucket.put("endpoints/a/live/y-v7.tar.gz"),
    ]
    artifact_bucket.put("endpoints/a/old/x.tar.gz")
    artifact_bucket.put("endpoints/b/live/x-v1.tar.gz")
    data = {"Image": "i", "Mode": "MultiModel", "ModelDataUrl": f"s3://{BUCKET}/endpoints/a/live/"}
    model(artifact_bucket, PrimaryContainer=data)
    prune(artifact_bucket)
    assert artifact_bucket.object_keys() == keys


def test_models_of_all_pages_count(artifact_bucket: ArtifactBucket) -> None:
    def note_page(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
        context["page"] = int(params.get("NextToken", 0))

    def one_a_page(parsed: dict[str, Any], context: dict[str, Any], **_: object) -> None:
        """The embedded SageMaker has all of them in one answer."""
        page, models = context["page"], parsed["Models"]
        parsed["Models"] = models[page : page + 1]
        if page + 1 < len(models):
            parsed["NextToken"] = str(page + 1)

    kept_texts = [artifact_bucket.put(f"endpoints/{name}/{HEX}.tar.gz") for name in ("a", "b", "c")]
    for key in kept_texts:
        model(
            artifact_bucket,
            key.split("/")[1],
            PrimaryContainer={"Image": "i", "ModelDataUrl": f"s3://{BUCKET}/{key}"},
        )
    artifact_bucket.sagemaker.meta.events.register("before-parameter-build.sagemaker.ListModels", note_page)
    artifact_bucket.sagemaker.meta.events.register("after-call.sagemaker.ListModels", one_a_page)
    prune(artifact_bucket)
    assert artifact_bucket.object_keys() == kept_texts


def test_what_a_lock_names_stays_also_without_a_spec(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.single()
    artifact_bucket.single("files", keys=", compression: none", code="x = 2\n")
    artifact_bucket.set_of({"a": "x = 3\n", "b": "x = 4\n"})
    artifact_bucket.set_of({"a": "x = 5\n"}, "live", version=1)
    artifact_bucket.lock()
    artifact_bucket.publish()
    lines = artifact_bucket.object_keys()
    for spec in artifact_bucket.folder.root.glob("model_specs/*.yaml"):
        spec.unlink()
    assert prune(artifact_bucket, keep=0).objects == {}
    assert artifact_bucket.object_keys() == lines


@pytest.mark.parametrize(
    "name",
    ["zoo", "live", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("sentences", "files"))],
)
def test_what_no_lock_names_any_more_goes(artifact_bucket: ArtifactBucket, name: str) -> None:
    artifact_bucket.single()
    artifact_bucket.single("files", keys=", compression: none", code="x = 2\n")
    artifact_bucket.set_of({"a": "x = 3\n", "b": "x = 4\n"})
    artifact_bucket.set_of({"a": "x = 5\n"}, "live", version=1)
    artifact_bucket.lock()
    artifact_bucket.publish()
    forget_lock(artifact_bucket, name)
    goes = prune(artifact_bucket).objects
    assert {key.split("/")[1] for key in goes if key.startswith("endpoints/")} == {name}
    assert any(key.startswith("archives/") for key in goes)


def test_a_lock_that_cannot_be_read_stops_it(artifact_bucket: ArtifactBucket) -> None:
    key = artifact_bucket.put(store_key(DIGEST))
    artifact_bucket.folder.write("locks/dev/gone.lock.yaml", "endpoint: gone\narchives: 7\n")
    with pytest.raises(FindingsError, match="gone.lock.yaml"):
        prune(artifact_bucket)
    assert artifact_bucket.object_keys() == [key]


def release_versions(artifact_bucket: ArtifactBucket, *codes: str) -> list[str]:
    """Publish and release one endpoint's contents after each other; what each has put, but for its release and records."""
    put = []
    for code in codes:
        before = set(artifact_bucket.object_keys())
        artifact_bucket.single(code=code)
        artifact_bucket.lock()
        artifact_bucket.publish()
        record_release(artifact_bucket.s3, artifact_bucket.endpoints[0])
        other_texts = ("releases/", "owners/")
        put.append(
            {key for key in set(artifact_bucket.object_keys()) - before if not key.startswith(other_texts)}
        )
    (artifact_bucket.folder.root / "model_specs/sentences.yaml").unlink()
    forget_lock(artifact_bucket, "sentences")
    return [sorted(keys) for keys in put]  # type: ignore[misc]


@pytest.mark.parametrize("keep", [1, *(pytest.param(number, marks=pytest.mark.nightly) for number in (0, 2))])
def test_what_the_last_releases_of_an_endpoint_use_stays(artifact_bucket: ArtifactBucket, keep: int) -> None:
    put = release_versions(artifact_bucket, "x = 1\n", "x = 2\n", "x = 3\n")
    releases, owners = artifact_bucket.object_keys("releases/"), artifact_bucket.object_keys("owners/")
    prune(artifact_bucket, keep)
    kept_keys = [key for keys in put[3 - keep :] for key in keys] if keep else []
    assert artifact_bucket.object_keys() == sorted(
        [*kept_keys, *(owners if keep else []), *releases[3 - keep :]]
    )


def test_each_endpoint_has_its_own_last_releases(artifact_bucket: ArtifactBucket) -> None:
    release_versions(artifact_bucket, "x = 1\n", "x = 2\n")
    artifact_bucket.set_of({"a": "x = 3\n"})
    artifact_bucket.lock()
    artifact_bucket.publish()
    record_release(artifact_bucket.s3, artifact_bucket.endpoints[0])
    forget_lock(artifact_bucket, "zoo")
    model_data = bucket_set(artifact_bucket)
    prune(artifact_bucket, keep=1)
    assert artifact_bucket.object_keys("endpoints/zoo/") == [model_data]
    assert len(artifact_bucket.object_keys("releases/")) == 2


def bucket_set(artifact_bucket: ArtifactBucket) -> str:
    (key,) = artifact_bucket.object_keys("endpoints/zoo/")
    return key


def test_a_release_that_cannot_be_read_stops_it(artifact_bucket: ArtifactBucket) -> None:
    artifact_bucket.put("releases/zoo/2026-01-01T00:00:00.000000Z.json", b"{}")
    key = artifact_bucket.put(store_key(DIGEST))
    with pytest.raises(FindingsError, match="FL325: s3://.*/releases/zoo/2026-01-01T00:00:00.000000Z.json"):
        prune(artifact_bucket)
    assert key in artifact_bucket.object_keys()
