"""The interface of the host of endpoints, which serves or removes what the embedded AWS deploys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

ACCOUNT, REGION = "fleet.account", "fleet.region"
"""Keys of a WSGI environment: the account whose keys signed the request, and the region that they signed."""


@dataclass(frozen=True, kw_only=True)
class EndpointId:
    """One endpoint among those of all accounts and regions, which share no names."""

    account: str
    region: str
    name: str


@dataclass(frozen=True, kw_only=True)
class DeployedContainer:
    """One container of a SageMaker Model, exactly as it was deployed; nothing here comes from a spec.

    `model_data_url` is an s3:// URL: one archive (`SingleModel`) or a prefix that ends in `/` (`MultiModel`).
    Where `files` is set, it is a prefix with the files of a `SingleModel`, not archived.
    """

    model_name: str
    image: str
    mode: str
    model_data_url: str
    environment: Mapping[str, str]
    files: bool = False


@dataclass(frozen=True, kw_only=True)
class DeployedEndpoint:
    """A SageMaker endpoint with its first production variant, as its configuration names them.

    `tags` are the endpoint's own.
    `role` is the ARN of its Model's execution role, with which SageMaker publishes some of its metrics.
    `unlike` names, for a person, the settings that it was deployed with and that have no effect here.
    """

    id: EndpointId
    config_name: str
    variant_name: str
    role: str
    container: DeployedContainer
    unlike: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)


class HostingError(Exception):
    """The endpoint cannot be served; the text is the FailureReason that DescribeEndpoint shows."""


class EndpointHost(Protocol):
    """Serves endpoints that the embedded AWS has deployed, of all accounts and regions."""

    def serve(self, endpoint: DeployedEndpoint) -> None:
        """Serve the endpoint in place of what its id served before; return when it answers.

        Raises:
            HostingError: it cannot be served; what its id served before is still served.
        """

    def scale(self, id: EndpointId) -> None:
        """Return when the endpoint has the instances that were asked for; it is Updating until then."""

    def remove(self, id: EndpointId) -> None:
        """Stop serving the endpoint; an unknown id is ignored."""
