"""The problems that end a build: one table of exit codes, their meaning and their remedies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar


@dataclass(frozen=True)
class Problem:
    """One way for a build to fail.

    Attributes:
        exit_code: The exit code of the script.
        name: A few words, as failure.json has it.
        remedy: What to do: a clause without a full stop, as in a hint.
    """

    exit_code: int
    name: str
    remedy: str


NO_GPU = Problem(
    10,
    "no GPU",
    "build on a machine with an NVIDIA GPU, in a container that is given it (`docker run --gpus all`)",
)
WRONG_GPU = Problem(
    11, "wrong GPU", "build on the instance family of the endpoint: an engine runs on the GPU that built it"
)
OLD_DRIVER = Problem(
    12, "driver too old", "use an image with an older CUDA, or build on a host with a newer NVIDIA driver"
)
UNFIT_IMAGE = Problem(
    13,
    "unfit image",
    "use the GPU image of Triton, 23.06 or newer, that serves the model: it has trtexec and Python 3.10",
)
DIGEST_MISMATCH = Problem(
    14,
    "digest mismatch",
    "run `fleet lock`, then publish again: the bucket has another ONNX model than the lock",
)
UNSUPPORTED_OPERATOR = Problem(
    15,
    "unsupported operator",
    "export the ONNX model without it, or use a Triton release whose TensorRT has it "
    "(https://github.com/onnx/onnx-tensorrt/blob/main/docs/operators.md)",
)
OUT_OF_MEMORY = Problem(
    16,
    "out of memory",
    "make the largest shapes or the workspace smaller, or use an instance whose GPU has more memory",
)
TIME_OUT = Problem(
    17,
    "time-out",
    "raise `engine_builds.timeout` of the environment; smaller shapes of an engine take less time",
)
OTHER_FAILURE = Problem(
    18, "failed otherwise", "see the end of the log, where trtexec marks its errors with [E]"
)
NOT_LOADABLE = Problem(
    19, "the plan does not load back", "see the end of the log, where trtexec marks its errors with [E]"
)
REFUSAL = Problem(
    20, "refused by AWS", "check that the role of the build allows it, and that what it names exists"
)
CANCELLATION = Problem(21, "cancelled", "publish again: the next build continues with what this one left")

IMAGE_BUILD_FAILURE = Problem(
    22, "the image does not build", "see the end of the log, where Docker names the instruction that failed"
)

PROBLEMS: Sequence[Problem] = (
    NO_GPU,
    WRONG_GPU,
    OLD_DRIVER,
    UNFIT_IMAGE,
    DIGEST_MISMATCH,
    UNSUPPORTED_OPERATOR,
    OUT_OF_MEMORY,
    TIME_OUT,
    OTHER_FAILURE,
    NOT_LOADABLE,
    REFUSAL,
    CANCELLATION,
    IMAGE_BUILD_FAILURE,
)
BY_EXIT_CODE = {problem.exit_code: problem for problem in PROBLEMS}
BY_NAME = {problem.name: problem for problem in PROBLEMS}


class BuildError(Exception):
    """A build that ends without a result.

    Attributes:
        problem: The kind of failure.
        message: The failure as clauses, as a finding has them.
        remedy: The problem's, if this one has no better.
        log: The last lines of what failed.
    """

    def __init__(self, problem: Problem, message: str, *, remedy: str = "", log: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.problem, self.message, self.log = problem, message, tuple(log)
        self.remedy = remedy or problem.remedy


class Cancellation(BaseException):  # like KeyboardInterrupt, so that no library catches it
    """Somebody stopped the build."""


R = TypeVar("R")


def read_request(read: Callable[[bytes], R], document: bytes, remedy: str = "publish again") -> R:
    """The request of a document, as `read` returns it.

    Raises:
        BuildError: it is not a request, or of another version of this script.
    """
    try:
        return read(document)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        message = f"the script cannot read this request: {error}"
        raise BuildError(REFUSAL, message, remedy=remedy) from error
