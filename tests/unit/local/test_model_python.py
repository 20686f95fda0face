"""The Python of models has the packages of the image that this machine has, and no others."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from triton_fleet.local.triton.model_python import PYTHON, ModelPython, model_python
from triton_fleet.local.triton.runtime import RELEASE, TritonRuntime

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a package of given files into a folder of sys.path."""
    folder = tmp_path / "site-packages"
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])

    def write(name: str, *files: str, requires: tuple[str, ...] = ()) -> None:
        own = f"{name.replace('-', '_')}-1.0.dist-info"
        required_text = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
        texts = dict.fromkeys(files, "")
        texts[f"{own}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{required_text}"
        texts[f"{own}/RECORD"] = "".join(f"{text},,\n" for text in texts)
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)

    return write


def imports(python: ModelPython, module: str) -> bool:
    command = [str(python.bin / "python3"), "-P", "-c", f"import {module}"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def test_it_imports_the_images_packages_and_none_of_the_products(tmp_path: Path) -> None:
    python = model_python(tmp_path / "cache", {"numpy": "1.26.4"})
    assert imports(python, "numpy, json, xml.dom")
    assert [text for text in ("triton_fleet", "moto", "yaml", "pytest", "pip") if imports(python, text)] == []


def test_one_environment_is_made_for_each_set_of_packages(tmp_path: Path) -> None:
    first_python = model_python(tmp_path, {"numpy": "1.26.4"})
    assert model_python(tmp_path, {"numpy": ""}).prefix == first_python.prefix
    assert model_python(tmp_path, {}).prefix != first_python.prefix
    assert sorted(tmp_path.iterdir()) == sorted({first_python.prefix, model_python(tmp_path, {}).prefix})


def test_of_a_namespace_that_packages_share_only_the_images_part_is_found(
    install: Install, tmp_path: Path
) -> None:
    install("shared-one", "shared/one/__init__.py")
    install("shared-two", "shared/two/__init__.py")
    python = model_python(tmp_path / "cache", {"shared_one": ""})
    assert imports(python, "shared.one")
    assert not imports(python, "shared.two")


def test_neither_paths_nor_programs_of_a_package_are_taken(install: Install, tmp_path: Path) -> None:
    install("sly", "sly.py", "sly.pth", "../outside.py")
    (tmp_path / "site-packages" / "sly.pth").write_text(str(Path(__file__).parents[3]))
    python = model_python(tmp_path / "cache", {"sly": ""})
    assert imports(python, "sly")
    assert not imports(python, "triton_fleet")


def test_what_a_package_needs_here_comes_with_it_and_is_named(install: Install, tmp_path: Path) -> None:
    install("in-image", "in_image.py", requires=("needed-here>=1", "optional; extra == 'more'"))
    install("needed-here", "needed_here.py")
    install("optional", "optional.py")
    python = model_python(tmp_path / "cache", {"in-image": ""})
    assert imports(python, "in_image, needed_here")
    assert not imports(python, "optional")
    assert "needed-here 1.0 (not of the image: others need it here)" in str(python)


def test_the_line_has_both_versions_where_they_differ_and_what_is_not_installed(
    install: Install, tmp_path: Path
) -> None:
    for name in ("alike", "other", "unpinned"):
        install(name, f"{name}.py")
    image = {"absent": "2.0", "alike": "1.0", "other": "2.0", "unpinned": ""}
    assert str(model_python(tmp_path / "cache", image, "3.8")) == (
        "Python models find what the image is assumed to have:"
        f" the standard library of Python {PYTHON} (image: 3.8), alike 1.0, other 1.0 (image: 2.0), unpinned 1.0;"
        " assumed of the image, and not installed here: absent"
    )


REGISTRY = "763104351884.dkr.ecr.us-east-1.amazonaws.com"


def test_an_image_of_ones_own_adds_its_packages_and_replaces_versions(tmp_path: Path) -> None:
    python = runtime(tmp_path).for_release("25.04", {"pillow": "13.0.0", "numpy": "2.0.0"}).python
    assert {"pillow", "numpy", "pydantic"} < python.packages.keys()
    assert imports(python, "PIL.Image")
    assert f"numpy {python.packages['numpy']} (image: 2.0.0)" in str(python)


def runtime(cache: Path) -> TritonRuntime:
    return TritonRuntime(
        binary=Path("/triton/tritonserver"),
        library_path=(),
        backend_directory=Path("/cache/backends"),
        cache_directory=Path("/triton/caches"),
        python=ModelPython(prefix=cache / "python", packages={}, image={}),
        release=RELEASE,
    )
