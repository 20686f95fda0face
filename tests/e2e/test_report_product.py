"""`fleet report` of a change of the product: what that does to templates, in a clone and by the package."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.support.fleet_folder import ROOT
from tests.support.git_repository import GitRepository
from tests.support.wheels import ENDPOINTS, FLEET, older_wheel
from triton_fleet.core.folders import PRODUCT
from triton_fleet.product.distributions import wheel_name
from triton_fleet.project.fleet_files import SYNTHESIS_INPUTS

pytestmark = pytest.mark.nightly
ENDPOINT = "resnet50"
RUN = "from triton_fleet.cli.main import run; run()"


class Clone:
    """A fleet of one endpoint, and a Python that imports the product from a folder of it, such as itself."""

    def __init__(self, folder: Path, product: str = ".") -> None:
        self.root, self.python = folder / "clone", folder / "venv/bin/python"
        for parts, place in ((PRODUCT, self.root / product), (SYNTHESIS_INPUTS, self.root)):
            for part in parts:
                if (ROOT / part).is_dir():
                    ignore_patterns = shutil.ignore_patterns("__pycache__")
                    shutil.copytree(ROOT / part, place / part, ignore=ignore_patterns)
                elif (ROOT / part).is_file():
                    shutil.copy(ROOT / part, place)
        if product != ".":
            shutil.copy(ROOT / "cdk.json", self.root / product)
        for file in [*self.root.glob("model_specs/*.yaml"), *self.root.glob("locks/*/*.yaml")]:
            if file.name.partition(".")[0] != ENDPOINT:
                file.unlink()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        [site] = (folder / "venv").glob("lib/python*/site-packages")
        sources = (
            self.root / product / text
            for text in (".", "client", "constructs", "containers/shared", "emulator", "stacks")
        )
        (site / "clone.pth").write_text("\n".join(map(str, (*sources, sysconfig.get_path("purelib")))))
        self.repository = GitRepository.around(self.root)
        self.repository.branch()

    def edit(self, file: str, before: str, after: str) -> None:
        text = (self.root / file).read_text()
        assert before in text
        (self.root / file).write_text(text.replace(before, after))

    def report(self, *options: str, base: str = "main") -> str:
        arguments = ("report", "--base", base, "--env", "staging", *options)
        command = [str(self.python), "-P", "-c", RUN, *arguments]
        process = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        assert process.returncode == 0, process.stderr
        return process.stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    return Clone(tmp_path_factory.mktemp("product"))


@pytest.fixture(scope="module")
def product_report(clone: Clone) -> Any:
    clone.edit(
        "constructs/triton_endpoints/endpoint/model.py",
        "image=endpoint.image.uri",
        'image="other:1"',
    )
    clone.edit(f"model_specs/{ENDPOINT}.yaml", "max: 4", "max: 6")
    return json.loads(clone.report("--format", "json"))


def test_a_change_of_the_product_is_no_change_of_the_endpoint(product_report: Any) -> None:
    [staging] = product_report["environments"]
    [endpoint] = staging["endpoints"]
    assert (endpoint["effect"], endpoint["changes"]) == ("in place", ["scaling.max 4 → 6"])


def test_it_has_the_stacks_that_it_changes_by_itself(product_report: Any) -> None:
    product = product_report["product"]
    assert (product["after"], product["problem"]) == ("the work tree", None)
    [stack] = product["stacks"]
    assert (stack["environment"], stack["stack"]) == ("staging", ENDPOINT)
    assert {resource["type"]: resource["effect"] for resource in stack["resources"]}[
        "AWS::SageMaker::Model"
    ] == "replaced"


def test_a_base_whose_product_cannot_synthesise_is_named_and_the_rest_is_reported(
    clone: Clone, product_report: Any
) -> None:
    parts = "constructs/triton_endpoints/endpoint/model.py", "from constructs import Construct\n"
    broken_text = f"{parts[1]}raise RuntimeError('no such product')\n"
    clone.edit(*parts, broken_text)
    clone.repository.commit()
    clone.repository.git("branch", "broken")
    clone.edit(parts[0], broken_text, parts[1])
    clone.edit(f"model_specs/{ENDPOINT}.yaml", "max: 6", "max: 5")
    text = clone.report(base="broken")
    assert "cannot be compared: RuntimeError: no such product" in text
    assert f"| {ENDPOINT} | scaling.max 6 → 5 | in place: " in text


def test_the_wheel_that_the_base_has_is_installed_by_its_hash_and_compared(tmp_path: Path) -> None:
    fleet = Clone(tmp_path, product=".venv/product")
    (fleet.root / ".gitignore").write_text(".venv\n")
    vendor = fleet.root / "vendor"
    vendor.mkdir()
    (vendor / "dependencies.txt").write_text("")
    digest = sha256(older_wheel(vendor).read_bytes()).hexdigest()
    constructs = vendor / wheel_name(ENDPOINTS, "0.0.1")
    pin = "./vendor/%s --hash=sha256:%s\n"
    constructs_pin = pin % (constructs.name, sha256(constructs.read_bytes()).hexdigest())
    wheels = [wheel_name(FLEET, version) for version in ("0.0.1", "0.0.2")]
    (fleet.root / "requirements.txt").write_text("--no-index\n" + pin % (wheels[0], digest) + constructs_pin)
    fleet.repository.commit()
    fleet.repository.git("branch", "--force", "main")
    (fleet.root / "requirements.txt").write_text(
        "--no-index\n" + pin % (wheels[1], "00" * 32) + constructs_pin
    )
    product = json.loads(fleet.report("--with-upgrade", "--format", "json"))["product"]
    assert (product["before"], product["after"], product["problem"]) == (
        f"./vendor/triton_fleet-0.0.1-py3-none-any.whl (sha256 {digest[:12]})",
        "./vendor/triton_fleet-0.0.2-py3-none-any.whl (sha256 000000000000)",
        None,
    )
    removed_endpoints = {
        stack["stack"]: [
            resource["type"] for resource in stack["resources"] if resource["effect"] == "removed"
        ]
        for stack in product["stacks"]
    }
    assert removed_endpoints == {ENDPOINT: ["AWS::SQS::Queue"], "the shared stack": ["AWS::SQS::Queue"]}
