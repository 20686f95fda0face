"""The errors of Application Auto Scaling.

moto has one, which is no `ServiceException`. Source of the codes: botocore's model of the service.
"""

from __future__ import annotations

from moto.core.exceptions import ServiceException


class InvalidError(ServiceException):
    """The request is not one that the service takes."""

    code = "ValidationException"


class ObjectNotFoundError(ServiceException):
    """What the request names does not exist; for CloudFormation a deletion has then nothing left to do."""

    code = "ObjectNotFoundException"
