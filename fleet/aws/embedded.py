"""Access to the embedded AWS: its environment's name, and credentials that it takes for its own account."""

from __future__ import annotations

import os
from collections.abc import Mapping

import boto3
import botocore.session
from botocore.config import Config

from fleet.resolve.endpoint import Place

_KEY = "local"
LOOPBACK = "localhost,127.0.0.1"


def local_session(region: str) -> boto3.Session:
    """A session without the user's own AWS settings and proxies; clients need the embedded AWS's URL."""
    settings = {"profile": None, "config_file": os.devnull, "credentials_file": os.devnull}
    plain = botocore.session.Session({name: (None, None, value, None) for name, value in settings.items()})
    plain.set_credentials(_KEY, _KEY)
    plain.set_default_client_config(Config(proxies={}))
    return boto3.Session(botocore_session=plain, region_name=region)


def local_variables(environment: Mapping[str, str], place: Place, url: str) -> dict[str, str]:
    """The same for a process that is started: an environment without the user's settings, and with ours."""
    return account_variables(environment, account=place.account, region=place.region, url=url)


def account_variables(
    environment: Mapping[str, str], *, account: str, region: str, url: str
) -> dict[str, str]:
    """The variables of an account in a region.

    The CDK CLI remembers for good which account an access key belongs to, so each account has its own.
    """
    return {
        **without_aws(environment),
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ACCESS_KEY_ID": f"{_KEY}{account}",
        "AWS_SECRET_ACCESS_KEY": _KEY,
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_ENDPOINT_URL": url,
    }


def without_aws(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without AWS settings, and with loopback reached directly."""
    kept = {key: value for key, value in environment.items() if not key.startswith(("AWS_", "CDK_"))}
    return {**kept, "NO_PROXY": LOOPBACK, "no_proxy": LOOPBACK}
