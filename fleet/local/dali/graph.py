"""A DALI pipeline as the stand-in runs it: sample by sample, on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fleet.local.dali.arguments import Arguments, UnknownToStandInError
from fleet.local.dali.images import Array
from fleet.local.dali.operators import SOURCE, STEPS, Step
from fleet.local.dali.serialized import Operator, SerializedPipeline


@dataclass(frozen=True)
class DeclaredInput:
    """What the pipeline says of an input: the number of its DALIDataType, its dimensions; -1 if nothing."""

    data_type: int
    dimensions: int


class Graph:
    """A pipeline of which every operator and argument is known."""

    def __init__(self, pipeline: SerializedPipeline) -> None:
        """Take a pipeline.

        Raises:
            UnknownToStandInError: an operator, an argument of one or a value is not known.
        """
        self.outputs = pipeline.outputs
        """The names of the values that it returns, in their order."""
        self.inputs: dict[str, DeclaredInput] = {}
        """What a call has to give, by name."""
        self._steps: list[tuple[str, Step, str]] = []
        for operator in pipeline.operators:
            self._take(operator)
        for name in self.outputs:
            self._check_made(name)

    def _take(self, operator: Operator) -> None:
        arguments = Arguments(operator)
        match operator.inputs, operator.outputs:
            case (), (into,) if operator.name == SOURCE:
                arguments.one_of("repeat_last", False)
                (data_type,), (dimensions,) = (
                    arguments.numbers(name, (-1,), 1) for name in ("dtype", "ndim")
                )
                self.inputs[into] = DeclaredInput(int(data_type), int(dimensions))
            case (taken,), (into,) if operator.name in STEPS:
                self._check_made(taken)
                self._steps.append((taken, STEPS[operator.name](arguments), into))
            case _:
                raise UnknownToStandInError(f"operator {operator.name}")
        arguments.end()

    def _check_made(self, name: str) -> None:
        if name not in self.inputs and all(name != into for _, _, into in self._steps):
            raise UnknownToStandInError(f"value {name!r}, which no operator makes before it is needed")

    def run(self, inputs: Mapping[str, Array]) -> list[Array]:
        """The outputs for one sample, which has every input.

        Raises:
            ImageError: an operator refuses the sample.
        """
        values = dict(inputs)
        for taken, step, into in self._steps:
            values[into] = step(values[taken])
        return [values[name] for name in self.outputs]
