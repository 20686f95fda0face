"""Names of quotas, compared with a list of Service Quotas that somebody saved."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from catalog_refresh.package import AbsentSourceError
from catalog_refresh.proposal import Remark, read_facts

FILE, OTHERS, PRICES = "quotas.yaml", "codebuild.yaml", "prices.yaml"


def quota_remarks(saved: Path, folder: Path) -> Iterator[Remark]:
    """The names of the catalog that the list lacks, of the service that it is of.

    Raises:
        AbsentSourceError: The file is not such a list, or of a service that the catalog has no quotas of.
    """
    try:
        listed = json.loads(saved.read_bytes())["Quotas"]
        names, services = {each["QuotaName"] for each in listed}, {each["ServiceCode"] for each in listed}
    except (OSError, ValueError, KeyError, TypeError) as error:
        text = f"{saved} is not a list of Service Quotas: it needs `Quotas` with ServiceCode and QuotaName"
        raise AbsentSourceError(text) from error
    own = read_facts(folder, FILE)
    needed = {
        own["service"]: (
            FILE,
            [own["of_all"], *(own["of_type"].format(type=each) for each in _priced(folder))],
        ),
        "codebuild": (OTHERS, list(read_facts(folder, OTHERS)["quotas"].values())),
    }
    if not services & needed.keys():
        raise AbsentSourceError(f"{saved} has quotas of {', '.join(sorted(services)) or 'nothing'} alone")
    for service in sorted(services & needed.keys()):
        file, wanted = needed[service]
        for name in sorted(set(wanted) - names):
            yield Remark(file=file, text=f"`{name}` is not among the quotas of {service} in {saved.name}")


def _priced(folder: Path) -> list[str]:
    """Types with a stated price: those that many fleets have."""
    stated = read_facts(folder, PRICES)["stated"].values()
    return list(dict.fromkeys(name for prices in stated for name in prices))
