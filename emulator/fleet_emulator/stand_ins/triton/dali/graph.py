"""A DALI pipeline as the stand-in runs it: sample by sample, on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fleet_emulator.stand_ins.triton.dali.decoding import Array, ImageError
from fleet_emulator.stand_ins.triton.dali.operators import (
    OPERATIONS,
    SENT,
    SOURCE,
    Arguments,
    Step,
    UnknownToStandInError,
    ValueType,
)
from fleet_emulator.stand_ins.triton.dali.pipeline_file import Operator, SerializedPipeline


@dataclass(frozen=True)
class DeclaredInput:
    """An input as the pipeline declares it: the number of its DALIDataType, its dimensions; -1 if nothing."""

    data_type: int
    dimensions: int


class Graph:
    """A pipeline of which every operator and argument is known, and of every value what it is."""

    def __init__(self, pipeline: SerializedPipeline) -> None:
        """Take a pipeline.

        Raises:
            UnknownToStandInError: an operator, an argument of one, what it takes or a value is not known.
        """
        self.outputs = pipeline.outputs
        """The names of the values that it returns, in their order."""
        self.inputs: dict[str, DeclaredInput] = {}
        """What a call has to give, by name."""
        self._kinds: dict[str, ValueType] = {}
        self._steps: list[tuple[str, Step, str]] = []
        for operator in pipeline.operators:
            self._take(operator)
        self.made = [self._kind(name) for name in self.outputs]
        """What the outputs are."""

    def _take(self, operator: Operator) -> None:
        arguments = Arguments(operator)
        match operator.inputs, operator.outputs:
            case (), (into,) if operator.name == SOURCE:
                arguments.one_of("repeat_last", False)
                (data_type,), (dimensions,) = (
                    arguments.numbers(name, (-1,), 1) for name in ("dtype", "ndim")
                )
                self.inputs[into], kind = DeclaredInput(int(data_type), int(dimensions)), SENT
            case (taken,), (into,) if operator.name in OPERATIONS:
                operation = OPERATIONS[operator.name]
                if self._kind(taken) != operation.takes:
                    raise UnknownToStandInError(f"operator {operator.name} of {self._kind(taken).words}")
                step, kind = operation.build(arguments)
                self._steps.append((taken, step, into))
            case _:
                raise UnknownToStandInError(f"operator {operator.name}")
        arguments.end()
        if into in self._kinds:
            raise UnknownToStandInError(f"value {into!r}, which two operators make")
        self._kinds[into] = kind

    def _kind(self, name: str) -> ValueType:
        if name not in self._kinds:
            raise UnknownToStandInError(f"value {name!r}, which no operator makes before it is needed")
        return self._kinds[name]

    def run(self, inputs: Mapping[str, Array]) -> list[Array]:
        """The outputs for one sample, which has every input.

        Raises:
            ImageError: an operator refuses the sample.
        """
        values = dict(inputs)
        for taken, step, into in self._steps:
            values[into] = step(values[taken])
        return [values[name] for name in self.outputs]

    def batch(self, inputs: Mapping[str, Array]) -> list[Array]:
        """The outputs for all samples, which the first dimension of every input counts, each in one array.

        Raises:
            ImageError: an operator refuses a sample, or the samples of an output cannot be in one array.
        """
        if len({len(array) for array in inputs.values()}) > 1:
            raise ImageError("Each input in a request must have the same batch size.")
        samples = [
            self.run(dict(zip(inputs, sample, strict=True))) for sample in zip(*inputs.values(), strict=True)
        ]
        outputs = []
        for name, arrays in zip(self.outputs, zip(*samples, strict=True), strict=True):
            shapes = {array.shape for array in arrays}
            if len(shapes) > 1:
                raise ImageError(f"the samples of output '{name}' differ in shape: {sorted(shapes)}")
            outputs.append(np.stack(arrays))
        return outputs
