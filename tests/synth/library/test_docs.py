"""docs/constructs.md is one program that runs, and docs/constructs-api.md is what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.constructs_page import PAGE, SPEC_MODELS, constructs_page
from tests.support.fleet_folder import LOCK, ROOT, SPEC
from tests.synth.library.host import Host
from triton_endpoints import Instance, TritonModel

TEXT = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_snippets_of_the_page_are_a_program_that_synthesises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sentences.yaml").write_text(SPEC)
    (tmp_path / "sentences.lock.yaml").write_text(LOCK)
    monkeypatch.chdir(tmp_path)
    snippets = SNIPPET.findall((ROOT / "docs" / "constructs.md").read_text())
    assert len(snippets) >= 5
    program = "\n".join(snippets)
    names: dict[str, object] = {"__name__": "app"}
    exec(compile(f"from __future__ import annotations\n{program}", "constructs.md", "exec"), names)
    assembly = names["app"].synth()  # type: ignore[attr-defined]
    endpoints = {
        name
        for stack in assembly.stacks
        for resource in stack.template["Resources"].values()
        if resource["Type"] == "AWS::SageMaker::Endpoint"
        for name in [resource["Properties"]["EndpointName"]]
    }
    assert endpoints == {"sentences", "ranking", "zoo", "batch", "private"}


def test_the_mistakes_of_the_page_are_what_a_synth_prints() -> None:
    host = Host(name="ModelsStack")
    host.support()
    host.endpoint("Ranking", instance=Instance(type="ml.g5.large"))
    model = TritonModel.multi_model("s3://our-models/zoo/", archives=["resnet50", "resnet50"])
    host.endpoint("Zoo", model=model)
    (match,) = TEXT.findall((ROOT / "docs" / "constructs.md").read_text())
    assert host.problems() == re.sub(r"\n  +", " ", match).splitlines()


def test_the_reference_is_what_the_code_says() -> None:
    assert PAGE.read_text() == constructs_page(), "run `python -m tests.support.constructs_page`"


@pytest.mark.parametrize("name", SPEC_MODELS)
def test_props_are_called_as_the_keys_of_a_spec(name: str) -> None:
    import triton_endpoints

    props = set(getattr(triton_endpoints, name).__dataclass_fields__)
    keys = set(SPEC_MODELS[name].model_fields)
    # Scaling has its targets by methods.
    targets = {"invocations_per_instance", "concurrent_requests", "gpu_utilization", "cpu_utilization"}
    assert props - {"targets"} == keys - (targets if name == "Scaling" else set())
