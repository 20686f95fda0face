"""Instance types: which of them the API takes, by botocore, and which regions price them, by cfn-lint."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeAlias

from catalog_refresh.models import shape
from catalog_refresh.package import Package
from catalog_refresh.proposal import Facts, Proposal, Remark, is_older, read_facts

API_TYPES, AVAILABILITY, CLASSIFIED = "api_types.yaml", "availability.yaml", "instances.yaml"
PRICED = "cfnlint/data/schemas/extensions/aws_sagemaker_hosting/instancetype_enum.json"
VERSION = "cfnlint/data/schemas/version.json"
Sizes: TypeAlias = Mapping[str, Sequence[str]]


def api_types(botocore: Package) -> Proposal:
    """Which types a variant can have."""
    families = defaultdict[str, list[str]](list)
    for name in _api_types(botocore):
        family, _, size = name.removeprefix("ml.").partition(".")
        families[family].append(size)
    return Proposal(
        file=API_TYPES,
        origin=str(botocore),
        scope="ProductionVariantInstanceType of sagemaker",
        day=None,
        content={"families": {family: families[family] for family in sorted(families)}},
        facts=lambda content: {name: {"": ""} for name in type_names(content["families"])},
    )


def availability(cfn_lint: Package, folder: Path) -> Proposal:
    """Which types of instances.yaml each region's price list for hosting has."""
    priced, sizes = _priced_types(cfn_lint), classified(folder)
    usual = dict(_usual_sizes(priced, sizes))
    return Proposal(
        file=AVAILABILITY,
        origin=str(cfn_lint),
        scope=f"{PRICED.removeprefix('cfnlint/')} (from AWS's price lists)",
        day=schema_day(cfn_lint),
        content={
            "usual_sizes": {
                family: usual[family] for family in sorted(usual) if usual[family] != sizes[family]
            },
            "regions": {region: _region(priced[region], sizes, usual) for region in sorted(priced)},
        },
        facts=lambda content: _regions_by_type(content, sizes),
    )


def type_remarks(botocore: Package, cfn_lint: Package, folder: Path) -> Iterator[Remark]:
    """What people have to add to instances.yaml or to look at again; nothing where a package is too old."""
    if is_older(str(botocore), folder, API_TYPES) or is_older(str(cfn_lint), folder, AVAILABILITY):
        return
    priced, sizes, api = _priced_types(cfn_lint), classified(folder), set(_api_types(botocore))
    sold, known = set[str]().union(*priced.values()), set(type_names(sizes))
    for name in sorted((api | sold) - known):
        origin = botocore if name in api else cfn_lint
        text = (
            f"{name} is new in {origin}: add its processor, GPUs, vCPUs, memory, storage; then refresh again"
        )
        yield Remark(file=CLASSIFIED, text=text)
    for name in sorted(known - api - sold):
        text = f"{name} is no longer in {botocore} or {cfn_lint}: delete it, or keep it with the reason"
        yield Remark(file=CLASSIFIED, text=text)
    families = read_facts(folder, CLASSIFIED)["families"]
    for family in sorted(each for each in families if families[each].get("retired")):
        regions = [region for region in sorted(priced) if _sold(priced[region], family, sizes)]
        if regions:
            text = f"{family} is `retired`, and {cfn_lint} has it in {', '.join(regions)}"
            yield Remark(file=CLASSIFIED, text=text)


def schema_day(cfn_lint: Package) -> date:
    """The day of AWS's data in cfn-lint."""
    return datetime.fromisoformat(cfn_lint.read_json(VERSION)["schema_date"]).date()


def classified(folder: Path) -> dict[str, list[str]]:
    """The sizes of each family of instances.yaml."""
    families = read_facts(folder, CLASSIFIED)["families"]
    return {family: list(facts["sizes"]) for family, facts in families.items()}


def type_names(sizes: Sizes) -> list[str]:
    """The names of the types of those families."""
    return [f"ml.{family}.{size}" for family in sizes for size in sizes[family]]


def _usual_sizes(priced: Mapping[str, set[str]], sizes: Sizes) -> Iterator[tuple[str, list[str]]]:
    """The sizes that most regions have of each family; of two equally usual lists the longer one."""
    for family in sizes:
        lists = Counter[tuple[str, ...]](tuple(_sold(types, family, sizes)) for types in priced.values())
        del lists[()]
        if lists:
            most = max(lists, key=lambda each: (lists[each], len(each)))
            yield family, list(most)


def _region(types: set[str], sizes: Sizes, usual: Sizes) -> dict[str, Any]:
    sold = {family: found for family in sorted(sizes) if (found := _sold(types, family, sizes))}
    listed = {
        "usual": [family for family in sold if sold[family] == usual[family]],
        "sizes": {family: sold[family] for family in sold if sold[family] != usual[family]},
    }
    return {key: value for key, value in listed.items() if value}


def _sold(types: set[str], family: str, sizes: Sizes) -> list[str]:
    return [size for size in sizes[family] if f"ml.{family}.{size}" in types]


def _api_types(botocore: Package) -> list[str]:
    return list(shape(botocore, "sagemaker", "ProductionVariantInstanceType")["enum"])


def _priced_types(cfn_lint: Package) -> dict[str, set[str]]:
    """By region."""
    entries = cfn_lint.read_json(PRICED).items()
    return {region: set(entry["enum"]) for region, entry in entries if "enum" in entry}


def _regions_by_type(content: Mapping[str, Any], sizes: Sizes) -> Facts:
    usual, found = {**sizes, **content["usual_sizes"]}, defaultdict[str, dict[str, str]](dict)
    for region, listed in content["regions"].items():
        families = {family: usual[family] for family in listed.get("usual", ())}
        for name in type_names(families | listed.get("sizes", {})):
            found[name][region] = ""
    return found
