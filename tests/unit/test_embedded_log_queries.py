"""The embedded AWS hosts saved queries as CloudFormation takes them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from moto.cloudformation.exceptions import ValidationError

from fleet.local.aws.types.catalog import type_named
from fleet.local.aws.types.resource import Declared

TYPE = "AWS::Logs::QueryDefinition"
QUERY = Declared(
    logical_id="Errors",
    type=TYPE,
    properties={"Name": "TritonFleet/a/errors", "QueryString": "limit 1", "LogGroupNames": ["/a"]},
    stack_name="stack",
    stack_id="arn:aws:cloudformation:us-east-1:123456789012:stack/stack/1",
    account_id="123456789012",
    region="us-east-1",
)


def test_a_saved_query_has_an_id_that_it_keeps() -> None:
    hosted = type_named(TYPE)
    made = hosted.create(QUERY)
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", made.physical_resource_id)
    renamed = replace(QUERY, properties={**QUERY.properties, "Name": "others"})
    assert not hosted.replaces(QUERY, renamed)
    assert hosted.update(made, QUERY, renamed) is made
    assert made.note == ""


@pytest.mark.parametrize("properties", [{"Name": ""}, {"Name": "x" * 256}, {"QueryString": "x" * 10_001}])
def test_one_beyond_the_limits_is_refused(properties: dict[str, str]) -> None:
    wrong = replace(QUERY, properties={**QUERY.properties, **properties})
    hosted = type_named(TYPE)
    with pytest.raises(ValidationError, match="has to have 1 to"):
        hosted.create(wrong)
    with pytest.raises(ValidationError, match="has to have 1 to"):
        hosted.update(hosted.create(QUERY), QUERY, wrong)
