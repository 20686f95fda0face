"""Packages that an extra lacks are named with the command that adds the extra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from triton_fleet.findings import CannotRunError
from triton_fleet.product.extras import (
    installed_requirements,
    missing_distributions,
    missing_package,
    require_extra,
)
from triton_fleet.product.pin import install_command

BASE = {
    "triton-fleet": (
        "pydantic<3,>=2.14",
        "boto3<2,>=1.44.5; extra == 'deploy'",
        "cdk-nag<4,>=3.0.2; extra == 'deploy'",
        "triton-endpoints==0.2.0; extra == 'deploy'",
        "boto3<2,>=1.44.5; extra == 'local'",
        "triton-endpoints==0.2.0; extra == 'local'",
        'nvidia-pytriton==0.7.0; (sys_platform == "linux") and extra == "local"',
        "Pillow<14,>=13; extra == 'local'",
        "triton-fleet-emulator==0.2.0; extra == 'local'",
        "tritonclient[http]>=2.73; extra == 'local'",
    ),
    "pydantic": (
        "typing-extensions>=4.6",
        "tomli; python_version < '3.11'",
        "email-validator>=2; extra == 'email'",
    ),
    "typing-extensions": (),
}
DEPLOY: Mapping[str, Sequence[str]] = {
    **BASE,
    "boto3": ("botocore<2,>=1.44",),
    "botocore": (),
    "cdk-nag": (),
    "triton-endpoints": ("triton-fleet==0.2.0", "aws-cdk-lib>=2.275"),
    "aws-cdk-lib": (),
}
LOCAL: Mapping[str, Sequence[str]] = {
    **DEPLOY,
    "pillow": (),
    "triton-fleet-emulator": ("triton-fleet==0.2.0",),
    "tritonclient": ("geventhttpclient>=2.3.3; extra == 'http'", "grpcio>=1.81.1; extra == 'grpc'"),
    "geventhttpclient": (),
}


@pytest.mark.parametrize(
    ("installed_lines", "extra", "missing_lines"),
    [
        (BASE, "", []),
        (BASE, "deploy", ["boto3", "cdk-nag", "triton-endpoints"]),
        (BASE, "local", ["boto3", "triton-endpoints", "pillow", "triton-fleet-emulator", "tritonclient"]),
        (DEPLOY, "deploy", []),
        (LOCAL, "local", []),
        ({**LOCAL, "aws-cdk-lib": None}, "deploy", ["aws-cdk-lib"]),
        ({**LOCAL, "geventhttpclient": None}, "local", ["geventhttpclient"]),
    ],
)
def test_what_an_extra_lacks_is_found_also_where_something_else_brings_it(
    installed_lines: Mapping[str, Sequence[str]], extra: str, missing_lines: list[str]
) -> None:
    assert missing_distributions(extra, installed_lines.get) == missing_lines


def refusal(module: str, installed_lines: Mapping[str, Sequence[str]]) -> CannotRunError | None:
    return missing_package(
        ModuleNotFoundError(f"No module named {module!r}", name=module), installed_lines.get
    )


@pytest.mark.parametrize(
    ("installed_lines", "module", "extra"),
    [
        (BASE, "boto3", "[deploy]"),
        (BASE, "botocore.exceptions", "[deploy]"),
        (BASE, "fleet_stacks.app", "[deploy]"),
        (BASE, "aws_cdk", "[deploy]"),
        ({**DEPLOY, "cdk-nag": None}, "cdk_nag", "[deploy]"),
        (BASE, "tritonclient", "[local]"),
        (BASE, "fleet_emulator", "[local]"),
        (DEPLOY, "PIL", "[local]"),
        (DEPLOY, "geventhttpclient", "[local]"),
        ({**DEPLOY, "typing-extensions": None}, "typing_extensions", ""),
    ],
)
def test_a_package_that_is_not_installed_is_refused_with_its_extra(
    installed_lines: Mapping[str, Sequence[str]], module: str, extra: str
) -> None:
    error = refusal(module, installed_lines)
    assert error is not None
    assert error.problem == f"this command needs {module.partition('.')[0]}, which is not installed"
    assert error.remedy == f"run `make setup`; without a Makefile: {install_command(extra)}"


@pytest.mark.parametrize(
    ("installed_lines", "module"),
    [(BASE, "triton_fleet.no_such_module"), (LOCAL, "PIL"), (LOCAL, ""), ({}, "boto3")],
)
def test_a_module_of_the_product_or_of_no_extra_is_a_bug_and_stays_one(
    installed_lines: Mapping[str, Sequence[str]], module: str
) -> None:
    assert refusal(module, installed_lines) is None


def test_an_extra_that_a_command_needs_is_refused_with_all_that_it_lacks() -> None:
    with pytest.raises(CannotRunError) as caught:
        require_extra("deploy", BASE.get)
    assert (
        caught.value.problem == "this command needs boto3, cdk-nag, triton-endpoints, which are not installed"
    )
    require_extra("deploy", DEPLOY.get)


def test_the_requirements_are_those_of_the_metadata() -> None:
    assert any(line.startswith("pydantic") for line in installed_requirements("triton-fleet") or ())
    assert installed_requirements("no-such-distribution") is None
