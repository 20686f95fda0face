"""Configurations that a stand-in does not complete; as stand_in_instance for Triton's Python stub alone."""

from __future__ import annotations

from typing import Any

import triton_python_backend_utils as pb_utils


def with_tensors(config: Any, left_to: str) -> Any:
    """The ModelConfig as it is.

    Args:
        config: As Triton gives it to `auto_complete_config`.
        left_to: Where inputs and outputs would be read from, and why that is impossible here.

    Raises:
        TritonModelException: inputs or outputs are left out.
    """
    given = config.as_dict()
    if given["input"] and given["output"]:
        return config
    raise pb_utils.TritonModelException(
        f"model '{given['name']}' leaves inputs or outputs to {left_to}: write `input`, `output` and"
        " `max_batch_size` into config.pbtxt"
    )
