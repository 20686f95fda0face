"""Imports that fail in the container are reported before it is started; no code is run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.repository_contents import SINGLE, model, warnings

CLASS = "\n\nclass TritonPythonModel:\n    pass\n"


def missing_imports(
    code: str, *, release: str | None = "25.04", config: str = "", **other_text: str
) -> list[tuple[object, str]]:
    files = {**model("a", code=code + CLASS), **{f"a/{path}": text for path, text in other_text.items()}}
    files["a/config.pbtxt"] += config
    findings = warnings(files, replace(SINGLE, release=release))
    return [(finding.line, finding.message.split("'")[1]) for finding in findings if finding.code == "FL472"]


def test_a_package_that_the_image_is_not_known_to_have_is_a_warning_at_its_line() -> None:
    files = model("a", code=f"import numpy as np\nfrom PIL import Image{CLASS}")
    (finding,) = [
        finding for finding in warnings(files, replace(SINGLE, release="25.04")) if finding.code == "FL472"
    ]
    assert finding.message == "'PIL' is not known to be in the image of 25.04: the model would not load"
    assert (finding.line, finding.file and finding.file.name) == (2, "model.py")
    assert "EXECUTION_ENV_PATH" in finding.hint


@pytest.mark.parametrize(
    "code",
    [
        "import json, os.path\nfrom collections.abc import Mapping",
        "import triton_python_backend_utils as pb_utils",
        "import numpy\nimport pkg_resources",
        "from . import helper",
        "try:\n    import torch\nexcept ImportError:\n    torch = None",
        "def late():\n    import torch",
        "if False:\n    import torch",
        "import sys\nsys.path.append('/opt/more')\nimport torch",
    ],
)
def test_what_is_there_or_may_be_there_is_not_reported(code: str) -> None:
    assert missing_imports(code) == []


def test_the_models_own_files_are_its_own() -> None:
    code = "import beside, inside, package.part"
    files = {"beside.py": "", "1/inside.py": "", "package/__init__.py": "", "package/part.py": ""}
    assert missing_imports(code, **files) == []
    assert missing_imports("import elsewhere", **{"2x/elsewhere.py": ""}) == [(1, "elsewhere")]


def test_a_packed_environment_may_have_anything() -> None:
    parameter = 'parameters { key: "EXECUTION_ENV_PATH" value { string_value: "/opt/env.tar.gz" } }\n'
    assert missing_imports("import torch", config=parameter) == []


@pytest.mark.parametrize(
    ("release", "expected_rows"), [("24.10", [(1, "fastapi")]), ("24.12", []), (None, [])]
)
def test_the_packages_are_those_of_the_release(
    release: str | None, expected_rows: list[tuple[object, str]]
) -> None:
    assert missing_imports("import fastapi", release=release) == expected_rows


def test_what_an_image_of_ones_own_has_is_not_guessed() -> None:
    files = model("a", code=f"import torch{CLASS}")
    findings = warnings(files, replace(SINGLE, release="25.04", own_image=True))
    assert [finding for finding in findings if finding.code == "FL472"] == []
