"""The instance types that SageMaker offers for endpoints, as botocore's own service model lists them."""

from __future__ import annotations

from functools import cache

from botocore.model import StringShape
from moto.sagemaker.exceptions import ValidationError
from moto.sagemaker.models import FakeEndpointConfig

from fleet.local.aws.sagemaker.constraints import service_model


@cache
def known_instance_types() -> tuple[str, ...]:
    """All values of `ProductionVariantInstanceType`."""
    shape = service_model().shape_for("ProductionVariantInstanceType")
    assert isinstance(shape, StringShape)  # noqa: S101 (a string with an enum, in every version of botocore)
    return tuple(shape.enum)


class EmbeddedEndpointConfig(FakeEndpointConfig):
    """An endpoint configuration that knows more instance types than moto, whose list ends with g4dn."""

    def is_created(self) -> bool:
        """What moto asks of a model."""
        return True

    def validate_instance_type(self, instance_type: str) -> None:
        """Refuse an unknown instance type.

        Raises:
            ValidationError: worded as SageMaker words it.
        """
        if instance_type not in known_instance_types():
            raise ValidationError(
                f"1 validation error detected: Value '{instance_type}' at "
                "'productionVariants.1.member.instanceType' failed to satisfy constraint: "
                f"Member must satisfy enum value set: [{', '.join(known_instance_types())}]"
            )
