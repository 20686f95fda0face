"""The files, folders and objects that a spec names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from triton_fleet.spec.source import KeyPath, Source


def named_inputs(source: Source) -> Iterator[tuple[KeyPath, str]]:
    """The model repositories, ONNX models and the image's folder of a spec, which may be invalid.

    Those that are not in S3 are relative to the file that names them.
    """
    image = source.data.get("image")
    build = [(("image", "build"), image.get("build"))] if isinstance(image, dict) else []
    for path, value in chain(_of_models(source.data.get("models")), build):
        if isinstance(value, str):
            yield path, value


def _of_models(models: object) -> Iterator[tuple[KeyPath, object]]:
    for index, model in _mappings(models):
        yield ("models", index, "repository"), model.get("repository")
        for number, engine in _mappings(model.get("engines")):
            yield ("models", index, "engines", number, "onnx"), engine.get("onnx")


def _mappings(values: object) -> Iterator[tuple[int, dict[str, object]]]:
    for index, value in enumerate(values if isinstance(values, list) else ()):
        if isinstance(value, dict):
            yield index, value
