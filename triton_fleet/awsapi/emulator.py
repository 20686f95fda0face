"""Access to the embedded AWS: its access keys, and what clients and processes need to use them."""

from __future__ import annotations

import os
import secrets
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import boto3
    import urllib3

LOCAL_FLEET_HEADER = "x-triton-fleet-local"
"""In the answers of the embedded AWS that a local fleet runs; no account's AWS sends it."""
LOOPBACK = "localhost,127.0.0.1"
_PREFIX = "FLEET"


@dataclass(frozen=True)
class Keys:
    """An access key: it allows everything in the embedded AWS, and so running commands as its owner."""

    access_key_id: str
    secret_access_key: str = field(repr=False)

    @classmethod
    def random(cls) -> Keys:
        """New keys; an id has 20 capital letters and digits as on AWS, which is how moto finds it."""
        characters = string.ascii_uppercase + string.digits
        name = "".join(secrets.choice(characters) for _ in range(20 - len(_PREFIX)))
        return cls(f"{_PREFIX}{name}", secrets.token_urlsafe(30))


def local_session(region: str, keys: Keys) -> boto3.Session:
    """A session without the user's own AWS settings and proxies; clients need the embedded AWS's URL."""
    # Here, as boto3 is a third of a command's start, which most commands do without.
    import boto3
    import botocore.session
    from botocore.config import Config

    from triton_fleet.awsapi.errors import refuse_cut_answers

    settings = {"profile": None, "config_file": os.devnull, "credentials_file": os.devnull}
    plain = botocore.session.Session({name: (None, None, value, None) for name, value in settings.items()})
    plain.set_credentials(keys.access_key_id, keys.secret_access_key)
    plain.set_default_client_config(Config(proxies={}))
    refuse_cut_answers(plain)
    return boto3.Session(botocore_session=plain, region_name=region)


def local_variables(environment: Mapping[str, str], *, region: str, url: str, keys: Keys) -> dict[str, str]:
    """The same for a child process: an environment with our settings instead of the user's."""
    return {
        **without_aws(environment),
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        **client_variables(region=region, url=url, keys=keys),
    }


def client_variables(*, region: str, url: str, keys: Keys) -> dict[str, str]:
    """The variables with which boto3, the AWS CLI and the CDK CLI find the embedded AWS."""
    return {
        "AWS_ACCESS_KEY_ID": keys.access_key_id,
        "AWS_SECRET_ACCESS_KEY": keys.secret_access_key,
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_ENDPOINT_URL": url,
    }


def ask(method: str, url: str, *, region: str, keys: Keys, seconds: float) -> urllib3.BaseHTTPResponse:
    """The answer to a request outside AWS's API, signed like one of its requests.

    Raises:
        urllib3.exceptions.HTTPError: there is no answer within the time.
    """
    import urllib3
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    request = AWSRequest(method=method, url=url)
    credentials = Credentials(keys.access_key_id, keys.secret_access_key)
    SigV4Auth(credentials, "fleet", region).add_auth(request)
    return urllib3.request(method, url, headers=dict(request.headers), timeout=seconds, retries=False)


def without_aws(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without AWS settings, and with loopback reached directly."""
    variables = {key: value for key, value in environment.items() if not key.startswith(("AWS_", "CDK_"))}
    return {**variables, "NO_PROXY": LOOPBACK, "no_proxy": LOOPBACK}
