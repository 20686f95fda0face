"""Facts of images, from their configuration and the names of their files."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from triton_fleet.builds.images import facts as module
from triton_fleet.builds.images.facts import (
    TooManyPathsError,
    facts_of_config,
    facts_of_paths,
    merge,
    unknown_facts,
)
from triton_fleet.spec.image import ImageFacts

BANNER = "/opt/nvidia/nvidia_entrypoint.sh"
RELEASE: dict[str, Any] = {
    "architecture": "amd64",
    "os": "linux",
    "config": {
        "Env": [
            "NVIDIA_PRODUCT_NAME=Triton Server",
            "CUDA_VERSION=12.9.0.036",
            "TRT_VERSION=10.9.0.34",
            "TRITON_SERVER_VERSION=2.57.0",
            "NVIDIA_TRITON_SERVER_VERSION=25.04",
        ],
        "Labels": {module.MULTI_MODEL_LABEL: "true", module.BIND_LABEL: "true"},
        "Entrypoint": [BANNER],
    },
}
"""What the configuration of NVIDIA's release has of it."""
BACKENDS = "opt/tritonserver/backends"
PACKAGES = "usr/local/lib/python3.12/dist-packages"
FILES = (
    "opt/tritonserver/",
    f"{BACKENDS}/",
    f"{BACKENDS}/python/",
    f"{BACKENDS}/python/libtriton_python.so",
    f"{BACKENDS}/tensorrt/libtriton_tensorrt.so",
    f"{BACKENDS}/vllm/model.py",
    f"{PACKAGES}/numpy-1.26.4.dist-info/METADATA",
    f"{PACKAGES}/numpy/version.py",
    f"{PACKAGES}/setuptools/_vendor/wheel-0.43.0.dist-info/METADATA",
    "usr/lib/python3/dist-packages/PyYAML-6.0.1.egg-info/PKG-INFO",
    "usr/lib/python3.12/os.py",
    "usr/lib/x86_64-linux-gnu/libpython3.12.so.1.0",
    "usr/lib/x86_64-linux-gnu/libnvinfer.so.10.9.0",
    "usr/lib/x86_64-linux-gnu/libnvinfer.so.10",
    "usr/local/cuda-12.9/targets/x86_64-linux/lib/libcudart.so.12",
    "usr/bin/serve",
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
NAMES = st.sampled_from(
    ["opt", "tritonserver", "backends", "a", ".wh.a", ".wh..wh..opq", "b.so", "..", "", "\0", "é\n"]
)
PATHS = st.lists(NAMES, max_size=6).map("/".join)


def with_variables(*variables: object) -> ImageFacts:
    return facts_of_config({"config": {"Env": list(variables)}})


def test_the_configuration_of_a_release_tells_its_versions_and_labels() -> None:
    assert facts_of_config(RELEASE) == ImageFacts(
        architecture="linux/amd64",
        triton="25.04",
        server="2.57.0",
        cuda="12.9",
        tensorrt="10.9.0.34",
        multi_model=True,
        binds_to_port=True,
    )


def test_the_names_of_files_tell_backends_packages_and_versions() -> None:
    assert facts_of_paths([FILES]) == ImageFacts(
        cuda="12.9",
        tensorrt="10.9.0",
        python="3.12",
        backends=("python", "tensorrt", "vllm"),
        packages={"numpy": "1.26.4", "pyyaml": "6.0.1"},
        serve=True,
    )


def test_the_configuration_counts_before_the_files() -> None:
    facts = merge(facts_of_config(RELEASE), facts_of_paths([FILES]))
    assert (facts.tensorrt, facts.triton, facts.python) == ("10.9.0.34", "25.04", "3.12")
    assert unknown_facts(facts) == ["media_type"]


def test_the_facts_of_an_image_survive_the_yaml_of_a_lock() -> None:
    facts = merge(facts_of_config(RELEASE), facts_of_paths([FILES]))
    text = yaml.safe_dump(facts.model_dump(mode="json", exclude_defaults=True))
    assert ImageFacts.model_validate(yaml.safe_load(text)) == facts


@pytest.mark.parametrize(
    ("variable", "fact", "value"),
    [
        ("TRT_VERSION=8.6.1.6+cuda12.0.1.011", "tensorrt", "8.6.1.6"),
        ("TENSORRT_VERSION=11.1.0.106", "tensorrt", "11.1.0.106"),
        ("TRT_VERSION=10.9", "tensorrt", None),
        ("CUDA_VERSION=13.0.2.006", "cuda", "13.0"),
        ("CUDA_VERSION=13", "cuda", None),
        ("NVIDIA_TRITON_SERVER_VERSION=25.04-py3", "triton", "25.04"),
        ("NVIDIA_TRITON_SERVER_VERSION=25.041", "triton", None),
        ("NVIDIA_TRITON_SERVER_VERSION=\x1b[31m25.04", "triton", None),
        ("NVIDIA_TRITON_SERVER_VERSION=٢٥.٠٤", "triton", None),
        ("TRITON_SERVER_VERSION", "server", None),
        ("TRITON_SERVER_VERSION=2.57.0dev", "server", "2.57.0"),
    ],
)
def test_a_version_counts_if_it_has_the_form_of_one(variable: str, fact: str, value: str | None) -> None:
    assert getattr(with_variables(variable), fact) == value


def test_a_label_tells_the_server_version_where_no_variable_does() -> None:
    assert facts_of_config({"config": {"Labels": {module.SERVER_LABEL: "2.57.0"}}}).server == "2.57.0"


@pytest.mark.parametrize(
    ("entrypoint", "serve"),
    [([BANNER], None), ([], None), (None, None), (["/opt/serve"], True), (["python", "app.py"], True)],
)
def test_an_entrypoint_other_than_nvidias_banner_starts_something(
    entrypoint: object, serve: bool | None
) -> None:
    assert facts_of_config({"config": {"Entrypoint": entrypoint}}).serve is serve


def test_without_the_script_nothing_starts() -> None:
    assert facts_of_paths([["usr/bin/server", "home/serve"]]).serve is False


@pytest.mark.parametrize(
    "upper",
    [
        [f"{BACKENDS}/.wh.vllm"],
        [f"{BACKENDS}/vllm/.wh.model.py"],
        [f"{BACKENDS}/vllm/.wh..wh..opq"],
        [f"./{BACKENDS}/vllm/.wh..wh..opq", f"{BACKENDS}/vllm/"],
        [f"{BACKENDS}/vllm"],
    ],
    ids=["folder", "file", "opaque folder", "opaque folder with its entry", "file in its place"],
)
def test_what_a_layer_removes_is_gone(upper: list[str]) -> None:
    assert facts_of_paths([FILES, upper]).backends == ("python", "tensorrt")


@pytest.mark.parametrize("name", [".wh.vllm", "vllm/.wh..wh..opq"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_whiteout_hides_the_layers_below_alone(name: str, is_first: bool) -> None:
    entries = [f"{BACKENDS}/{name}", f"{BACKENDS}/vllm/libtriton_vllm.so"]
    upper = entries if is_first else entries[::-1]
    assert facts_of_paths([FILES, upper]).backends == ("python", "tensorrt", "vllm")
    assert facts_of_paths([upper, FILES]).backends == ("python", "tensorrt", "vllm")


def test_an_opaque_root_hides_all_below() -> None:
    assert facts_of_paths([FILES, [".wh..wh..opq"]]) == ImageFacts(serve=False)


def test_a_package_below_usr_local_hides_the_one_of_the_distribution() -> None:
    system = "usr/lib/python3/dist-packages/numpy-1.21.5.egg-info"
    for layers in ([FILES, [system]], [[system], FILES]):
        assert (facts_of_paths(layers).packages or {})["numpy"] == "1.26.4"


def test_packages_of_another_python_do_not_count() -> None:
    other_text = "usr/local/lib/python3.10/dist-packages/torch-2.0.0.dist-info/METADATA"
    assert "torch" not in (facts_of_paths([[*FILES, other_text]]).packages or {})


@pytest.mark.parametrize(
    ("path", "fact"),
    [
        ("usr/lib/x86_64-linux-gnu/libnvinfer.so.10.8.0", "tensorrt"),
        ("usr/local/cuda-12.8/bin/ptxas", "cuda"),
        ("usr/lib/python3.10/os.py", "python"),
    ],
)
def test_of_two_versions_none_is_known(path: str, fact: str) -> None:
    files = [file for file in FILES if "libpython" not in file]
    assert getattr(facts_of_paths([[*files, path]]), fact) is None


def test_of_two_pythons_that_of_the_standard_library_counts() -> None:
    facts = facts_of_paths([[*FILES, "usr/lib/x86_64-linux-gnu/libpython3.10.so.1.0"]])
    assert (facts.python, facts.packages is None) == ("3.12", False)


def test_folders_that_distributions_replace_by_links_are_the_same() -> None:
    assert facts_of_paths([["bin/serve", "lib/x86_64-linux-gnu/libnvinfer.so.10.9.0"]]) == ImageFacts(
        serve=True, tensorrt="10.9.0"
    )


def test_a_link_in_place_of_such_a_folder_hides_nothing() -> None:
    assert facts_of_paths([FILES, ["bin", "lib", "lib64"]]) == facts_of_paths([FILES])


@pytest.mark.parametrize(
    "path",
    [
        f"{BACKENDS}/../backends/evil/model.py",
        f"{BACKENDS}/\x1b[2J/model.py",
        f"{BACKENDS}/{'x' * 200}/model.py",
        f"{BACKENDS}/évil/model.py",
        f"{'a/' * 600}{BACKENDS}/evil/model.py",
        f"x/{BACKENDS}/evil/model.py",
        f"{BACKENDS}/evil/deeper/model.py",
    ],
)
def test_a_path_that_no_backend_has_gives_no_backend(path: str) -> None:
    assert facts_of_paths([[path]]).backends is None


@pytest.mark.parametrize(
    "name", ["x_-1.0.dist-info", "numpy.dist-info", "-1.0.dist-info", f"{'n' * 200}-1.dist-info"]
)
def test_a_name_that_no_package_has_gives_no_package(name: str) -> None:
    assert facts_of_paths([["usr/lib/python3.12/os.py", f"{PACKAGES}/{name}/METADATA"]]).packages == {}


def test_more_paths_than_an_image_needs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FACT_PATHS", 100)
    with pytest.raises(TooManyPathsError, match="more than 100 files"):
        facts_of_paths([(f"{BACKENDS}/b{number}/model.py" for number in range(200))])


def test_paths_without_a_fact_cost_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FACT_PATHS", 0)
    assert facts_of_paths([(f"usr/share/{number}" for number in range(1000))]).backends is None


@given(st.dictionaries(st.text(), JSON_VALUES), JSON_VALUES, JSON_VALUES, JSON_VALUES)
def test_any_json_is_a_configuration(
    extra: dict[str, Any], env: object, labels: object, entrypoint: object
) -> None:
    config = {"Env": env, "Labels": labels, "Entrypoint": entrypoint}
    assert isinstance(facts_of_config({**extra, "config": config}), ImageFacts)
    assert isinstance(
        facts_of_config({**extra, "os": env, "architecture": labels, "config": extra}), ImageFacts
    )


@given(st.lists(st.lists(PATHS | st.text())))
def test_any_names_are_paths(layers: list[list[str]]) -> None:
    assert isinstance(facts_of_paths(layers), ImageFacts)


@given(st.lists(st.sampled_from("abcd"), min_size=1), st.lists(st.sampled_from("abcd")))
def test_a_backend_is_there_after_the_layer_that_last_named_it(
    names: list[str], removed_names: list[str]
) -> None:
    lower = [f"{BACKENDS}/{name}/model.py" for name in names]
    upper = [f"{BACKENDS}/.wh.{name}" for name in removed_names]
    expected_lines = tuple(sorted(set(names) - set(removed_names)))
    assert (facts_of_paths([lower, upper]).backends or ()) == expected_lines


def test_a_library_that_was_installed_counts_more_than_the_variable_of_the_base() -> None:
    config = ImageFacts(cuda="12.9", tensorrt="10.9.0.34")
    assert merge(config, ImageFacts(cuda="13.0", tensorrt="10.13.2")) == ImageFacts(
        cuda="13.0", tensorrt="10.13.2"
    )
    assert merge(config, ImageFacts(cuda="12.9", tensorrt="10.9.0")) == config
