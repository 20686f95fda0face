"""`fleet deploy` of small endpoints to the embedded AWS: its processor time, and what waits for what.

`make bench NAME=deploy`; it takes a quarter of an hour. Foundation and all archives are in the account before
anything is measured.

- The processor time of an endpoint, beside that of `cdk deploy --all --concurrency 4`, which makes the same
  stacks with the same app: what 12 endpoints take more than 4, for each of the 8, all processes of Python and
  Node.js together. The embedded AWS is a process of its own and is not in it.
- The time by the wall of 12 endpoints that take 30 s to start, side by side and one by one.
- A deploy of all 12 of which one has changed, beside `fleet deploy NAME` of that one: both clocks.

Exits with 1 where an endpoint costs more than 1.2 times that of cdk, where side by side is less than 3 times
as fast as one by one, or where the deploy of all costs more than 1.5 times that of the one, by either clock.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict

from deploy_account import Account, Cost, prepared_account
from short import is_short

FEW, MANY, ROUNDS = (1, 2, 1) if is_short() else (4, 12, 3)
SECONDS_TO_START = 1 if is_short() else 30
CONCURRENCY = 4
"""The default of `fleet deploy`."""
TIMES_CDK, TIMES_ONE_BY_ONE, TIMES_ONE = 1.2, 3.0, 1.5
FLEET, CDK = "fleet deploy", "cdk deploy --all"


def main() -> int:
    """Measure, print, and compare with the bars."""
    with prepared_account(MANY) as account:
        times_cdk = _processor_times(account)
        times_one_by_one = _start_times(account)
        ratios = {"processor_times_cdk": times_cdk, "one_by_one_times_side_by_side": times_one_by_one}
        ratios |= _change_times(account)
    print(json.dumps({name: round(ratio, 2) for name, ratio in ratios.items()}))
    too_slow = times_cdk > TIMES_CDK or times_one_by_one < TIMES_ONE_BY_ONE
    too_slow |= any(ratios[f"all_times_one_{clock}"] > TIMES_ONE for clock in ("wall", "processor"))
    return int(too_slow and not is_short())


def _processor_times(account: Account) -> float:
    """How many times cdk's processor time an endpoint takes."""
    costs = defaultdict[tuple[str, int], list[Cost]](list)
    for turn in range(ROUNDS):
        for count in (FEW, MANY):
            names = account.names[:count]
            for way in (FLEET, CDK) if turn % 2 else (CDK, FLEET):
                if way == FLEET:
                    cost = account.fleet_deploy("--env", "dev", *names)
                else:
                    cost = account.cdk_deploy(names, CONCURRENCY)
                costs[way, count].append(cost)
                account.delete_endpoints(count)
    print(f"created with --concurrency {CONCURRENCY}: seconds, medians of {ROUNDS}")
    slopes = {}
    for way in (FLEET, CDK):
        processor = {count: _median(costs[way, count], "processor") for count in (FEW, MANY)}
        slopes[way] = (processor[MANY] - processor[FEW]) / (MANY - FEW)
        for count in (FEW, MANY):
            wall = _median(costs[way, count], "wall")
            _row(f"{way}, {count} endpoints", {"wall": wall, "processor": processor[count]})
        _row(f"{way}, an endpoint", {"processor": slopes[way]})
    return slopes[FLEET] / slopes[CDK]


def _start_times(account: Account) -> float:
    """How many times as long endpoints take one by one as side by side."""
    account.set_start(SECONDS_TO_START)
    print(f"\n{MANY} endpoints that take {SECONDS_TO_START} s to start: seconds")
    walls = []
    for concurrency in (1, CONCURRENCY):
        cost = account.fleet_deploy("--env", "dev", "--concurrency", str(concurrency))
        _row(f"--concurrency {concurrency}", {"wall": cost.wall, "processor": cost.processor})
        walls.append(cost.wall)
        if concurrency == 1:
            account.delete_endpoints(MANY)
    account.set_start(0)
    alone, together = walls
    return alone / together


def _change_times(account: Account) -> dict[str, float]:
    """How many times as much a deploy of all costs as that of the one that has changed, by clock."""
    costs = defaultdict[bool, list[Cost]](list)
    for turn in range(ROUNDS):
        for number, by_name in enumerate((False, True) if turn % 2 else (True, False)):
            name = account.names[number]
            account.change(name, f"alarms: {{errors: {turn + 1}%}}\n")
            costs[by_name].append(account.fleet_deploy("--env", "dev", *([name] if by_name else [])))
    print(f"\none of {MANY} has changed: seconds, medians of {ROUNDS}")
    clocks = ("wall", "processor")
    medians = {by_name: {clock: _median(costs[by_name], clock) for clock in clocks} for by_name in costs}
    _row(FLEET, medians[False])
    _row(f"{FLEET} NAME", medians[True])
    return {f"all_times_one_{clock}": medians[False][clock] / medians[True][clock] for clock in clocks}


def _median(costs: list[Cost], clock: str) -> float:
    return statistics.median(each.wall if clock == "wall" else each.processor for each in costs)


def _row(title: str, seconds: dict[str, float]) -> None:
    print(f"{title:<36}" + "".join(f"{clock:>12}{each:>8.2f}" for clock, each in seconds.items()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
