"""Folders of the cache: whole, or absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_fleet.local.triton.cache_folder import cache_folder


def test_a_folder_that_exists_is_not_filled_again(tmp_path: Path) -> None:
    filled_files = list[Path]()
    folders = {cache_folder(tmp_path, "one", filled_files.append) for _ in range(2)}
    assert (folders, len(filled_files)) == ({tmp_path / "one"}, 1)


def test_one_that_cannot_be_filled_leaves_nothing(tmp_path: Path) -> None:
    def fill(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        cache_folder(tmp_path, "one", fill)
    assert list(tmp_path.iterdir()) == []


def test_of_two_processes_that_fill_it_the_later_one_takes_what_exists(tmp_path: Path) -> None:
    def fill(folder: Path) -> None:
        (folder / "content").touch()
        (tmp_path / "one").mkdir()
        (tmp_path / "one" / "content").touch()

    assert cache_folder(tmp_path, "one", fill) == tmp_path / "one"
    assert list(tmp_path.iterdir()) == [tmp_path / "one"]
