"""Where the plan of an engine lies in its archive, and that nothing else of it changes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.support.s3_repositories import on_disk
from triton_fleet.findings import FindingsError
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.plan import plan_place
from triton_fleet.repository.reading.folder import read_folder
from triton_fleet.store.archive import DigestWriter
from triton_fleet.store.engines.archives import BuiltPlan, BuiltSource
from triton_fleet.store.sources.copy import CopySource
from triton_fleet.store.sources.folder import FolderSource
from triton_fleet.store.upload.object import ContentChangedError

BUILT_CONTAINER = ServingContainer(engine_models=frozenset(["bert"]))
PLAN = b"a plan" * 1000
FILES = {
    "a/config.pbtxt": b"",
    "a/1/a.txt": b"",
    "a/1/zoo/b.txt": b"below",
    "bert/config.pbtxt": b'name: "bert"',
    "bert/labels.txt": b"",
    "c/1/model.py": b"",
    "NOTES": b"",
}


def repository(files: dict[str, bytes], folder: Path) -> Contents:
    """One with a model of these files."""
    return read_folder(
        on_disk({f"m/{path}": content for path, content in files.items()}, folder), is_packed=True
    )


def stream(source: FolderSource | CopySource | BuiltSource) -> bytes:
    written_stream = io.BytesIO()
    source.write(written_stream)
    return written_stream.getvalue()


def own_digest(source: FolderSource | CopySource) -> str:
    digest = DigestWriter()
    source.write(digest)
    return digest.digest


def source_of_build(source: FolderSource | CopySource, *paths: str) -> BuiltSource:
    plan = BuiltPlan(size=len(PLAN), chunks=lambda: iter((PLAN[:100], PLAN[100:])))
    return BuiltSource(source, dict.fromkeys(paths, plan), own_digest(source))


@pytest.mark.parametrize(
    "paths",
    [
        ("bert/1/model.plan",),
        ("a/1/model.plan", "c/1/a.plan"),
        ("a/1/a.plan", "bert/1/z.plan", "c/1/z.plan"),
    ],
)
def test_the_stream_is_that_of_a_folder_with_the_plans_in_it(tmp_path: Path, paths: tuple[str, ...]) -> None:
    without = on_disk(FILES, tmp_path / "without")
    whole = on_disk(FILES | dict.fromkeys(paths, PLAN), tmp_path / "with")
    packed_stream = stream(source_of_build(FolderSource.of(without, BUILT_CONTAINER), *paths))
    assert packed_stream == stream(FolderSource.of(whole))


def test_the_stream_of_a_copy_is_that_of_a_copy_with_the_plan_in_it(tmp_path: Path) -> None:
    without = on_disk(FILES, tmp_path / "without")
    whole = on_disk(FILES | {"bert/1/model.plan": PLAN}, tmp_path / "with")
    packed_stream = stream(
        source_of_build(CopySource(FolderSource.of(without, BUILT_CONTAINER), 3), "bert_3/1/model.plan")
    )
    assert packed_stream == stream(CopySource(FolderSource.of(whole), 3))


def test_its_size_is_known_before_well_enough(tmp_path: Path) -> None:
    source = FolderSource.of(on_disk(FILES, tmp_path), BUILT_CONTAINER)
    paths = ["a/1/model.plan", "bert/1/model.plan"]
    plans = dict.fromkeys(paths, BuiltPlan(size=len(PLAN), chunks=lambda: iter((PLAN,))))
    assert len(stream(source_of_build(source, *paths))) <= BuiltSource.max_size(len(stream(source)), plans)


def test_another_repository_than_was_locked_is_refused(tmp_path: Path) -> None:
    source = FolderSource.of(on_disk(FILES, tmp_path), BUILT_CONTAINER)
    with pytest.raises(ContentChangedError, match=own_digest(source)):
        BuiltSource(source, {}, "sha256:other").write(io.BytesIO())


def test_a_file_where_the_plan_goes_is_refused(tmp_path: Path) -> None:
    source = FolderSource.of(on_disk(FILES, tmp_path), BUILT_CONTAINER)
    with pytest.raises(FindingsError, match="FL372: 'a/1/a.txt' already exists"):
        source_of_build(source, "a/1/a.txt").write(io.BytesIO())


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"config.pbtxt": b""}, "1/model.plan"),
        ({"7/notes.txt": b""}, "7/model.plan"),
        ({"config.pbtxt": b'default_model_filename: "bert.plan"'}, "1/bert.plan"),
        (
            {"config.pbtxt": b'cc_model_filenames { key: "8.6" value: "a10g.plan" }'},
            "1/a10g.plan",
        ),
        ({"config.pbtxt": b'cc_model_filenames { key: "7.5" value: "t4.plan" }'}, "1/model.plan"),
        ({"config.pbtxt": b"no config"}, "1/model.plan"),
    ],
)
def test_the_plan_lies_in_the_only_version_as_the_config_calls_it(
    tmp_path: Path, files: dict[str, bytes], place: str
) -> None:
    assert plan_place(repository(files, tmp_path), "m", "8.6") == place


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"10/a": b"", "9/a": b""}, "has the versions 9, 10"),
        ({"config.pbtxt": b'default_model_filename: "../b.plan"'}, "outside of its version"),
    ],
)
def test_a_plan_without_a_place_is_refused(tmp_path: Path, files: dict[str, bytes], message: str) -> None:
    with pytest.raises(FindingsError, match=f"FL372: .*{message}"):
        plan_place(repository(files, tmp_path), "m", "8.6")
