"""The rule about functions of CloudFormation in raw properties."""

from __future__ import annotations

import re
from collections.abc import Iterator

from triton_fleet.context.context import EndpointContext
from triton_fleet.context.raw import path_names
from triton_fleet.rules.raw import RESOURCES, nested_keys, value_text
from triton_fleet.rules.rule import Problem, rule

_NAME = r"[A-Za-z0-9]+"
_PSEUDO_PARAMETER = r"AWS::(AccountId|Partition|Region|StackId|StackName|URLSuffix)"
_ATTRIBUTE = rf"{_NAME}(\.{_NAME})+"
NAME = re.compile(_NAME)
REFERENCE = re.compile(rf"{_NAME}|{_PSEUDO_PARAMETER}|AWS::NoValue")
ATTRIBUTE = re.compile(_ATTRIBUTE)
ATTRIBUTE_NAME = re.compile(rf"{_NAME}(\.{_NAME})*")
TEXT = re.compile(rf"([^${{}}]|\$\{{({_NAME}|{_ATTRIBUTE}|{_PSEUDO_PARAMETER})\}})*")
"""A text of `Fn::Sub` that yields no brace: `${!` yields `${`, and an empty variable joins what is around it.

Source: intrinsic-function-reference-sub.html of the CloudFormation user guide.
"""
FUNCTIONS = ("Ref", "Fn::GetAtt", "Fn::If", "Fn::Sub")
"""What leads to values of the same stack and region."""


@rule("FL561", source="docs/security.md", needed=True)
def disallowed_raw_function(endpoint: EndpointContext) -> Iterator[Problem]:
    """Raw properties use only functions of CloudFormation that lead to values of their own stack.

    Others read what other stacks export, or put together a text such as a reference to a secret, which
    CloudFormation resolves with the role that deploys. So a text of `Fn::Sub` has `${NAME}`,
    `${NAME.ATTRIBUTE}` and `${AWS::Region}` or its siblings, and no other `$`, `{` or `}`.
    """
    for resource in RESOURCES:
        for key, value in endpoint.spec.cloudformation.get(resource, {}).items():
            *outer, last = path_names(key)
            used = [*((name, None) for name in outer), *nested_keys({last: value})]
            for name, argument in used:
                if (name == "Ref" or name.startswith("Fn::")) and not _is_allowed(name, argument):
                    message = f"{key} of {resource} uses {name}"
                    if name in FUNCTIONS and argument is not None:
                        message += f" with {value_text(argument)}"
                    hint = f"write the value itself, or use {', '.join(FUNCTIONS)}"
                    if name == "Fn::Sub":
                        hint += "; its text has `${NAME}` or `${NAME.ATTRIBUTE}`, and no other `$`, `{`, `}`"
                    yield Problem(("cloudformation", resource, key), message, hint)
                    break


def _is_allowed(name: str, argument: object) -> bool:
    """Whether it leads to what it shows; what is inside of `Fn::If` is looked at by itself."""
    match name, argument:
        case "Ref", str(reference):
            return REFERENCE.fullmatch(reference) is not None
        case "Fn::GetAtt", str(attribute):
            return ATTRIBUTE.fullmatch(attribute) is not None
        case "Fn::GetAtt", [str(resource), str(attribute)]:
            return NAME.fullmatch(resource) is not None and ATTRIBUTE_NAME.fullmatch(attribute) is not None
        case "Fn::If", [str(condition), _, _]:
            return NAME.fullmatch(condition) is not None
        case "Fn::Sub", str(text):
            return TEXT.fullmatch(text) is not None
    return False
