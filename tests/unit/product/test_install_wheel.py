"""Another version to compare with: a wheel and what it lists, installed by hashes alone."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.support.wheels import VERSION, empty_wheels, older_wheel
from triton_fleet.findings import CannotRunError
from triton_fleet.product.synthesis import install_wheel, installation


@pytest.mark.nightly
def test_a_wheel_is_installed_in_a_python_of_its_own(tmp_path: Path) -> None:
    python = install_wheel(tmp_path / "venv", older_wheel(tmp_path))
    assert installation(python).version == "0.0.1"


def test_a_wheel_whose_list_has_a_package_without_a_hash_is_not_installed(tmp_path: Path) -> None:
    file = older_wheel(tmp_path)
    with zipfile.ZipFile(file) as wheel:
        texts = {name: wheel.read(name) for name in wheel.namelist()}
    with zipfile.ZipFile(file, "w") as wheel:
        for name, text in texts.items():
            wheel.writestr(name, b"six==1.17.0\n" if name.endswith("sources/requirements.txt") else text)
    with pytest.raises(CannotRunError) as error:
        install_wheel(tmp_path / "venv", file)
    assert error.value.problem.startswith("requirements.txt cannot be installed: ")
    assert "hash" in error.value.problem


def test_what_is_no_wheel_of_this_product_is_refused_before_anything_is_installed(tmp_path: Path) -> None:
    text = tmp_path / "a.whl"
    text.write_text("no archive")
    for file in (
        text,
        tmp_path / "missing.whl",
        Path("0.3.0"),
        empty_wheels(tmp_path) / f"triton_fleet-{VERSION}-py3-none-any.whl",
    ):
        with pytest.raises(CannotRunError) as error:
            install_wheel(tmp_path / "venv", file)
        assert error.value.problem.startswith(f"{file} is not a wheel of triton-fleet: ")
    assert not (tmp_path / "venv").exists()


def test_a_wheel_without_those_of_the_other_distributions_beside_it_is_refused(tmp_path: Path) -> None:
    file = older_wheel(tmp_path)
    (tmp_path / "triton_endpoints-0.0.1-py3-none-any.whl").unlink()
    with pytest.raises(CannotRunError, match=r"triton_endpoints-0\.0\.1-py3-none-any\.whl does not exist"):
        install_wheel(tmp_path / "venv", file)
    assert not (tmp_path / "venv").exists()
