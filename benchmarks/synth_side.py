"""One way of benchmarks/synth.py, as a process: it synthesises a fleet and prints what each part took.

`python synth_side.py WAY FLEET FIRST`. The ways:
- `fleet`: the project's own way, as app.py goes it, from specs and locks in the folder FLEET.
- `ungated`: the same without cdk-nag.
- `raw`: the endpoints' resources as `ungated` has synthesised them, declared again as plain CfnResources with
  all values known, in the same app with the same Foundation: what the CDK itself costs.

The app is made without endpoints first, then with the few of the folder FIRST, which load what all share;
then without endpoints until its time settles, and then with those that are measured. The first two show what
is paid once, the last without endpoints what the app around them costs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from clocks import Parts
from short import is_short

from triton_fleet.project.project import open_project

if TYPE_CHECKING:
    from aws_cdk import App

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "constructs"), str(ROOT / "stacks")]
ENVIRONMENT = "dev"
SETTLING = 0 if is_short() else 2
DECLARED = {"Type", "Properties"}
"""What a CfnResource is given at once; all else of a resource is laid over it."""


@dataclass(frozen=True)
class Way:
    """How an app is made: what is read of a folder, with its endpoints or without, and how it is declared."""

    read: Callable[[Path, bool], Any]
    add: Callable[[App, Any], None]


def main() -> None:
    """Synthesise one fleet in one way."""
    name, folder, first, parts = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), Parts()
    with parts.timed("start"):
        from aws_cdk import App
    with parts.timed("import"):
        way = {"fleet": own_way, "ungated": ungated_way, "raw": raw_way}[name]()

    def made(endpoints: Path | None) -> None:
        app = App(outdir=str(folder / name / "none"))
        way.add(app, way.read(endpoints or folder, endpoints is not None))
        app.synth()

    with parts.timed("foundation"):
        made(None)
    with parts.timed("first"):
        made(first)
    for part in (*(f"settling {number}" for number in range(SETTLING)), "again"):
        with parts.timed(part):
            made(None)
    with parts.timed("resolve"):
        read = way.read(folder, True)
    with parts.timed("constructs"):
        app = App(outdir=str(folder / name / "all"))
        way.add(app, read)
    with parts.timed("synth"):
        app.synth()
    print(json.dumps(parts.seconds))


def own_way() -> Way:
    """What app.py does."""
    from fleet_stacks.fleet_app import add_fleet
    from triton_fleet.endpoint.resolve import resolve_foundation, resolve_project
    from triton_fleet.endpoint.resolved_endpoint import ResolvedFleet

    def read(folder: Path, endpoints: bool) -> ResolvedFleet:
        return (resolve_project if endpoints else resolve_foundation)(open_project(folder, ENVIRONMENT))

    return Way(read, add_fleet)


def ungated_way() -> Way:
    """What app.py does, without cdk-nag."""
    way = own_way()

    def add(app: App, fleet: Any) -> None:
        with mock.patch("fleet_stacks.fleet_app.Validations"):
            way.add(app, fleet)

    return Way(way.read, add)


def raw_way() -> Way:
    """The same app, its endpoints' resources as the templates of the ungated way have them."""
    from aws_cdk import CfnOutput, CfnParameter, CfnResource, Environment, Stack, Tags, Token

    from fleet_stacks.fleet_app import FoundationStack
    from triton_fleet.endpoint.resolve import resolve_foundation
    from triton_fleet.spec.deployment import Deployment

    def read(folder: Path, endpoints: bool) -> tuple[Deployment, dict[str, Any]]:
        place = resolve_foundation(open_project(folder, ENVIRONMENT)).deployment
        return place, endpoint_templates(folder, place.stack, "ungated") if endpoints else {}

    def add(app: App, known: tuple[Deployment, dict[str, Any]]) -> None:
        deployment, templates = known
        for name, value in deployment.tags.items():
            Tags.of(app).add(name, value)
        FoundationStack(app, deployment=deployment)
        environment = Environment(account=deployment.account, region=deployment.region)
        for stack_name, template in templates.items():
            stack = Stack(app, stack_name, env=environment, description=template["Description"])
            for id, parameter in template.get("Parameters", {}).items():
                if id != "BootstrapVersion":
                    names = {name.lower(): value for name, value in parameter.items()}
                    CfnParameter(stack, id, **names)
            for id, each in template["Resources"].items():
                resource = CfnResource(stack, id, type=each["Type"], properties=each.get("Properties"))
                for key in each.keys() - DECLARED:
                    resource.add_override(key, each[key])
            for id, output in template["Outputs"].items():
                CfnOutput(
                    stack, id, value=Token.as_string(output["Value"]), description=output["Description"]
                )

    return Way(read, add)


def endpoint_templates(folder: Path, foundation: str, way: str) -> dict[str, Any]:
    """The templates of a fleet's endpoints as one way has synthesised them, by the stack's name."""
    suffix = ".template.json"
    found = sorted((folder / way / "all").glob(f"*{suffix}"))
    names = [each.name.removesuffix(suffix) for each in found]
    return {
        name: json.loads(each.read_text())
        for name, each in zip(names, found, strict=True)
        if name != foundation
    }


if __name__ == "__main__":
    main()
