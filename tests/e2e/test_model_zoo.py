"""The archives of the model zoo, loaded by a real Triton in multi-model mode, answer what their models compute."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.fleet_folder import ROOT
from tests.support.minilm_reference import embed
from tests.support.triton_models import RefusedError
from tests.support.zoo_graphs import PIXELS, Array, run, seeded_graph, shipped_answer, shipped_input
from tests.support.zoo_repositories import EXAMPLE, copy_repository, files, make_models, with_graph
from tests.support.zoo_triton import ZooTriton
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.store.sources.folder import FolderSource
from triton_fleet.store.sources.source import measure

pytestmark = [pytest.mark.triton, pytest.mark.nightly]

MAIN = {
    "sentences": "sentence_ensemble",
    "resnet50": "resnet50",
    "inception-v1": "inception_v1",
    "top-classes": "top_classes",
    "image-classes": "image_ensemble",
}
# Archive, the graph's name in the onnx wheel, its input, its output.
CLASSIFIERS = [
    ("resnet50", "resnet50", "gpu_0/data_0", "gpu_0/softmax_1"),
    ("inception-v1", "inception_v1", "data_0", "prob_1"),
]
SENTENCES = ["A man is eating food.", "Über den Wolken: naïve café, 東京 – 42 %!", ""]
IMAGE = np.random.default_rng(3).integers(0, 256, (224, 224, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy_repository(tmp_path_factory.mktemp("model_zoo") / "models")
    assert make_models(folder) == "written"
    return folder


@pytest.fixture(scope="module")
def zoo(
    runtime: TritonRuntime, archives: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ZooTriton]:
    zoo = ZooTriton(runtime, tmp_path_factory.mktemp("triton"))
    try:
        for archive in MAIN:
            zoo.load(f"{archive}.tar.gz", archives / archive)
        yield zoo
    finally:
        zoo.server.stop()


def test_the_spec_names_these_archives(archives: Path) -> None:
    spec = open_project(ROOT, "local", ["model-zoo"]).load("model-zoo").spec
    assert {model.archive: (ROOT / "model_specs" / model.repository).resolve() for model in spec.models} == {
        archive: EXAMPLE / "models" / archive for archive in MAIN
    }
    assert {path.name for path in archives.iterdir()} == set(MAIN)


def test_the_shipped_locks_are_of_what_the_wheels_give(archives: Path) -> None:
    digests = {archive: measure(FolderSource.of(archives / archive)).digest for archive in MAIN}
    for environment in ("dev", "staging", "prod"):
        lock = load_lock(ROOT / "locks" / environment / "model-zoo.lock.yaml")
        assert {name: archive.digest for name, archive in lock.archives.items()} == digests


def test_each_archive_has_one_main_model(archives: Path) -> None:
    assert {
        archive: FolderSource.of(archives / archive, ServingContainer(multi_model=True)).plan.main
        for archive in MAIN
    } == MAIN


def test_no_two_archives_have_a_model_of_one_name(archives: Path) -> None:
    names = [name for archive in MAIN for name in FolderSource.of(archives / archive).served_models()]
    assert len(names) == 10
    assert len(set(names)) == 10


def test_every_model_states_its_name_and_what_runs_it_and_has_a_file_in_its_version(archives: Path) -> None:
    for config in archives.glob("*/*/config.pbtxt"):
        text = config.read_text()
        assert re.findall(r'^name: "(.*)"$', text, re.MULTILINE) == [config.parent.name]
        assert re.search(r'^(backend|platform): "\w+"$', text, re.MULTILINE), config
        assert list((config.parent / "1").iterdir()), "git and tar keep no empty folder"


@pytest.mark.parametrize(("archive", "graph", "image", "classes"), CLASSIFIERS)
def test_a_classifier_answers_what_the_onnx_package_ships(
    zoo: ZooTriton, archive: str, graph: str, image: str, classes: str
) -> None:
    answer = zoo.infer(f"{archive}.tar.gz", {image: shipped_input()}, [classes])[classes]
    assert answer.shape == (1, 1000)
    assert np.abs(answer - shipped_answer(graph)).max() < 1e-7


@pytest.mark.parametrize(("archive", "graph", "image", "classes"), CLASSIFIERS)
def test_with_weights_that_differ_a_classifier_answers_what_onnx_runtime_does(
    zoo: ZooTriton, archives: Path, tmp_path: Path, archive: str, graph: str, image: str, classes: str
) -> None:
    model = seeded_graph(graph)
    target = f"seeded-{archive}.tar.gz"
    zoo.load(target, with_graph(archives / archive, MAIN[archive], model, tmp_path / archive))
    expected_array = run(model, shipped_input())
    answer = zoo.infer(target, {image: shipped_input()}, [classes])[classes]
    of_another = run(model, np.ones(PIXELS, dtype=np.float32))
    assert np.abs(answer - expected_array).max() < np.abs(of_another - expected_array).max() / 100


def normalise_pixels(image: np.ndarray[Any, Any]) -> Array:
    """By channel and in double precision, with the mean and deviation of ImageNet."""
    number, green, blue = (image[..., channel].astype(np.float64) / 255 for channel in range(3))
    planes = [(number - 0.485) / 0.229, (green - 0.456) / 0.224, (blue - 0.406) / 0.225]
    return np.array([planes], dtype=np.float32)


def test_an_image_becomes_what_the_graph_makes_of_it_normalised(
    zoo: ZooTriton, archives: Path, tmp_path: Path
) -> None:
    model = seeded_graph("inception_v2")
    repository = with_graph(archives / "image-classes", "image_inception", model, tmp_path / "archive")
    zoo.load("seeded-image-classes.tar.gz", repository)
    answer = zoo.infer("seeded-image-classes.tar.gz", {"image": IMAGE}, ["probabilities"])["probabilities"]
    expected_array = run(model, normalise_pixels(IMAGE))
    of_another = run(model, normalise_pixels(255 - IMAGE))
    assert np.abs(answer - expected_array).max() < np.abs(of_another - expected_array).max() / 100


def test_the_classes_of_an_image_are_what_the_onnx_package_ships(zoo: ZooTriton) -> None:
    answer = zoo.infer("image-classes.tar.gz", {"image": IMAGE}, ["probabilities"])["probabilities"]
    assert np.abs(answer - shipped_answer("inception_v2")).max() < 1e-7


def test_sentences_get_the_embeddings_of_an_independent_computation(zoo: ZooTriton) -> None:
    texts = np.array([[text.encode()] for text in SENTENCES], dtype=np.object_)
    answer = zoo.infer("sentences.tar.gz", {"INPUT0": texts}, ["finaloutput"])["finaloutput"]
    assert np.abs(answer - embed(SENTENCES)).max() <= 1e-4


def _top(zoo: ZooTriton, probabilities: Array) -> tuple[list[Any], list[Any]]:
    answer = zoo.infer("top-classes.tar.gz", {"probabilities": probabilities}, ["classes", "scores"])
    assert (answer["classes"].dtype, answer["scores"].dtype) == (np.int64, np.float32)
    return answer["classes"].tolist(), answer["scores"].tolist()


def test_the_top_classes_are_the_five_best_of_each_row_best_first(zoo: ZooTriton) -> None:
    probabilities = np.random.default_rng(5).random((3, 1000), dtype=np.float32)
    rankings = [sorted(enumerate(row), key=lambda pair: -pair[1])[:5] for row in probabilities.tolist()]
    classes, scores = _top(zoo, probabilities)
    assert classes == [[index for index, _ in row] for row in rankings]
    assert scores == [[score for _, score in row] for row in rankings]


def test_of_equal_scores_the_lower_class_comes_first(zoo: ZooTriton) -> None:
    assert _top(zoo, np.array([[1, 2, 2, 1, 1, 2]], dtype=np.float32))[0] == [[1, 2, 5, 0, 3]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.5, 0.5, 0.0, 0.0], "probabilities has 4 classes, fewer than the 5 best"),
        ([0.1, 0.2, 0.3, 0.4, np.nan], "probabilities holds NaN"),
    ],
)
def test_probabilities_that_have_no_five_best_are_refused(
    zoo: ZooTriton, row: list[float], message: str
) -> None:
    with pytest.raises(RefusedError, match=f"400 .*{message}"):
        _top(zoo, np.array([row], dtype=np.float32))


def test_a_k_that_is_no_number_from_1_fails_the_load(zoo: ZooTriton, archives: Path, tmp_path: Path) -> None:
    shutil.copytree(archives / "top-classes", tmp_path / "archive")
    config = tmp_path / "archive" / "top_classes" / "config.pbtxt"
    config.write_text(config.read_text().replace('"5"', '"0"'))
    with pytest.raises(RefusedError, match="parameter k is '0': write a whole number from 1"):
        zoo.load("refused.tar.gz", tmp_path / "archive")


def test_what_is_made_is_the_same_anywhere_and_not_made_twice(archives: Path, tmp_path: Path) -> None:
    assert make_models(tmp_path) == "written"
    contents = files(tmp_path)
    assert make_models(tmp_path) == "up to date"
    assert files(tmp_path) == contents
    committed_contents = files(copy_repository(tmp_path / "committed"))
    assert files(archives) == contents | committed_contents


def test_what_was_changed_or_left_over_is_made_again(tmp_path: Path) -> None:
    make_models(tmp_path)
    contents = files(tmp_path)
    (tmp_path / "sentences" / "sentence_pooling" / "1" / "model.py").write_text("changed")
    (tmp_path / "sentences" / "sentence_pooling" / "1" / "weights.bin").write_text("left over")
    (tmp_path / "resnet50" / "resnet50" / "1" / "model.onnx").write_bytes(b"")
    assert make_models(tmp_path) == "written"
    assert files(tmp_path) == contents


def test_without_the_onnx_wheel_its_name_is_said_and_nothing_is_made(tmp_path: Path) -> None:
    hide = (
        "import importlib.util, runpy, sys\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'onnx' else find(name, *more)\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    command: list[str | Path] = [sys.executable, "-c", hide, EXAMPLE / "make_models.py", "--into", tmp_path]
    process = subprocess.run(command, check=False, capture_output=True, text=True)
    assert process.returncode == 2
    assert process.stderr == "make_models: the graphs are not installed; run: pip install onnx\n"
    assert not list(tmp_path.iterdir())
