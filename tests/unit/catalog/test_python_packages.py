"""The Python packages of Triton's images, by release."""

from __future__ import annotations

import pytest

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.images import releases
from triton_fleet.catalog.releases import release_modules, release_packages


@pytest.mark.parametrize(
    ("release", "version"), [("22.05", ""), ("24.05", ""), ("24.09", "1.26.4"), ("25.04", "1.26.4")]
)
def test_every_image_has_numpy_and_its_version_is_known_since_it_is_pinned(
    release: str, version: str
) -> None:
    assert release_packages(release)["numpy"] == version


@pytest.mark.parametrize(
    ("package", "last_without", "first_with"),
    [("virtualenv", "24.03", "24.05"), ("fastapi", "24.11", "25.04"), ("scipy", "25.12", "26.03")],
)
def test_a_package_is_known_from_the_release_on_that_first_installs_it(
    package: str, last_without: str, first_with: str
) -> None:
    assert package not in release_packages(last_without)
    assert package in release_packages(first_with)


def test_cupy_is_that_of_the_images_cuda() -> None:
    both_texts = {"cupy-cuda12x", "cupy-cuda13x"}
    assert both_texts & release_packages("25.04").keys() == {"cupy-cuda12x"}
    assert both_texts & release_packages("25.09").keys() == {"cupy-cuda13x"}
    assert "cupy" in release_modules("25.04") & release_modules("25.09")


def test_modules_have_the_names_that_are_imported() -> None:
    assert {"numpy", "pkg_resources", "typing_extensions", "fastapi"} < release_modules("25.04")


@pytest.mark.parametrize("release", releases())
def test_what_a_requirement_belongs_to_is_in_the_same_image(release: str) -> None:
    packages, requirements = release_packages(release), data_file("python_packages.yaml")["requirements"]
    assert [
        name for name in packages if name in requirements and requirements[name]["of"] not in packages
    ] == []
