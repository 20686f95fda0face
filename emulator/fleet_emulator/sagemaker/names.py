"""Names of models and endpoint configurations, which SageMaker finds in any case.

CloudFormation's `Ref` of them is their ARN, whose name is in lower case, and CloudFormation describes and
deletes them by it. Sources: fidelity.yaml.
"""

from __future__ import annotations

from typing import Any, TypeVar

from moto.sagemaker.utils import arn_formatter

V = TypeVar("V")


class Names(dict[str, V]):
    """Resources by their names, found in any case; values know how their names were spelled."""

    def __getitem__(self, name: str) -> V:
        return super().__getitem__(name.lower())

    def __setitem__(self, name: str, value: V) -> None:
        super().__setitem__(name.lower(), value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name.lower())

    def __contains__(self, name: object) -> bool:
        return super().__contains__(str(name).lower())

    def get(self, name: str, default: Any = None) -> Any:
        """The resource, or the default."""
        return super().get(name.lower(), default)

    def pop(self, name: str, *default: Any) -> Any:
        """Remove the resource."""
        return super().pop(name.lower(), *default)


def arn_of(kind: str, name: str, account: str, region: str) -> str:
    """The ARN of a model, an endpoint configuration or an endpoint, with its name in lower case."""
    return arn_formatter(kind, name.lower(), account, region)
