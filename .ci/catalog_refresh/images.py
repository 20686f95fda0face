"""Triton's images: the registry accounts that the SageMaker SDK has by release and region."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from catalog_refresh.package import Package
from catalog_refresh.proposal import Facts, Proposal, Remark, read_facts

FILE, REGISTRIES, CONTENTS = "images.json", "registries.yaml", "releases.yaml"
LIST = "sagemaker/core/image_uri_config/sagemaker-tritonserver.json"


def images(sdk: Package, folder: Path) -> Proposal:
    """The SDK's list: releases whose contents releases.yaml has; what the SDK no longer names is kept."""
    sdk_list, present = sdk.read_json(LIST), read_facts(folder, FILE)["versions"]
    releases, remarks = read_facts(folder, CONTENTS)["releases"], list[Remark]()
    versions = dict[str, Any]()
    for name in sorted({*sdk_list["versions"], *present}):
        if name not in releases:
            text = f"{name} is new in {sdk}: add what its image contains, then refresh again"
            remarks.append(Remark(file=CONTENTS, text=text))
            continue
        entry = sdk_list["versions"].get(name, present.get(name))
        lost_regions = present.get(name, entry)["registries"].keys() - entry["registries"].keys()
        if name not in sdk_list["versions"]:
            remarks.append(Remark(file=FILE, text=f"{name} is kept: {sdk} no longer has it"))
        elif lost_regions:
            regions = ", ".join(sorted(lost_regions))
            remarks.append(
                Remark(file=FILE, text=f"{name} is kept in {regions}: {sdk} no longer has it there")
            )
            old_registries = {region: present[name]["registries"][region] for region in sorted(lost_regions)}
            entry = {**entry, "registries": entry["registries"] | old_registries}
        versions[name] = entry
    content = {**{key: value for key, value in sdk_list.items() if key != "versions"}, "versions": versions}
    remarks += _remarks(sdk_list["versions"], folder, str(sdk))
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
        fact: facts
        for name, entry in content["versions"].items()
        for fact, facts in (
            (f"Triton {name}", entry["registries"]),
            (f"tag of Triton {name}", {"": f"{entry['repository']}:{entry['tag_prefix']}"}),
        )
    }


def _remarks(versions: Mapping[str, Any], folder: Path, origin: str) -> Iterator[Remark]:
    """Releases that people inferred, and the SDK now states."""
    registries = read_facts(folder, REGISTRIES)
    for name in sorted(versions.keys() & {*registries["same_as"], *registries["classic"]["releases"]}):
        yield Remark(file=REGISTRIES, text=f"{name} is inferred, and {origin} states it: delete it here")
