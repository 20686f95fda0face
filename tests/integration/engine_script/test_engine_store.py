"""The file that a container leaves becomes an engine only if it is the one that was asked for, and if there is none yet."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from engine_job.record import MAX_FIGURES, MAX_RECORD_BYTES
from engine_request.files import PLAN, RECORD
from engine_request.problems import BuildError
from tests.support.embedded_s3 import BUCKET
from tests.support.engine_builds import ARGUMENTS, ONNX, EngineStore
from triton_fleet.builds.engines.request import EngineRequest
from triton_fleet.builds.script import build_script


def change_record(store: EngineStore, **changes: Any) -> None:
    file = store.outputs / RECORD
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | changes), "utf-8")


def require_no_object(store: EngineStore, request: EngineRequest) -> None:
    assert not store.has(request.plan)
    assert not store.has(request.manifest)


def test_the_manifest_says_how_the_plan_came_to_be(store: EngineStore) -> None:
    request = store.request()
    assert store.compile(request) == 0
    store.store(request, by="engine-0a")
    plan, values = store.body(request.plan), store.json(request.manifest)
    assert values["plan"] == {"digest": f"sha256:{hashlib.sha256(plan).hexdigest()}", "size": len(plan)}
    assert values["onnx"] == {"digest": request.onnx_digest, "size": len(ONNX)}
    assert (values["key"], values["arguments"], values["image"]) == (
        request.key,
        list(ARGUMENTS),
        request.image,
    )
    assert (values["script"], values["by"]) == (build_script()[1], "engine-0a")
    assert values["gpu"]["name"] == "NVIDIA A10G (stand-in)"


def test_an_engine_that_is_there_stays(store: EngineStore) -> None:
    request = store.request()
    assert store.compile(request) == 0
    store.store(request)
    before = store.body(request.plan), store.body(request.manifest)
    assert store.compile(request) == 0
    store.store(request, by="engine-2")
    assert (store.body(request.plan), store.body(request.manifest)) == before


def test_a_plan_that_lost_its_build_before_the_manifest_gets_one(store: EngineStore) -> None:
    request = store.request()
    assert store.compile(request) == 0
    store.store(request)
    plan = store.body(request.plan)
    store.s3.delete_object(Bucket=BUCKET, Key=request.manifest)
    assert store.compile(request) == 0
    store.store(request)
    assert store.body(request.plan) == plan
    values = store.json(request.manifest)
    assert values["plan"] == {"digest": f"sha256:{hashlib.sha256(plan).hexdigest()}", "size": len(plan)}
    assert values["build_seconds"] is None


def test_a_plan_that_somebody_put_there_by_hand_is_refused(store: EngineStore) -> None:
    request = store.request()
    store.put(request.plan, b"anything")
    assert store.compile(request) == 0
    with pytest.raises(BuildError, match="has no digest in its metadata") as error:
        store.store(request)
    assert error.value.remedy == "delete it, and publish again"
    assert not store.has(request.manifest)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"key": "sha256:0a"}, "it has the key of another engine"),
        ({"plan": {"digest": f"sha256:{'0a' * 32}", "size": 1}}, "the plan is not the one of its record"),
        ({"tensorrt": "10\x1b[2J"}, "a text is missing, not printable or longer than 200 characters"),
        ({"build_seconds": "1"}, "a number is missing or not finite"),
        ({"figures": {"<b>": 1}}, "more than 20 figures, or one with a malformed name"),
        *(
            pytest.param(changes, message, marks=pytest.mark.nightly)
            for changes, message in (
                (
                    {"plan": {"digest": "sha256:0a", "size": 1}},
                    "the digest or the size of the plan is malformed",
                ),
                ({"plan": None}, "no valid record"),
                ({"tensorrt": "1" * 201}, "a text is missing, not printable or longer than 200 characters"),
                ({"gpu": {}}, "no valid record"),
                ({"gpu": []}, "no valid record"),
                ({"build_seconds": float("inf")}, "a number is missing or not finite"),
                ({"build_seconds": 10**400}, "no valid record"),
                (
                    {"figures": {f"a{index}": 1 for index in range(MAX_FIGURES + 1)}},
                    "more than 20 figures, or one with a malformed name",
                ),
                ({"figures": [1]}, "no valid record"),
                ({"started": None}, "a text is missing, not printable or longer than 200 characters"),
            )
        ),
    ],
)
def test_a_record_that_is_none_stores_nothing(
    store: EngineStore, changes: dict[str, Any], message: str
) -> None:
    request = store.request()
    assert store.compile(request) == 0
    change_record(store, **changes)
    with pytest.raises(BuildError, match=message) as error:
        store.store(request)
    assert error.value.problem.exit_code == 20
    require_no_object(store, request)


@pytest.mark.parametrize(
    "text",
    [
        b"\xff",
        b" " * (MAX_RECORD_BYTES + 1),
        *(pytest.param(text, marks=pytest.mark.nightly) for text in (b"", b"[" * 100_000, b"null")),
    ],
)
def test_a_record_that_is_no_document_stores_nothing(store: EngineStore, text: bytes) -> None:
    request = store.request()
    assert store.compile(request) == 0
    (store.outputs / RECORD).write_bytes(text)
    with pytest.raises(BuildError):
        store.store(request)
    require_no_object(store, request)


@pytest.mark.parametrize("name", [PLAN, RECORD])
def test_a_link_is_no_file_of_a_build(store: EngineStore, name: str) -> None:
    request = store.request()
    assert store.compile(request) == 0
    (store.outputs / name).rename(store.folder / name)
    (store.outputs / name).symlink_to(store.folder / name)
    with pytest.raises(BuildError, match=f"left no {name}"):
        store.store(request)
    require_no_object(store, request)
