"""The real CDK CLI on apps of the tests, deploying to an embedded AWS."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.embedded_keys import VARIABLES
from tests.support.fleet_folder import ROOT

_CLI = ROOT / "node_modules" / ".bin" / "cdk"
_PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def synthesise(app: str, folder: Path) -> None:
    """Write a cloud assembly for each variant of an app of this package.

    Not in the CLI's home: jsii unpacks the CDK library once for each.
    """
    file = Path(__file__).with_name(app)
    subprocess.run([sys.executable, file, folder], check=True, env=os.environ | {"PATH": _PATH})


@dataclass(frozen=True)
class CdkCli:
    """The CLI in a home of its own, which holds the cloud assemblies; a call may take so many seconds."""

    url: str
    folder: Path
    seconds: float

    def __call__(self, *arguments: str, variant: str = "first", fails: bool = False) -> str:
        """Run the CLI on a variant of an app; what it prints on both streams."""
        options = ["--no-notices", "--require-approval", "never", "--progress", "events"]
        process = subprocess.run(
            [_CLI, "--app", str(self.folder / variant), *options, *arguments],
            cwd=self.folder,
            env={
                "PATH": _PATH,
                "HOME": str(self.folder),
                "AWS_ENDPOINT_URL": self.url,
                **VARIABLES,
                "AWS_REGION": "us-east-1",
                "CDK_DISABLE_CLI_TELEMETRY": "1",
                "NO_COLOR": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=self.seconds,
        )
        assert process.returncode == (1 if fails else 0), process.stdout
        return process.stdout
