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

API_TYPES, AVAILABILITY, INSTANCES = "api_types.yaml", "availability.yaml", "instances.yaml"
PRICE_TYPES = "cfnlint/data/schemas/extensions/aws_sagemaker_hosting/instancetype_enum.json"
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
    types, sizes = _priced_types(cfn_lint), family_sizes(folder)
    usual = dict(_usual_sizes(types, sizes))
    return Proposal(
        file=AVAILABILITY,
        origin=str(cfn_lint),
        scope=f"{PRICE_TYPES.removeprefix('cfnlint/')} (from AWS's price lists)",
        day=schema_day(cfn_lint),
        content={
            "usual_sizes": {
                family: usual[family] for family in sorted(usual) if usual[family] != sizes[family]
            },
            "regions": {region: _region(types[region], sizes, usual) for region in sorted(types)},
        },
        facts=lambda content: _regions_by_type(content, sizes),
    )


def type_remarks(botocore: Package, cfn_lint: Package, folder: Path) -> Iterator[Remark]:
    """Types to add to instances.yaml or to look at again, by people; none where a package is too old."""
    if is_older(str(botocore), folder, API_TYPES) or is_older(str(cfn_lint), folder, AVAILABILITY):
        return
    types, sizes, api = _priced_types(cfn_lint), family_sizes(folder), set(_api_types(botocore))
    priced_names, names = set[str]().union(*types.values()), set(type_names(sizes))
    for name in sorted((api | priced_names) - names):
        origin = botocore if name in api else cfn_lint
        text = (
            f"{name} is new in {origin}: add its processor, GPUs, vCPUs, memory, storage; then refresh again"
        )
        yield Remark(file=INSTANCES, text=text)
    for name in sorted(names - api - priced_names):
        text = f"{name} is no longer in {botocore} or {cfn_lint}: delete it, or keep it with the reason"
        yield Remark(file=INSTANCES, text=text)
    families = read_facts(folder, INSTANCES)["families"]
    for family in sorted(name for name in families if families[name].get("retired")):
        regions = [region for region in sorted(types) if _priced_sizes(types[region], family, sizes)]
        if regions:
            text = f"{family} is `retired`, and {cfn_lint} has it in {', '.join(regions)}"
            yield Remark(file=INSTANCES, text=text)


def schema_day(cfn_lint: Package) -> date:
    """The day of AWS's data in cfn-lint."""
    return datetime.fromisoformat(cfn_lint.read_json(VERSION)["schema_date"]).date()


def family_sizes(folder: Path) -> dict[str, list[str]]:
    """The sizes of each family of instances.yaml."""
    families = read_facts(folder, INSTANCES)["families"]
    return {family: list(facts["sizes"]) for family, facts in families.items()}


def type_names(sizes: Sizes) -> list[str]:
    """The names of the types of those families."""
    return [f"ml.{family}.{size}" for family in sizes for size in sizes[family]]


def _usual_sizes(types_by_region: Mapping[str, set[str]], sizes: Sizes) -> Iterator[tuple[str, list[str]]]:
    """The sizes that most regions have of each family; of two equally usual lists the longer one."""
    for family in sizes:
        lists = Counter[tuple[str, ...]](
            tuple(_priced_sizes(types, family, sizes)) for types in types_by_region.values()
        )
        del lists[()]
        if lists:
            usual_list = max(lists, key=lambda candidate: (lists[candidate], len(candidate)))
            yield family, list(usual_list)


def _region(types: set[str], sizes: Sizes, usual: Sizes) -> dict[str, Any]:
    by_family = {
        family: region_sizes
        for family in sorted(sizes)
        if (region_sizes := _priced_sizes(types, family, sizes))
    }
    entry = {
        "usual": [family for family in by_family if by_family[family] == usual[family]],
        "sizes": {family: by_family[family] for family in by_family if by_family[family] != usual[family]},
    }
    return {key: value for key, value in entry.items() if value}


def _priced_sizes(types: set[str], family: str, sizes: Sizes) -> list[str]:
    return [size for size in sizes[family] if f"ml.{family}.{size}" in types]


def _api_types(botocore: Package) -> list[str]:
    return list(shape(botocore, "sagemaker", "ProductionVariantInstanceType")["enum"])


def _priced_types(cfn_lint: Package) -> dict[str, set[str]]:
    """By region."""
    entries = cfn_lint.read_json(PRICE_TYPES).items()
    return {region: set(entry["enum"]) for region, entry in entries if "enum" in entry}


def _regions_by_type(content: Mapping[str, Any], sizes: Sizes) -> Facts:
    usual, by_type = {**sizes, **content["usual_sizes"]}, defaultdict[str, dict[str, str]](dict)
    for region, entry in content["regions"].items():
        families = {family: usual[family] for family in entry.get("usual", ())}
        for name in type_names(families | entry.get("sizes", {})):
            by_type[name][region] = ""
    return by_type
