"""The files of an archive that differ between two locks, with the sizes that are known."""

from __future__ import annotations

from typing import Any

from triton_fleet.changes.lock_changes import content_changes
from triton_fleet.spec.lock import Lock

LABELS = {"labels/config.pbtxt": "crc32:00000001", "labels/1/model.py": "crc32:00000002"}


def lock(files: dict[str, str], digest: int = 0, size: int = 41_000, **keys: Any) -> Lock:
    """The lock of an endpoint with one archive of one model, of whose versions the files have 1,234 bytes."""
    models = keys.pop("models", {"labels": {"size": 1_234}})
    archive = {"digest": f"sha256:{digest:064}", "size": size, "models": models}
    archives = keys.pop("archives", {"phototags": archive})
    return Lock.model_validate(
        {
            "endpoint": "phototags",
            "archives": archives,
            "repositories": {"phototags": {"files": files}},
            **keys,
        }
    )


def changes(before: Lock, after: Lock, *sizes: Any) -> list[str]:
    return list(content_changes(before, after, *sizes))


def test_a_file_is_named_with_its_sizes_before_and_after() -> None:
    sizes = [{"phototags": {"labels/config.pbtxt": size}} for size in (300, 1_400)]
    actual_changes = changes(
        lock(LABELS), lock({**LABELS, "labels/config.pbtxt": "crc32:0000000f"}, 1), sizes
    )
    assert actual_changes == ["labels/config.pbtxt 300 bytes → 1.4 kB"]


def test_a_file_of_the_same_size_is_changed() -> None:
    sizes = [{"phototags": {"labels/config.pbtxt": 300}}] * 2
    actual_changes = changes(
        lock(LABELS), lock({**LABELS, "labels/config.pbtxt": "crc32:0000000f"}, 1), sizes
    )
    assert actual_changes == ["labels/config.pbtxt changed, 300 bytes"]


def test_the_only_file_of_a_models_versions_has_the_size_that_the_lock_has_of_them() -> None:
    after = lock({**LABELS, "labels/1/model.py": "crc32:0000000f"}, 1, models={"labels": {"size": 1_434}})
    assert changes(lock(LABELS), after) == ["labels/1/model.py 1.2 kB → 1.4 kB"]


def test_a_size_that_nothing_tells_is_not_given() -> None:
    pair = {**LABELS, "labels/1/words.txt": "crc32:00000003"}
    after = lock({**pair, "labels/1/model.py": "crc32:0000000f"}, 1, 42_000)
    assert changes(lock(pair), after) == ["labels/1/model.py changed", "archive phototags: 41.0 kB → 42.0 kB"]
    known_values: Any = ({}, {"phototags": {"labels/1/model.py": 700}})
    assert changes(lock(pair), after, known_values)[0] == "labels/1/model.py changed, now 700 bytes"


def test_new_and_removed_files_are_named() -> None:
    after = lock({"labels/config.pbtxt": "crc32:00000001", "labels/1/words.txt": "crc32:00000003"}, 1)
    assert changes(lock(LABELS), after) == [
        "labels/1/model.py removed, 1.2 kB",
        "labels/1/words.txt new, 1.2 kB",
    ]


def test_of_a_folder_with_many_files_only_the_folder_is_known() -> None:
    first_value, second_value = ({"labels/1/*": f"crc32:0000000{digit}"} for digit in (1, 2))
    assert changes(lock(first_value), lock(second_value, 1)) == ["some files in labels/1 changed"]
    assert changes(lock(LABELS), lock({**second_value, "labels/config.pbtxt": "crc32:00000001"}, 1)) == [
        "some files in labels/1 changed"
    ]


def test_of_more_files_than_a_report_names_the_rest_is_counted() -> None:
    many = {f"labels/{number}/model.py": "crc32:00000001" for number in range(1, 31)}
    actual_changes = changes(lock(many), lock(dict.fromkeys(many, "crc32:00000002"), 1))
    assert len(actual_changes) == 21
    assert actual_changes[-1] == "10 more files"


def test_copies_of_one_repository_name_its_files_once() -> None:
    def copy_lock(digest: int, size: int, files: dict[str, str]) -> Lock:
        archives = {
            f"phototags-{copy}": {
                "digest": f"sha256:{digest + copy:064}",
                "size": 41_000,
                "models": {f"labels_{copy}": {"size": size}},
            }
            for copy in range(3)
        }
        return lock(files, archives=archives)

    actual_changes = changes(
        copy_lock(0, 1_234, LABELS), copy_lock(10, 1_434, {**LABELS, "labels/1/model.py": "crc32:0000000f"})
    )
    assert actual_changes == ["labels/1/model.py 1.2 kB → 1.4 kB"]


def test_an_archive_whose_files_no_lock_lists_is_named_with_its_own_sizes() -> None:
    actual_changes = changes(lock({}), lock({}, 1, 42_000))
    assert actual_changes == ["archive phototags: other files, 41.0 kB → 42.0 kB"]
