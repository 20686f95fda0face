"""How a build can end other than well: one table of exit codes, what each means, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One way for a build to fail.

    Attributes:
        exit_code: Of the script.
        name: A few words, as failure.json has it.
        remedy: What to do, as whole sentences.
    """

    exit_code: int
    name: str
    remedy: str


NO_GPU = Problem(
    10,
    "no GPU",
    "Build on a machine with an NVIDIA GPU, in a container that is given it (`docker run --gpus all`).",
)
WRONG_GPU = Problem(
    11, "wrong GPU", "An engine runs on the GPU that built it: build on the instance family of the endpoint."
)
OLD_DRIVER = Problem(
    12, "driver too old", "Take an image with an older CUDA, or build on a host with a newer NVIDIA driver."
)
UNFIT_IMAGE = Problem(
    13,
    "unfit image",
    "Take the GPU image of Triton, 23.06 or newer, that serves the model: it has trtexec and Python 3.10.",
)
DIGEST_MISMATCH = Problem(
    14,
    "digest mismatch",
    "The bucket has another ONNX model than the lock: run `fleet lock`, then publish again.",
)
UNSUPPORTED_OPERATOR = Problem(
    15,
    "unsupported operator",
    "Export the ONNX model without it, or take a Triton release whose TensorRT has it; "
    "https://github.com/onnx/onnx-tensorrt/blob/main/docs/operators.md lists them.",
)
OUT_OF_MEMORY = Problem(
    16,
    "out of memory",
    "Make the largest shapes or the workspace smaller, or take an instance whose GPU has more memory.",
)
TIME_OUT = Problem(
    17, "time-out", "Raise `engine_builds.timeout` of the environment, or make the profile smaller."
)
FAILED = Problem(18, "failed otherwise", "The end of the log tells more; trtexec marks its errors with [E].")
NOT_LOADABLE = Problem(
    19, "the plan does not load back", "The end of the log tells more; trtexec marks its errors with [E]."
)
REFUSED = Problem(
    20, "refused by AWS", "See that the role of the build may do it, and that what it names is there."
)
CANCELLED = Problem(21, "cancelled", "Start the build again; what it left behind is taken up.")

ALL: Sequence[Problem] = (
    NO_GPU,
    WRONG_GPU,
    OLD_DRIVER,
    UNFIT_IMAGE,
    DIGEST_MISMATCH,
    UNSUPPORTED_OPERATOR,
    OUT_OF_MEMORY,
    TIME_OUT,
    FAILED,
    NOT_LOADABLE,
    REFUSED,
    CANCELLED,
)
BY_EXIT_CODE = {problem.exit_code: problem for problem in ALL}
BY_NAME = {problem.name: problem for problem in ALL}


class BuildError(Exception):
    """A build that ends without an engine.

    Attributes:
        problem: Of which kind it is.
        message: What happened to what, as whole sentences.
        remedy: The problem's, if this one has no better.
        log: The last lines of what failed.
    """

    def __init__(self, problem: Problem, message: str, *, remedy: str = "", log: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.problem, self.message, self.log = problem, message, tuple(log)
        self.remedy = remedy or problem.remedy


class Cancelled(BaseException):  # like KeyboardInterrupt, so that no library catches it
    """Somebody stopped the build."""
