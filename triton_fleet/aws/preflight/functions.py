"""Whether the account may run as many functions at once as a deploy of several stacks starts."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.aws.preflight.check_result import CheckResult
from triton_fleet.aws.preflight.quotas import request_more
from triton_fleet.aws.preflight.subject import Subject
from triton_fleet.context.capacity import DEFAULT_CONCURRENCY

EXECUTIONS_PER_STACK = 4
"""Two custom resources of a stack at a time; the CDK's function waits for ours in each.

An estimate: no public source states how many CloudFormation starts at once (docs/unverified.md).
"""
QUOTA = ("lambda", "L-B99A9384")
"""Concurrent executions. Source: repost.aws, knowledge-center/lambda-concurrency-limit-increase."""


def functions(subject: Subject) -> Iterator[CheckResult]:
    """The concurrent executions that are left to functions without reserved ones, where stacks run at once.

    AWS gives new accounts as few as 10. What CloudFormation does when Lambda throttles is not known, so too
    few are a warning.
    """
    stacks = min(len(subject.endpoints), DEFAULT_CONCURRENCY)
    if stacks < 2:
        return
    limits = subject.access.client("lambda").get_account_settings()["AccountLimit"]
    free, needed = limits["UnreservedConcurrentExecutions"], stacks * EXECUTIONS_PER_STACK
    text = f"{free} concurrent executions of Lambda; {stacks} stacks at once need about {needed}"
    if free >= needed:
        yield CheckResult(what="functions", text=text)
        return
    concurrency = max(1, free // EXECUTIONS_PER_STACK)
    more = request_more(subject.deployment.region, *QUOTA, 1000)
    hint = f"`fleet deploy --env {subject.deployment.environment} --concurrency {concurrency}`; or {more}"
    finding = subject.of_environment("FL638", text, hint, warns=True)
    yield CheckResult(what="functions", text=text, findings=(finding,))
