"""`fleet dashboard`: the deployed dashboard of an endpoint, drawn from what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from botocore.exceptions import BotoCoreError

from fleet.cli.arguments import Env
from fleet.cli.output import say
from fleet.core.files import write_atomically
from fleet.core.project_root import project_root
from fleet.endpoint.resolve import place_of
from fleet.endpoint.resolved_endpoint import stack_of
from fleet.findings import CannotRunError
from fleet.local.dashboard.draw import draw_dashboard
from fleet.local.metrics.ask import ask_to_publish
from fleet.local.state import LocalState
from fleet.spec.environment import LOCAL
from fleet.spec.project import open_project

LEAST_HOURS, MOST_HOURS = 0.1, 360.0
"""The most is 15 days, for which CloudWatch keeps values by minute."""


def dashboard(
    endpoint: Annotated[str, typer.Argument(help="The endpoint's name.")],
    env: Env = LOCAL,
    file: Annotated[
        Path | None, typer.Option(help="The page to write. Default: .fleet/local/dashboards/ENDPOINT.html.")
    ] = None,
    hours: Annotated[
        float, typer.Option(help="Hours before now that the page shows.", min=LEAST_HOURS, max=MOST_HOURS)
    ] = 3.0,
) -> None:
    """Draw the dashboard of a local endpoint as one HTML page, and print where it is."""
    if file is not None and file.is_dir():
        raise CannotRunError(f"{file} is a folder", "pass a file in it")
    root = project_root(Path.cwd())
    place = open_project(root, env, [endpoint]).environment
    if env != LOCAL:
        problem = f"the dashboard of {endpoint} in {env} is in the CloudWatch console"
        remedy = f"open it in account {place.account}, region {place.region}"
        raise CannotRunError(problem, remedy)
    if not place.dashboards:
        problem = f"{endpoint} has no dashboard: environments/{env}.yaml has `dashboards: false`"
        raise CannotRunError(problem, "write `dashboards: true` there, then run `fleet local up`")
    state = LocalState(root)
    supervisor = state.supervisor()
    if supervisor is None:
        raise CannotRunError("nothing runs on this machine", "run `fleet local up` first")
    ask_to_publish(supervisor)
    try:
        page = draw_dashboard(supervisor, endpoint, stack_of(place_of(place), endpoint), hours)
    except BotoCoreError as error:
        problem = f"the embedded AWS does not answer: {error}"
        raise CannotRunError(problem, "run `fleet local up` again") from error
    written = state.folder / "dashboards" / f"{endpoint}.html" if file is None else file
    write_atomically(written, page)
    say(str(written))
