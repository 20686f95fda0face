"""Two copies of one ensemble on one real Triton: the same answers, from models with names of their own."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.support.triton_models import DOUBLE, TENSORS
from tests.support.zoo_triton import ZooTriton
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.store.sources.copy import CopySource
from triton_fleet.store.sources.folder import FolderSource

pytestmark = pytest.mark.triton

ENSEMBLE = f"""
# Not model_name: "double".
name: 'chain'
platform: "ensemble"
{TENSORS}
ensemble_scheduling {{ step [ {{
  model_name: "dou" 'ble'
  model_version: -1
  input_map {{ key: "x" value: "x" }}
  output_map {{ key: "y" value: "y" }}
}} ] }}
"""
FILES = {
    "chain/config.pbtxt": ENSEMBLE,
    "double/config.pbtxt": f'name: "double" backend: "python" {TENSORS} instance_group {{ kind: KIND_CPU }}',
    "double/1/model.py": DOUBLE,
}


@pytest.fixture(scope="module")
def triton(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooTriton]:
    zoo = ZooTriton(runtime, tmp_path_factory.mktemp("copies"))
    yield zoo
    zoo.server.stop()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (folder / "chain/1").mkdir()
    return folder


def unpack_source(source: CopySource, folder: Path) -> Path:
    stream = io.BytesIO()
    source.write(stream)
    stream.seek(0)
    with tarfile.open(fileobj=stream) as tar:
        tar.extractall(folder)
    return folder


def test_copies_of_an_ensemble_answer_alike_under_names_of_their_own(
    triton: ZooTriton, repository: Path, tmp_path: Path
) -> None:
    x = np.array([[1.0, 2.0]], dtype=np.float32)
    for copy in (0, 1):
        source = CopySource(FolderSource.of(repository), copy)
        assert set(source.models()) == {f"chain_{copy}", f"double_{copy}"}
        triton.load(f"zoo-{copy}.tar.gz", unpack_source(source, tmp_path / str(copy)))
    answers = [triton.infer(f"zoo-{copy}.tar.gz", {"x": x}, ["y"])["y"].tolist() for copy in (0, 1)]
    assert answers == [[[2.0, 4.0]]] * 2
    log = (triton.folder / "triton.log").read_text()
    assert {"double_0", "double_1"} == set(re.findall(r"successfully loaded '[^']*::(double_[0-9]+)'", log))
