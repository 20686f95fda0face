"""app.py of a fleet, run as the CDK CLI does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.fleet_folder import ROOT


def synth(
    folder: Path,
    environment: str,
    *context: str,
    validates: bool = True,
    python: Path = Path(sys.executable),
    root: Path = ROOT,
) -> subprocess.CompletedProcess[str]:
    """Run a fleet's app.py, with nothing of the user's own environment but PATH and HOME.

    Without `validates` it leaves out the CDK's own rules, two thirds of its time: for what has met them already.
    """
    settings = dict(pair.split("=", 1) for pair in (f"env={environment}", *context))
    shipped_context = json.loads((root / "cdk.json").read_text())["context"]
    variables = {
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "CDK_OUTDIR": str(folder),
        "CDK_CONTEXT_JSON": json.dumps({**shipped_context, **settings}),
        "HOME": os.environ["HOME"],
        "NODE_COMPILE_CACHE": str(compile_cache(folder)),
        **({} if validates else {"CDK_VALIDATION": "false"}),
    }
    command = [str(python), str(root / "app.py")]
    return subprocess.run(command, env=variables, cwd="/", capture_output=True, text=True, check=False)


def compile_cache(folder: Path) -> Path:
    """Where Node.js would keep the code that it compiles for the assembly in `folder`, as `make` sets it."""
    return folder.with_name(f"{folder.name}.compiled")
