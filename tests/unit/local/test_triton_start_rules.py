"""Which model the container loads, and when it refuses to start."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet_emulator.hosting import HostingError
from triton_fleet.local.triton.container import default_model

DEFAULT_MODEL = "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"


def _repository(folder: Path, *directories: str) -> Path:
    for name in directories:
        (folder / name).mkdir()
    return folder


@pytest.mark.parametrize(
    ("directories", "environment", "model"),
    [
        (["bert"], {}, "bert"),
        (["bert"], {DEFAULT_MODEL: ""}, "bert"),
        (["bert"], {DEFAULT_MODEL: "bert"}, "bert"),
        (["pre", "bert", "ensemble"], {DEFAULT_MODEL: "ensemble"}, "ensemble"),
        ([".hidden"], {}, ".hidden"),
        (["bert"], {"SAGEMAKER_TRITON_INFERENCE_TYPE": "generate"}, "bert"),
    ],
)
def test_the_named_model_is_loaded_or_else_the_only_one(
    tmp_path: Path, directories: list[str], environment: dict[str, str], model: str
) -> None:
    assert default_model(_repository(tmp_path, *directories), environment) == model


@pytest.mark.parametrize(
    ("directories", "environment", "words"),
    [
        ([], {}, "No model found in model repository"),
        (["a", "b"], {}, r"More than 1 model directory found .*: a b$"),
        (["bert", ".ipynb_checkpoints"], {}, "More than 1 model directory"),
        (
            ["bert"],
            {DEFAULT_MODEL: "ensemble"},
            f"Directory with provided {DEFAULT_MODEL} ensemble does not exist",
        ),
        (
            ["bert"],
            {"SAGEMAKER_TRITON_INFERENCE_TYPE": "Infer"},
            "Must be one of: infer, generate, generate_stream",
        ),
    ],
)
def test_the_container_says_why_it_does_not_start(
    tmp_path: Path, directories: list[str], environment: dict[str, str], words: str
) -> None:
    with pytest.raises(HostingError, match=words):
        default_model(_repository(tmp_path, *directories), environment)


def test_a_model_at_the_root_of_the_archive_is_refused_even_if_another_one_is_named(tmp_path: Path) -> None:
    _repository(tmp_path, "bert")
    (tmp_path / "config.pbtxt").touch()
    with pytest.raises(HostingError, match="Incorrect directory structure"):
        default_model(tmp_path, {DEFAULT_MODEL: "bert"})


def test_files_and_links_to_directories_are_no_models(tmp_path: Path) -> None:
    _repository(tmp_path, "bert")
    (tmp_path / "README.md").touch()
    (tmp_path / "alias").symlink_to("bert")
    assert default_model(tmp_path, {}) == "bert"


def test_a_repository_that_is_not_there_has_no_model(tmp_path: Path) -> None:
    with pytest.raises(HostingError, match="No model found"):
        default_model(tmp_path / "nowhere", {})
