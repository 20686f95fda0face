"""Each key of a spec and of an environment is read: another value makes another template.

A key that acts elsewhere has a row in a table of its own, with what it changes there. A key of the contract that
neither table has fails the first test: give it two values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
import yaml
from pydantic import BaseModel

from tests.support.fleet_folder import FleetFolder
from tests.synth.flips import ENVIRONMENT, FACTS, IN_THE_TEMPLATE, SPEC, Document, Flip, laid_over, with_key
from tests.synth.flips_elsewhere import ELSEWHERE, ENVIRONMENT_KEYS, Observation, template
from triton_fleet.findings import Severity
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.environment import LOCAL, Environment
from triton_fleet.spec.lock import Lock
from triton_fleet.store.lock import lock_text

TRUST_DOCUMENTS: dict[str, Document] = {
    "github": {"access": {"github": {"repository": "example@1/fleet@23"}}},
    "gitlab": {"access": {"gitlab": {"project": "example/fleet"}}},
}


def test_every_key_of_a_spec_has_two_values_here() -> None:
    assert set(keys(EndpointSpec)) == {*IN_THE_TEMPLATE, *ELSEWHERE}
    assert not IN_THE_TEMPLATE.keys() & ELSEWHERE.keys()


def test_every_key_of_an_environment_has_two_values_here() -> None:
    assert set(keys(Environment)) == set(ENVIRONMENT_KEYS)


def one_in_three(keys: Iterable[str]) -> list[object]:
    """The keys, of which two in three wait for the night."""
    return [
        pytest.param(key, marks=pytest.mark.nightly if number % 3 else ()) for number, key in enumerate(keys)
    ]


@pytest.mark.parametrize("key", one_in_three(IN_THE_TEMPLATE))
def test_another_value_makes_another_template_and_changes_no_policy_in_place(
    key: str, tmp_path: Path
) -> None:
    """The fleet that serves needs the old policy; one of the same name would be overwritten, and then deleted."""
    first_value, second_value = seen_pair(key, IN_THE_TEMPLATE[key], template, tmp_path)
    assert first_value != second_value
    policies, other_document = (_policies(item) for item in (first_value, second_value))
    kept_names = policies.keys() & other_document.keys()
    assert all(policies[id] == other_document[id] for id in kept_names)
    old, new = (
        {item[id]["PolicyName"] for id in item.keys() - kept_names} for item in (policies, other_document)
    )
    assert not old & new


@pytest.mark.parametrize(
    ("key", "further"),
    [(key, further) for key, changed_value in IN_THE_TEMPLATE.items() for further in changed_value.refusals],
)
def test_what_a_key_does_not_go_with_is_refused_at_its_line(
    key: str, further: Document, tmp_path: Path
) -> None:
    _, second_value = IN_THE_TEMPLATE[key].specs(key)
    folder = fleet(tmp_path, laid_over(second_value, further))
    (finding,) = (finding for finding in folder.findings() if finding.severity is Severity.ERROR)
    assert finding.file is not None
    assert finding.line is not None
    line = finding.file.read_text().splitlines()[finding.line - 1]
    assert line.lstrip().startswith(f"{key.rpartition('.')[2]}:")


@pytest.mark.parametrize("key", ELSEWHERE)
def test_a_key_that_acts_elsewhere_changes_something_there(key: str, tmp_path: Path) -> None:
    first_value, second_value = seen_pair(key, *ELSEWHERE[key], tmp_path)
    assert first_value != second_value


@pytest.mark.parametrize("key", one_in_three(ENVIRONMENT_KEYS))
def test_every_key_of_an_environment_is_read(key: str, tmp_path: Path) -> None:
    *values, records = ENVIRONMENT_KEYS[key]
    base = {**ENVIRONMENT, "environment": LOCAL} if key.startswith("local.") else ENVIRONMENT
    if key.startswith("access."):
        base = laid_over(base, TRUST_DOCUMENTS[key.split(".")[1]])
    environments = [with_key(base, key, value) for value in values]
    first_value, second_value = (
        records(fleet(tmp_path / str(number), SPEC, environment), environment["environment"])
        for number, environment in enumerate(environments)
    )
    assert first_value != second_value


def seen_pair(key: str, changed_flip: Flip, seen_value: Observation, path: Path) -> list[object]:
    """Observations with the one value of a key, and with the other."""
    return [
        seen_value(fleet(path / str(number), spec, facts=changed_flip.facts), "dev")
        for number, spec in enumerate(changed_flip.specs(key))
    ]


def fleet(
    root: Path,
    spec: Document,
    environment: Document = ENVIRONMENT,
    facts: Document = FACTS,
) -> FleetFolder:
    """A fleet of one spec in one environment, with a lock and two repositories."""
    folder = FleetFolder(root)
    folder.write(f"model_specs/{spec['endpoint']}.yaml", yaml.safe_dump(spec))
    folder.write(f"environments/{environment['environment']}.yaml", yaml.safe_dump(environment))
    for repository in ("repository", "other"):
        folder.write(f"{repository}/embed/config.pbtxt", 'backend: "python"\n')
        folder.write(f"{repository}/embed/1/model.py", f"class TritonPythonModel: x = '{repository}'\n")
    of, text = environment["environment"], _lock(spec, facts)
    folder.write(f"locks/{of}/{spec['endpoint']}.lock.yaml", text)
    return folder


def _lock(spec: Document, facts: Document) -> str:
    """A lock of the image, and of each archive, whose digest is another for another name."""
    archives = {}
    for model in spec["models"]:
        copies = [f"-{copy}" for copy in range(model["copies"])] if "copies" in model else [""]
        for name in (f"{model['archive']}{copy}" for copy in copies):
            digest = f"sha256:{sha256(name.encode()).hexdigest()}"
            archives[name] = {"digest": digest, "size": 1000, "models": facts}
    image = {key: value for key, value in spec.get("image", {}).items() if key == "digest"}
    document = {"endpoint": spec["endpoint"], "image": image or None, "archives": archives}
    return lock_text(Lock.model_validate(document))


def _policies(template: Any) -> Document:
    resources = template["Resources"].items()
    return {id: entry["Properties"] for id, entry in resources if entry["Type"] == "AWS::IAM::Policy"}


def keys(model: type[BaseModel], above: str = "") -> Iterator[str]:
    """The keys of a model that hold no further model, `above.below`, with `[]` behind those of lists."""
    for name, about in model.model_fields.items():
        inner, mark = _inner(about.annotation)
        if inner is None:
            yield f"{above}{name}"
        else:
            yield from keys(inner, f"{above}{name}{mark}.")


def _inner(annotation: Any) -> tuple[type[BaseModel] | None, str]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, ""
    for argument in get_args(annotation) if get_origin(annotation) is not dict else ():
        inner, mark = _inner(argument)
        if inner is not None:
            return inner, "[]" if get_origin(annotation) is tuple else mark
    return None, ""
