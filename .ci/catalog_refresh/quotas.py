"""Names of quotas, compared with a list of Service Quotas that somebody saved."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from catalog_refresh.package import AbsentSourceError
from catalog_refresh.proposal import Remark, read_facts

FILE, CODEBUILD, PRICES = "quotas.yaml", "codebuild.yaml", "prices.yaml"


def quota_remarks(list_file: Path, folder: Path) -> Iterator[Remark]:
    """The names of the catalog that the list lacks, of the service that it is of.

    Raises:
        AbsentSourceError: The file is not such a list, or of a service that the catalog has no quotas of.
    """
    try:
        quotas = json.loads(list_file.read_bytes())["Quotas"]
        names, services = {quota["QuotaName"] for quota in quotas}, {quota["ServiceCode"] for quota in quotas}
    except (OSError, ValueError, KeyError, TypeError) as error:
        text = (
            f"{list_file} is not a list of Service Quotas: it needs `Quotas` with ServiceCode and QuotaName"
        )
        raise AbsentSourceError(text) from error
    own = read_facts(folder, FILE)
    names_by_service = {
        own["service"]: (
            FILE,
            [own["of_all"], *(own["of_type"].format(type=quota) for quota in _priced_types(folder))],
        ),
        "codebuild": (CODEBUILD, list(read_facts(folder, CODEBUILD)["quotas"].values())),
    }
    if not services & names_by_service.keys():
        raise AbsentSourceError(f"{list_file} has quotas of {', '.join(sorted(services)) or 'nothing'} alone")
    for service in sorted(services & names_by_service.keys()):
        file, own_names = names_by_service[service]
        for name in sorted(set(own_names) - names):
            yield Remark(file=file, text=f"`{name}` is not among the quotas of {service} in {list_file.name}")


def _priced_types(folder: Path) -> list[str]:
    """Types with a stated price: those that many fleets have."""
    prices_by_region = read_facts(folder, PRICES)["stated"].values()
    return list(dict.fromkeys(name for prices in prices_by_region for name in prices))
