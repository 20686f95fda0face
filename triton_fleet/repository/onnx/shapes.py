"""Whether a config's dims fit the shape of a graph's tensor, as the ONNX Runtime backend compares them.

Source: triton-inference-server/onnxruntime_backend, r24.10 to r26.06, src/onnxruntime_utils.cc,
CompareDimsSupported, and src/onnxruntime.cc, ValidateInputs and ValidateOutputs, for scalars.
"""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.repository.contents import OnnxTensor

INFERENCE_HINT = "ONNX Runtime may infer what the graph leaves open; if it does not, write -1"


@dataclass(frozen=True)
class ShapeProblem:
    """The backend's message; not `certain` where ONNX Runtime may know more of a shape than the file."""

    message: str
    hint: str
    certain: bool = True


def shape_text(shape: tuple[int, ...] | None) -> str:
    """A shape as the backend writes it: `[-1,16]`."""
    return f"[{','.join(map(str, shape or ()))}]"


def shape_problem(
    model: str, tensor: OnnxTensor, dims: tuple[int, ...], *, batching: bool, exact: bool
) -> ShapeProblem | None:
    """The problem of a tensor's dims, None if they have none.

    With `batching` they go without the first dimension. An open dimension of the graph takes any, unless it
    is compared `exact`, as those of outputs are.
    """
    if not tensor.shape:
        return _scalar(model, tensor.name, dims)
    shape, full = tensor.shape, (-1, *dims) if batching else dims
    if batching and shape[0] != -1:
        message = (
            f"model '{model}', tensor '{tensor.name}': for the model to support batching the shape should"
            " have at least 1 dimension and the first dimension must be -1; but shape expected by the model"
            f" is {shape_text(shape)}"
        )
        hint = "write `max_batch_size: 0`, or export the graph with an open first dimension"
        return ShapeProblem(message, hint)
    wrong = [own for own, graph_size in zip(shape, full, strict=False) if own != graph_size]
    certain = len(shape) != len(full) or any(own != -1 for own in wrong)
    if not certain and not (wrong and exact):
        return None
    hint = f"write `dims: [ {', '.join(map(str, shape[batching:]))} ]`" if certain else INFERENCE_HINT
    return ShapeProblem(_differs(model, tensor, full, batching=batching), hint, certain)


def _differs(model: str, tensor: OnnxTensor, full: tuple[int, ...], *, batching: bool) -> str:
    shape = tensor.shape or ()
    message = (
        f"model '{model}', tensor '{tensor.name}': the model expects {len(shape)} dimensions"
        f" (shape {shape_text(shape)}) but the model configuration specifies {len(full)} dimensions"
    )
    if not batching:
        return f"{message} (shape {shape_text(full)})"
    return (
        f"{message} (an initial batch dimension because max_batch_size > 0 followed by the explicit tensor"
        f" shape, making complete shape {shape_text(full)})"
    )


def _scalar(model: str, tensor: str, dims: tuple[int, ...]) -> ShapeProblem | None:
    if all(dim == 1 for dim in dims):
        return None
    message = (
        f"unable to load model '{model}', scalar tensor '{tensor}', should only provide 1 in the model"
        " configuration when the model doesn't support batching."
        f" Model configuration provided: {shape_text(dims)}."
    )
    return ShapeProblem(message, "write `dims: [ 1 ]`")
