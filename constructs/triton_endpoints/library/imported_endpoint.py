"""An endpoint that is deployed elsewhere, with what its alarms, scaling and dashboard depend on."""

from __future__ import annotations

from dataclasses import replace

from constructs import Construct

from triton_endpoints.library.declaration import Declaration
from triton_endpoints.library.environment import EnvironmentProp
from triton_endpoints.library.model import TritonModel
from triton_endpoints.library.props import Alarms, Instance, Keys
from triton_endpoints.library.reference import EndpointReference
from triton_endpoints.library.scaling import Scaling
from triton_endpoints.library.spec import PropsSpec
from triton_endpoints.library.support import EndpointSupport


class ImportedEndpoint(EndpointReference):
    """An endpoint that is deployed elsewhere, and what it serves: for TritonAlarms and the like beside it.

    Nothing of it is read from AWS: the rules check what is written here.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint_name: str,
        triton: str,
        instance: Instance,
        model: TritonModel,
        environment: EnvironmentProp | None = None,
        support: EndpointSupport | None = None,
        metrics: Keys | None = None,
    ) -> None:
        """Describe an endpoint of the stack's account and region.

        Args:
            scope: The parent; its stack has an account and a region.
            id: The construct's own.
            endpoint_name: The endpoint's name.
            triton: Its container release, such as `25.04`.
            instance: Its machines.
            model: What it serves.
            environment: A name, the path of an environments/ENV.yaml, or a FleetEnvironment; default: the
                support's.
            support: What endpoints share; default: the environment's, if the app has declared it before.
            metrics: Keys of `metrics` of a spec.
        """
        super().__init__(scope, id, endpoint_name=endpoint_name)
        self._spec = PropsSpec(
            endpoint_name=endpoint_name,
            triton=triton,
            instance=instance,
            model=model,
            alarms=None,
            sections={"metrics": metrics},
        )
        self._environment, self._support = environment, support


def declaration_of(
    endpoint: ImportedEndpoint, *, alarms: Alarms | None = None, scaling: Scaling | None = None
) -> Declaration:
    """What an imported endpoint would be declared from, with the alarms and the scaling of its companions."""
    spec = replace(endpoint._spec, alarms=alarms, scaling=scaling)
    return Declaration(spec=spec, environment=endpoint._environment, support=endpoint._support)
