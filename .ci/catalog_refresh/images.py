"""Triton's images: the registry accounts that the SageMaker SDK has by release and region."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from catalog_refresh.package import Package
from catalog_refresh.proposal import Facts, Proposal, Remark, read_facts

FILE, INFERRED, CONTENTS = "images.json", "registries.yaml", "releases.yaml"
LIST = "sagemaker/core/image_uri_config/sagemaker-tritonserver.json"


def images(sdk: Package, folder: Path) -> Proposal:
    """The SDK's list: releases whose contents releases.yaml has; what the SDK no longer names is kept."""
    listed, held = sdk.read_json(LIST), read_facts(folder, FILE)["versions"]
    known, remarks = read_facts(folder, CONTENTS)["releases"], list[Remark]()
    versions = dict[str, Any]()
    for name in sorted({*listed["versions"], *held}):
        if name not in known:
            text = f"{name} is new in {sdk}: add what its image contains, then refresh again"
            remarks.append(Remark(file=CONTENTS, text=text))
            continue
        entry = listed["versions"].get(name, held.get(name))
        gone = held.get(name, entry)["registries"].keys() - entry["registries"].keys()
        if name not in listed["versions"]:
            remarks.append(Remark(file=FILE, text=f"{name} is kept: {sdk} no longer has it"))
        elif gone:
            where = ", ".join(sorted(gone))
            remarks.append(Remark(file=FILE, text=f"{name} is kept in {where}: {sdk} no longer has it there"))
            kept = {region: held[name]["registries"][region] for region in sorted(gone)}
            entry = {**entry, "registries": entry["registries"] | kept}
        versions[name] = entry
    content = {**{key: value for key, value in listed.items() if key != "versions"}, "versions": versions}
    remarks += _remarks(listed["versions"], folder, str(sdk))
    return Proposal(
        file=FILE,
        origin=str(sdk),
        scope=LIST.removeprefix("sagemaker/core/"),
        day=None,
        content=content,
        facts=_facts,
        remarks=tuple(remarks),
    )


def _facts(content: Mapping[str, Any]) -> Facts:
    """Each release's account by region, and its tag."""
    return {
        each: facts
        for name, entry in content["versions"].items()
        for each, facts in (
            (f"Triton {name}", entry["registries"]),
            (f"tag of Triton {name}", {"": f"{entry['repository']}:{entry['tag_prefix']}"}),
        )
    }


def _remarks(listed: Mapping[str, Any], folder: Path, origin: str) -> Iterator[Remark]:
    """What people inferred, and the SDK now states."""
    inferred = read_facts(folder, INFERRED)
    for name in sorted(listed.keys() & {*inferred["same_as"], *inferred["classic"]["releases"]}):
        yield Remark(file=INFERRED, text=f"{name} is inferred, and {origin} states it: delete it here")
