"""Each shipped endpoint has the values of the system that it is taken from, and where it differs it says why."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.support.fleet_folder import ROOT
from tests.support.sources import ENVIRONMENTS, row
from tests.synth import source_of_bert_trt, source_of_gpu_ensembles, source_of_resnet_pt
from triton_fleet.catalog.backends import backend_facts
from triton_fleet.repository.config.parameter_values import wrong_value

SYSTEMS = {
    "bert_trt": source_of_bert_trt,
    "gpu_ensembles": source_of_gpu_ensembles,
    "resnet_pt": source_of_resnet_pt,
}
"""By the folder of the example: SOURCE has the values there, DIFFERENT those that are others here, `ours` tells ours."""
EACH_SYSTEM = pytest.mark.parametrize("example", SYSTEMS)
SAME = [
    (item, name)
    for item, system in SYSTEMS.items()
    for name in sorted(system.SOURCE.keys() - system.DIFFERENT)
]
OTHER_SYSTEMS = [(item, name) for item, system in SYSTEMS.items() for name in system.DIFFERENT]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize(("example", "name"), SAME)
def test_a_value_is_that_of_the_source(environment: str, example: str, name: str) -> None:
    system: ModuleType = SYSTEMS[example]
    assert system.ours(environment)[name] == system.SOURCE[name]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize(("example", "name"), OTHER_SYSTEMS)
def test_a_value_that_is_said_to_differ_is_as_it_is_said(environment: str, example: str, name: str) -> None:
    system: ModuleType = SYSTEMS[example]
    assert system.ours(environment)[name] == system.DIFFERENT[name].own_value != system.SOURCE[name]


@EACH_SYSTEM
def test_all_that_is_compared_is_of_the_source(example: str) -> None:
    system: ModuleType = SYSTEMS[example]
    assert system.ours("prod").keys() == system.SOURCE.keys()


@EACH_SYSTEM
def test_what_differs_is_in_the_examples_readme_with_both_values_and_the_reason(example: str) -> None:
    readme = (ROOT / "examples" / example / "README.md").read_text().splitlines()
    system: ModuleType = SYSTEMS[example]
    rows = [row(name, system.SOURCE[name], item) for name, item in system.DIFFERENT.items()]
    assert [row for row in rows if row not in readme] == []


def test_of_the_sources_parameters_of_pytorch_only_one_that_triton_no_longer_reads_is_left_out() -> None:
    source, own_text = source_of_resnet_pt.SOURCE, source_of_resnet_pt.ours("prod")
    assert source["config: parameters"] - own_text["config: parameters"] == {"ENABLE_NVFUSER"}


@pytest.mark.parametrize("name", source_of_resnet_pt.PARAMETERS)
def test_each_parameter_of_the_source_is_typed(name: str) -> None:
    facts = backend_facts("pytorch", platform="pytorch_libtorch")
    assert facts is not None
    wrong = wrong_value(facts.parameters[name], "yes", "resnet", None)
    assert wrong is not None and wrong.message == "failed to convert 'yes' to boolean"
