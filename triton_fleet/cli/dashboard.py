"""`fleet dashboard`: the deployed dashboard of an endpoint, drawn from what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from triton_fleet.aws.dashboard.page import draw_dashboard
from triton_fleet.cli.arguments import Endpoint, Env, Profile
from triton_fleet.cli.aws_access import access_to, connect, local_fleet
from triton_fleet.cli.current_fleet import current_project
from triton_fleet.cli.output import say
from triton_fleet.core.files import private_folder, replace_file
from triton_fleet.endpoint.resolved_endpoint import stack_of
from triton_fleet.findings import CannotRunError
from triton_fleet.local.metrics.ask import ask_to_publish
from triton_fleet.spec.environment import LOCAL

LEAST_HOURS, MOST_HOURS = 0.1, 360.0
"""The most is 15 days, for which CloudWatch keeps values by minute."""


def dashboard(
    endpoint: Endpoint,
    env: Env = LOCAL,
    file: Annotated[
        Path | None, typer.Option(help="The page to write. Default: in .fleet/ENV/dashboards/.")
    ] = None,
    hours: Annotated[
        float, typer.Option(help="How many hours up to now the page shows.", min=LEAST_HOURS, max=MOST_HOURS)
    ] = 3.0,
    profile: Profile = None,
) -> None:
    """Write an endpoint's dashboard as one HTML page.

    The page shows the metrics of the deployed endpoint; its path is printed.
    """
    if file is not None and file.is_dir():
        raise CannotRunError(f"{file} is a folder", "pass a file in it")
    project = current_project(env, endpoint)
    root, deployment = project.root, project.deployment
    if not deployment.dashboards:
        deploy = "fleet local up" if env == LOCAL else f"fleet deploy --env {env}"
        problem = f"{endpoint} has no dashboard: environments/{env}.yaml has `dashboards: false`"
        raise CannotRunError(problem, f"write `dashboards: true` there, then run `{deploy}`")
    # The embedded AWS is found by its keys, which are of no other account.
    access = (access_to if env == LOCAL else connect)(project, profile)
    if (supervisor := local_fleet(root, access.client("cloudwatch"))) is not None:
        ask_to_publish(supervisor)
    page = draw_dashboard(access, endpoint, stack_of(deployment, endpoint), hours, root)
    page_file = private_folder(root, env, "dashboards") / f"{endpoint}.html" if file is None else file
    replace_file(page_file, page, root=root if file is None else None)
    say(str(page_file))
