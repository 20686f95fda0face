"""The CDK app of this folder: the CDK CLI runs it, as cdk.json says."""

import sys
from pathlib import Path

try:
    from fleet_stacks.app import run
except ModuleNotFoundError as error:
    remedy = (
        "run `make setup`, then `source .venv/bin/activate`; without a Makefile: install triton-fleet[deploy]"
    )
    print(f"cannot run: {error}\n  remedy: {remedy}", file=sys.stderr)
    sys.exit(2)

if __name__ == "__main__":
    run(Path(__file__).resolve().parent)
