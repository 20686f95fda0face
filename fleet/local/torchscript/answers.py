"""What a TorchScript model may answer.

Source: triton-inference-server/pytorch_backend, src/pt/model_instance_state.cc, Execute.
"""

from __future__ import annotations

from typing import Any


def answers(answer: Any, tensor: type) -> tuple[Any, ...]:
    """The outputs by their places: tensors, and lists of texts.

    Args:
        answer: What `forward` gave.
        tensor: The class of tensors.

    Raises:
        ValueError: it is neither, or a tuple that holds anything else, whether the configuration asks for it
            or not; in the backend's words as far as it has any.
    """
    if isinstance(answer, tuple):
        for index, each in enumerate(answer):
            if not _is_output(each, tensor, f"output at index {index}"):
                said = f"output at index {index}: Expected Tensor but got {type(each).__name__}"
                raise ValueError(said)
        return answer
    if not _is_output(answer, tensor, "output"):
        raise ValueError(
            "output must be of type Tensor, List[str] or Tuple containing one of these two types. It should"
            " not be a List / Dictionary of Tensors or a Scalar"
        )
    return (answer,)


def _is_output(answer: Any, tensor: type, what: str) -> bool:
    if not isinstance(answer, list):
        return isinstance(answer, tensor)
    others = [type(each).__name__ for each in answer if not isinstance(each, str)]
    if others:
        raise ValueError(f"{what} must be of type Tensor or List[str], received List[{others[0]}]")
    return True
