"""A fleet of four endpoints of two teams, each with a repository of its own."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository

FLEET = {
    "search/bert-large": 'owner: {team: search}\ntriton: "24.10"\ninstance: {type: ml.g5.xlarge}\ntags: {stage: dev}\n',
    "search/bert-small": 'profile: small\nowner: {team: search}\ntriton: "25.04"\n',
    "vision/resnet": 'owner: {team: vision}\ntriton: "25.04"\ninstance: {type: ml.g4dn.xlarge}\ntags: {stage: prod, plan: ""}\n',
    "zoo": 'mode: multi-model\ntriton: "26.01"\ninstance: {type: ml.c7i.xlarge}\n',
}
NAMES = ["bert-large", "bert-small", "resnet", "zoo"]


@pytest.fixture
def fleet(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """The working directory is its root."""
    (folder.root / "model_specs/sentences.yaml").unlink()
    (folder.root / "locks/dev/sentences.lock.yaml").unlink()
    folder.environment("tags: {stage: dev, cost: ml}\n")
    folder.environment(name="prod")
    folder.write("profiles/small.yaml", "profile: tiny\n")
    folder.write("profiles/tiny.yaml", "instance: {type: ml.g5.xlarge}\n")
    folder.write("README.md", "A fleet.\n")
    for place, text in FLEET.items():
        name, up = place.rpartition("/")[2], "../" * (1 + place.count("/"))
        models = f"models:\n  - {{archive: {name}, repository: {up}models/{name}}}\n"
        folder.write(f"model_specs/{place}.yaml", f"endpoint: {name}\n{text}{models}")
        folder.write(f"models/{name}/net/config.pbtxt", 'backend: "python"\n')
        folder.write(f"models/{name}/net/1/model.py", "class TritonPythonModel: x = 1\n")
    monkeypatch.chdir(folder.root)
    return folder


@pytest.fixture
def repository(fleet: FleetFolder) -> GitRepository:
    """The fleet, committed on `main`."""
    return GitRepository.around(fleet.root)
