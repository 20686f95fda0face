"""The directory in which Triton looks for backends: the wheel's own, and ours for ONNX."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

STAND_INS = Path(__file__).parent / "backends"


def assemble(cache: Path, wheel_backends: Path, stub: Path) -> Path:
    """A directory of copies below `cache`, named by their content; made in one step, reused when it exists.

    Args:
        cache: Where to keep it; made when missing.
        wheel_backends: The backends of the wheel, one directory each.
        stub: The program that runs Python models, for the running Python's version.
    """
    # Copies, not links: Triton refuses a backend whose real path is outside of this directory.
    sources = {Path("python") / stub.name: stub}
    for backends in (wheel_backends, STAND_INS):
        sources |= {file.relative_to(backends): file for file in backends.glob("*/*") if file.is_file()}

    digest = hashlib.sha256()
    for name, source in sorted(sources.items()):
        digest.update(f"{name} {hashlib.sha256(source.read_bytes()).hexdigest()}\n".encode())
    directory = cache.absolute() / f"backends-{digest.hexdigest()[:16]}"
    if directory.is_dir():
        return directory
    cache.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix="backends-draft-", dir=cache))
    for name, source in sources.items():
        (draft / name).parent.mkdir(exist_ok=True)
        shutil.copy2(source, draft / name)
    try:
        draft.rename(directory)
    except OSError:  # another process was faster; its copies are the same
        shutil.rmtree(draft)
    return directory
