"""Values that the deploy decides: stand-ins for the rules, and the values put back into what follows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from math import nan
from typing import Any, TypeVar, cast

from aws_cdk import Token
from pydantic import BaseModel

from triton_endpoints.alarm_topics import subscription_protocol
from triton_fleet.catalog.images import Release, releases
from triton_fleet.catalog.instances import Instance
from triton_fleet.context.alarms import Alarm
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.alarms import Alarms, BySeverity
from triton_fleet.spec.source import KeyPath

T = TypeVar("T")
RUNS = 4
"""How many stand-ins a value has. What all of them lead to does not depend on the value."""
_ACCOUNTS = ("210987654321", "321098765432", "432109876543", "543210987654")
_REGIONS = ("us-east-1", "us-west-2", "eu-west-1", "ap-southeast-1")
_TYPES = ("ml.g5.xlarge", "ml.g5.12xlarge", "ml.g4dn.xlarge", "ml.c5.xlarge")
_WORD = "value-{0}"
FIRST_NUMBER = 1
"""The least stand-in for a number: the most of a range is a literal, which the least has to be below."""
_FORMS: Mapping[KeyPath, str | Sequence[str]] = {
    ("instance", "type"): _TYPES,
    ("triton",): tuple(releases()[-RUNS:]),
    ("account",): _ACCOUNTS,
    ("region",): _REGIONS,
    ("image_digest",): "sha256:" + "0" * 52 + "{0}",
    ("kms_key",): "arn:aws:kms:{region}:{account}:key/00000000-0000-4000-8000-{0}",
    ("permissions_boundary",): "arn:aws:iam::{account}:policy/value-{0}",
}
"""The forms of values, by the paths of keys; others are words."""
_SUBSCRIBERS: Mapping[str, str] = {
    "lambda": "lambda:{region}:{account}:function:value-{0}",
    "sqs": "sqs:{region}:{account}:value-{0}",
}
_FACTS = (Instance, Release, Alarms, BySeverity)
"""Facts of a type or a release that is not known, and thresholds as the spec has them: those of the first
stand-in stay. What is declared of them is compared between the stand-ins."""


_LEAST_NUMBER = -1e200
"""Tokens of numbers are below."""


def is_token(value: object) -> bool:
    """Whether the deploy decides a value; the CDK is slow, and only asked of what may be a token."""
    match value:
        case None | bool():
            return False
        case str():
            return "{Token[" in value and bool(Token.is_unresolved(value))
        case int() | float():
            return value < _LEAST_NUMBER and bool(Token.is_unresolved(value))
    return hasattr(value, "__jsii_type__") and bool(Token.is_unresolved(value))


class NumberToken(float):
    """A number that the deploy decides; a text that it is formatted into holds its token."""

    def __format__(self, form: str) -> str:
        """The token, whatever the form."""
        return str(Token.as_string(float(self)))

    def __truediv__(self, divisor: float) -> NumberToken:
        """Itself: no other divisor than 1 is left where a token is put back."""
        if divisor != 1:
            raise TypeError("the deploy alone could divide a token")
        return self


class Values:
    """The values of a construct's props that the deploy decides.

    The spec and the environment are read once with each of some stand-ins. A finding counts if all of them
    have it, so that it holds for every value. What the endpoint resolves to is compared between two of
    them: where it differs, it follows from a value, which is put back.
    """

    def __init__(self) -> None:
        self._texts: list[tuple[Sequence[str], str]] = []
        self._numbers: dict[tuple[float, ...], NumberToken] = {}
        self._thresholds: dict[tuple[float, ...], NumberToken] = {}
        self._own_names: dict[str, str] = {}
        self.names: list[str] = []
        """The props that hold them, as findings name them."""
        self._varied_name: str | None = None

    def copy(self, varied_name: str | None = None) -> Values:
        """The same values, to which others are added.

        Args:
            varied_name: The prop whose value alone has several stand-ins; default: all have.
        """
        values = Values()
        values._varied_name = varied_name
        values._texts, values._numbers = list(self._texts), dict(self._numbers)
        values._thresholds, values._own_names = dict(self._thresholds), dict(self._own_names)
        values.names = list(self.names)
        return values

    def documents(
        self,
        data: dict[str, object],
        name: Callable[[KeyPath], str],
        own: Mapping[KeyPath, Sequence[str]] | None = None,
    ) -> list[dict[str, object]]:
        """The document with each of the stand-ins; as it is where it holds no such value.

        Args:
            data: The document, as a file would hold it.
            name: The prop of a key.
            own: Stand-ins for values that are known, but that a file could not have, by their paths.
        """
        tokens = {
            path: value
            for path, value in paths_of(data)
            if not isinstance(value, Mapping | list) and is_token(value)
        }
        if not tokens and not own:
            return [data]
        for path, texts in (own or {}).items():
            self.put(str(data[str(path[0])]), texts)
            self._own_names[texts[0]] = str(data[str(path[0])])
        account, region = (str(data.get(key, "")) for key in ("account", "region"))
        stand_ins = {path: self._stand_ins(value, path, account, region) for path, value in tokens.items()}
        stand_ins |= own or {}
        names = {path: name(path) for path in tokens}
        self.names += names.values()
        if self._varied_name is not None:
            stand_ins = {
                path: alternatives if names.get(path) == self._varied_name else [alternatives[0]] * RUNS
                for path, alternatives in stand_ins.items()
            }
        return [cast(dict[str, object], _with(data, (), stand_ins, run)) for run in range(RUNS)]

    def run(self, read: Callable[[int], T], count: int) -> list[T]:
        """Read each of some documents.

        Args:
            read: What reads the document of a number.
            count: How many there are.

        Raises:
            FindingsError: what is wrong with them, whatever the values are.
        """
        results, runs = list[T](), list[list[Finding]]()
        for number in range(count):
            try:
                results.append(read(number))
                runs.append([])
            except FindingsError as error:
                runs.append(error.findings)
        if len(results) == count:
            return results
        if count == 1 or (common := self.common(runs)):
            raise FindingsError(runs[0] if count == 1 else common)
        places = {str(finding.file) for run in runs for finding in run}
        names = [name for name in self.names if any(_is_at(name, place) for place in places)]
        raise self.refusal(names)

    def put(self, token: str, stand_ins: Sequence[str]) -> None:
        """A value that has stand-ins already, such as the account of a stack."""
        self._texts.append((stand_ins, token))

    def common(self, runs: Sequence[Sequence[Finding]]) -> list[Finding]:
        """The findings that hold for every value: all runs have them, in the same words."""
        first, *later_runs = runs
        keys = [{_key(finding) for finding in findings} for findings in later_runs]
        return [self._in_words(finding) for finding in first if all(_key(finding) in run for run in keys)]

    def _in_words(self, finding: Finding) -> Finding:
        """A finding with the names that have stand-ins although they are known."""
        hint = finding.hint
        for stand_in, name in self._own_names.items():
            hint = hint.replace(stand_in, name)
        return replace(finding, hint=hint)

    def put_back(self, first: T, second: T) -> T:
        """A result of the values, with these in place of the stand-ins that it was made of.

        Raises:
            FindingsError: something is computed of a value, which only the deploy could do.
        """
        return cast(T, self._put_back(first, second))

    def _put_back(self, first: Any, second: Any) -> Any:
        if first is second or (type(first) is type(second) and first == second):
            return first
        if isinstance(first, str) and isinstance(second, str) and type(first) is str:
            if (text := self._put_into_text(first, second)) is not None:
                return text
            numbers = tuple(int(text) for text in (first, second) if text.isdecimal())
            if (number := self._numbers.get(numbers)) is not None:
                return f"{number}"
        elif isinstance(first, int | float) and isinstance(second, int | float):
            if (number := self._numbers.get((first, second))) is not None:
                return number
        elif isinstance(first, Mapping) and isinstance(second, Mapping) and len(first) == len(second):
            pairs = zip(first.items(), second.items(), strict=True)
            return {
                self._put_back(key, other_key): self._put_back(value, other_value)
                for (key, value), (other_key, other_value) in pairs
            }
        elif (
            isinstance(first, list | tuple) and isinstance(second, list | tuple) and len(first) == len(second)
        ):
            return type(first)(self._put_back(*pair) for pair in zip(first, second, strict=True))
        elif isinstance(first, BaseModel) and isinstance(second, BaseModel):
            return first.model_copy(update=dict(self._changes(first, second, type(first).model_fields)))
        elif isinstance(first, Alarm) and isinstance(second, Alarm) and first.threshold != second.threshold:
            return self._put_into_alarm(first, second)
        elif is_dataclass(first) and is_dataclass(second) and not isinstance(first, type):
            names = [field.name for field in fields(first)]
            return replace(first, **dict(self._changes(first, second, names)))
        raise self.refusal()

    def _put_into_alarm(self, first: Alarm, second: Alarm) -> Alarm:
        """An alarm of a threshold in CloudWatch's own unit, which no graph shows and no text states."""
        if (threshold := self._thresholds.get((first.graph_threshold, second.graph_threshold))) is None:
            raise self.refusal()
        alarms = [
            replace(
                alarm,
                threshold=0.0,
                graph_threshold=0.0,
                text=re.sub(rf"\b{alarm.graph_threshold:.15g}( ms|%)", "a value of the deploy", alarm.text),
            )
            for alarm in (first, second)
        ]
        return replace(self.put_back(*alarms), threshold=threshold, graph_threshold=nan)

    def _changes(
        self, first: Any, second: Any, names: Sequence[str] | Mapping[str, Any]
    ) -> Iterator[tuple[str, Any]]:
        for name in names:
            values = getattr(first, name), getattr(second, name)
            if values[0] is values[1]:
                continue
            try:
                yield name, self._put_back(*values)
            except FindingsError:
                if not isinstance(first, _FACTS):
                    raise

    def _put_into_text(self, first: str, second: str) -> str | None:
        """The text with tokens where one has the first stand-in of a value, and the other the second.

        A literal that is the same as a stand-in stays, as both texts have it. None for texts that differ in
        anything else.
        """
        result, start, second_start = list[str](), 0, 0
        while start < len(first) or second_start < len(second):
            for stand_ins, token in self._texts:
                if first.startswith(stand_ins[0], start) and second.startswith(stand_ins[1], second_start):
                    result.append(token)
                    start, second_start = start + len(stand_ins[0]), second_start + len(stand_ins[1])
                    break
            else:
                if first[start : start + 1] != second[second_start : second_start + 1]:
                    return None
                result.append(first[start])
                start, second_start = start + 1, second_start + 1
        return "".join(result)

    def refusal(self, names: Sequence[str] = ()) -> FindingsError:
        """An error about values of which something is computed; without names it may be any of them."""
        props = ", ".join(f"`{name}`" for name in names or self.names)
        message = f"the deploy decides {props}, of which the synth has to compute something"
        return FindingsError([Finding(code="FL616", message=message, hint="write the value itself")])

    def _stand_ins(self, value: object, path: KeyPath, account: str, region: str) -> Sequence[object]:
        number = len(self._texts) + len(self._numbers) + len(self._thresholds)
        if isinstance(value, int | float):
            start = RUNS * number + FIRST_NUMBER
            numbers = tuple(range(start, start + RUNS))
            if path[:1] == ("alarms",):
                unit = "ms" if str(path[1]).startswith(("latency", "overhead")) else "%"
                self._thresholds[numbers[:2]] = NumberToken(value)
                return [f"{stand_in}{unit}" for stand_in in numbers]
            if path[0] != "environment":
                self._numbers[numbers[:2]] = NumberToken(value)
                return [f"{stand_in}%" for stand_in in numbers] if path[0] == "capture" else numbers
            value = Token.as_string(value)  # a variable is text
        token = value if isinstance(value, str) else Token.as_string(value)
        form = _form(token, path)
        earlier_texts = [texts for texts, text in self._texts if text == token]
        if form == _WORD and earlier_texts:
            return earlier_texts[0]  # such as a role that the environment allows, and a spec names
        texts = (
            [
                form.format(
                    f"{RUNS * number + run:012x}",
                    account=_ACCOUNTS[run] if is_token(account) else account,
                    region=_REGIONS[run] if is_token(region) else region,
                )
                for run in range(RUNS)
            ]
            if isinstance(form, str)
            else form
        )
        self.put(token, texts)
        return texts


def _form(token: str, path: KeyPath) -> str | Sequence[str]:
    if path[:1] == ("notifications",) and (service := _SUBSCRIBERS.get(subscription_protocol(token))):
        return "arn:aws:" + service
    if path[:1] == ("allowed_roles",):
        return "arn:aws:iam::{account}:role/value-{0}"
    return _FORMS.get(path, _WORD)


def paths_of(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    """Everything inside a document by its path, mappings and lists as well."""
    if path:
        yield path, value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from paths_of(inner, (*path, str(key)))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths_of(inner, (*path, index))


def _with(value: object, path: KeyPath, stand_ins: Mapping[KeyPath, Sequence[object]], run: int) -> object:
    if isinstance(value, Mapping):
        return {key: _with(inner, (*path, str(key)), stand_ins, run) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with(inner, (*path, index), stand_ins, run) for index, inner in enumerate(value)]
    return stand_ins[path][run] if path in stand_ins else value


def _is_at(name: str, place: str) -> bool:
    """Whether a prop is at a place, or below it."""
    return name == place or name.startswith((f"{place}.", f"{place}["))


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.place, finding.message
