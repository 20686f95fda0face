"""A Python model finds the packages that its image has, and none of the product's."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from fleet_emulator.hosting import HostingError
from tests.support.triton_models import DOUBLE, TENSORS, Starter, call, onnx_model, python_model
from triton_fleet.local.triton.model_python import CONFIGURATION, INTERPRETER, PACKAGES
from triton_fleet.local.triton.runtime import RELEASE, TritonRuntime
from triton_fleet.local.try_load import findings, load_in_triton
from triton_fleet.spec.endpoint import Mode

pytestmark = pytest.mark.triton
ACTIVATE = 'export PATH="$(dirname "${BASH_SOURCE[0]}"):$PATH"\n'
IMPORT_CODE = """
import importlib.util
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        names = ("triton_fleet", "fleet_emulator", "moto", "onnxruntime", "typer", "shared_container", "PIL")
        found = [name for name in names if importlib.util.find_spec(name)]
        assert not found, found

    def execute(self, requests):
        inputs = [pb_utils.get_input_tensor_by_name(request, "x") for request in requests]
        return [pb_utils.InferenceResponse([pb_utils.Tensor("y", 2 * x.as_numpy())]) for x in inputs]
"""


@pytest.mark.parametrize("module", ["moto", "typer", "aws_cdk", "PIL", "triton_fleet"])
def test_a_package_that_only_the_product_has_is_missing_at_the_line_that_imports_it(
    module: str, starter: Starter, tmp_path: Path
) -> None:
    code = f"# A model.\n\nimport {module}\n{DOUBLE}"
    missing_text = rf"ModuleNotFoundError: No module named '{module}' \(double/1/model.py:3\)"
    with pytest.raises(HostingError, match=missing_text):
        starter.start(python_model(tmp_path, code))


def test_check_run_reports_the_same_at_the_models_file(runtime: TritonRuntime, tmp_path: Path) -> None:
    repository = python_model(tmp_path, f"import moto\n{DOUBLE}")
    answer = load_in_triton(repository, runtime, mode=Mode.SINGLE, default_model="double")
    (finding,) = findings(answer)
    assert "ModuleNotFoundError: No module named 'moto' (double/1/model.py:1)" in finding.message
    assert (finding.file, finding.line) == (repository / "double/1/model.py", 1)


def test_numpy_and_the_models_own_files_are_found(starter: Starter, tmp_path: Path) -> None:
    repository = python_model(tmp_path, f"import beside, inside\n{DOUBLE}")
    (repository / "double" / "beside.py").write_text("import numpy\n")
    (repository / "double" / "1" / "inside.py").write_text("import numpy\n")
    assert call(starter.start(repository), [[1.0, 2.0]]) == [1, 2, 2, 4]


def test_a_path_of_the_endpoints_variables_brings_in_nothing(starter: Starter, tmp_path: Path) -> None:
    repository = python_model(tmp_path, IMPORT_CODE)
    server = starter.start(repository, {"PYTHONPATH": str(Path(__file__).parents[3])})
    assert call(server, [[1.0, 2.0]]) == [1, 2, 2, 4]


def test_a_stand_in_beside_it_has_the_products_packages_for_itself(starter: Starter, tmp_path: Path) -> None:
    python_model(tmp_path, IMPORT_CODE, name="imported")
    repository = onnx_model(tmp_path, f'platform: "onnxruntime_onnx" {TENSORS}', ["n", 2])
    environment = {
        "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "double",
        "SAGEMAKER_TRITON_ADDITIONAL_ARGS": "--load-model=imported",
    }
    server = starter.start(repository, environment)
    assert call(server, [[1.0, 2.0]]) == [1, 2, 2, 4]


@pytest.mark.parametrize("missing_text", ["", "moto"])
def test_a_packed_environment_brings_its_packages_and_no_others(
    missing_text: str, starter: Starter, tmp_path: Path
) -> None:
    code = f"import packed_package\n{f'import {missing_text}' if missing_text else ''}\n{DOUBLE}"
    repository = python_model(tmp_path, code)
    python = starter.runtime.python
    files = {
        "bin/activate": ACTIVATE,
        "pyvenv.cfg": CONFIGURATION,
        f"{PACKAGES}/packed_package.py": "",
        f"{PACKAGES}/of_the_image.pth": f"{python.prefix / PACKAGES}\n",
    }
    with tarfile.open(repository / "double" / "packed.tar.gz", "w:gz") as tar:
        link = tarfile.TarInfo("bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, str(INTERPRETER)
        tar.addfile(link)
        for path, text in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    with (repository / "double" / "config.pbtxt").open("a") as config:
        config.write(
            'parameters { key: "EXECUTION_ENV_PATH" value'
            ' { string_value: "$$TRITON_MODEL_DIRECTORY/packed.tar.gz" } }'
        )
    if missing_text:
        with pytest.raises(HostingError, match="No module named 'moto'"):
            starter.start(repository)
    else:
        assert call(starter.start(repository), [[1.0, 2.0]]) == [1, 2, 2, 4]


def test_what_an_image_of_ones_own_installs_is_found(
    runtime: TritonRuntime, starter: Starter, tmp_path: Path
) -> None:
    starter.runtime = runtime.for_release(RELEASE, {"pillow": "13.0.0"})
    server = starter.start(python_model(tmp_path, f"from PIL import Image\n{DOUBLE}"))
    assert call(server, [[1.0, 2.0]]) == [1, 2, 2, 4]
