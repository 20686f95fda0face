"""AWS's limits that botocore's models state."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalog_refresh.models import shape
from catalog_refresh.package import AbsentSourceError, Package
from catalog_refresh.proposal import Facts, Proposal, Remark, read_facts

FILE = "limits.yaml"


def limits(botocore: Package, folder: Path) -> Proposal:
    """Each limit's value by its source, `service shape min|max`; what botocore no longer states stays."""
    content, remarks = dict[str, Any](), list[Remark]()
    for name, limit in read_facts(folder, FILE)["limits"].items():
        service, of, end = limit["source"].split()
        try:
            value = shape(botocore, service, of).get(end)
        except AbsentSourceError:
            value = None
        if value is None:
            text = f"{name} stays {limit['value']}: {botocore} no longer has {limit['source']}"
            remarks.append(Remark(file=FILE, text=text))
        content[name] = {**limit, "value": limit["value"] if value is None else value}
    return Proposal(
        file=FILE,
        origin=str(botocore),
        scope="min and max of the shapes that each limit names",
        day=None,
        content={"limits": content},
        facts=_facts,
        remarks=tuple(remarks),
    )


def _facts(content: Mapping[str, Any]) -> Facts:
    return {name: {"": str(limit["value"])} for name, limit in content["limits"].items()}
