"""Clones of a fleet that promote one environment at once, and locks of one clone: whole files, no mixed state."""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.promotion import ENDPOINT, Promotion
from tests.support.promotion_images import PromotedImages
from triton_fleet.findings import CannotRunError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.values import hexadecimal

pytestmark = pytest.mark.nightly

CLONES = 3


def test_clones_that_promote_at_once_write_one_release_and_the_losers_are_told_what_to_do(
    tested_images: PromotedImages, tmp_path: Path
) -> None:
    promotion, start = tested_images.promotion, Barrier(CLONES)
    roots = [tmp_path / f"clone-{number}" for number in range(CLONES)]
    for root in roots:
        shutil.copytree(promotion.folder.root, root)

    def promote(root: Path) -> Lock | None:
        clone = Promotion(FleetFolder(root), promotion.urls)
        target_s3, target_ecr = clone.another_s3("prod"), clone.another_ecr("prod")
        start.wait()
        try:
            clone.promote(target_s3=target_s3, target_ecr=target_ecr)
        except CannotRunError as error:
            assert "run the command again" in error.remedy
            assert not (root / "locks/prod").exists()
            return None
        return load_lock(root / f"locks/prod/{ENDPOINT}.lock.yaml")

    with ThreadPoolExecutor(CLONES) as pool:
        written_locks = [lock for lock in pool.map(promote, roots) if lock is not None]
    tested_lock = load_lock(promotion.folder.root / f"locks/staging/{ENDPOINT}.lock.yaml")
    assert written_locks
    assert all(
        (written_lock.archives, written_lock.image) == (tested_lock.archives, tested_lock.image)
        for written_lock in written_locks
    )
    assert tested_lock.image is not None
    assert tested_images.tags() == {tested_lock.image.digest: [hexadecimal(tested_images.key)]}
    assert tested_images.recorded_image()["digest"] == tested_lock.image.digest
    assert len([key for key in promotion.keys("prod") if key.startswith("archives/")]) == 1
    uploads = promotion.s3("prod").list_multipart_uploads(Bucket=promotion.bucket("prod"))
    assert "Uploads" not in uploads


def test_locks_of_one_clone_at_once_leave_whole_files_and_other_clones_alone(
    folder: FleetFolder, tmp_path: Path
) -> None:
    folder.lock()
    other_folder = tmp_path / "other"
    shutil.copytree(folder.root, other_folder)
    folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
    lock, other_lock = (root / "locks/dev/sentences.lock.yaml" for root in (folder.root, other_folder))
    before, former = load_lock(lock), other_lock.read_bytes()
    command = [str(Path(sys.executable).parent / "fleet"), "lock", "--env", "dev"]
    processes = [subprocess.Popen(command, cwd=folder.root, stdout=subprocess.DEVNULL) for _ in range(2)]
    contents = set[str]()
    while any(process.poll() is None for process in processes):
        contents.add(load_lock(lock).archives["sentences"].digest)
    assert [process.returncode for process in processes] == [0, 0]
    after = load_lock(lock)
    assert contents <= {item.archives["sentences"].digest for item in (before, after)}
    assert before.archives != after.archives
    assert [path.name for path in lock.parent.iterdir()] == [lock.name]
    assert other_lock.read_bytes() == former
