"""Bringing a variant's scaling in line with its endpoint, in whatever direction the stack goes."""

from __future__ import annotations

from typing import Any

from .errors import GuardError, NotYet
from .registered import (
    activity_in_progress,
    delete_policy,
    deregister,
    register,
    registered,
    resource_id,
    suspend,
)
from .request import Request
from .restore import restore
from .saved import Saved
from .scaling import SUSPENDED, Scaling
from .variant import UNKNOWN, Endpoint, instance_type, instance_types


class Guard:
    """The scaling of the variant of one request.

    Args:
        request: What CloudFormation asks.
        sagemaker: A client.
        autoscaling: A client of Application Auto Scaling.
        saved: Where the scaling is kept while it is aside.
        rolls_back: Whether the stack goes back to what it was.
        is_replaced: Whether the request's resource gets another physical id, so that a clean-up comes.
        is_last: Whether the time for waiting is over.
        minutes: How long that time is.
    """

    def __init__(
        self,
        request: Request,
        sagemaker: Any,
        autoscaling: Any,
        saved: Saved,
        *,
        rolls_back: bool,
        is_replaced: bool,
        is_last: bool,
        minutes: int,
    ) -> None:
        self._request, self._variant = request, request.variant
        self._sagemaker, self._autoscaling, self._saved = sagemaker, autoscaling, saved
        self._rolls_back, self._is_replaced = rolls_back, is_replaced
        self._is_last, self._minutes = is_last, minutes

    def align(self) -> str:
        """Put the scaling aside where an update of the endpoint is to come, and bring it back where none is.

        Returns:
            What was done, as a sentence.

        Raises:
            NotYet: the endpoint or its scaling is under way, or AWS refused something for the moment.
            GuardError: that has not ended in time, the endpoint did not keep its new configuration, or not
                everything could be brought back.
            ClientError: AWS refused a call.
        """
        endpoint = Endpoint.read(self._sagemaker, self._variant.endpoint)
        if endpoint is None:
            return self._without_endpoint()
        types = instance_types(self._sagemaker, endpoint, self._variant.name)
        now = registered(self._autoscaling, self._variant)
        if self._is_run_by(endpoint, types) and not self._stays_aside:
            kept = self._saved.load()
            is_deregistered = kept is not None and kept.is_aside and now is None
            if is_deregistered and endpoint.is_under_way and not self._is_last:
                raise NotYet(str(endpoint))
            return self._bring_back(kept, now)
        return self._put_aside(endpoint, types, now)

    def finish(self) -> str:
        """Bring back what is still aside when a rollback is over, whatever the endpoint runs then.

        Only now has the endpoint come back if the first step was rolled back before it, and the second never
        ran.

        Raises:
            GuardError: not everything could be brought back.
            ClientError: AWS refused a call.
        """
        if Endpoint.read(self._sagemaker, self._variant.endpoint) is None:
            return self._without_endpoint()
        kept = self._saved.load()
        if kept is None or not kept.is_aside:
            self._saved.forget()
            return f"Nothing to do: no scaling of {self._variant} is saved."
        now = self._back_on_target(kept, registered(self._autoscaling, self._variant))
        return self._restore(kept, now, skipped=frozenset())

    @property
    def _stays_aside(self) -> bool:
        """Whether CloudFormation's own rollback of the endpoint is to come, even if it is back already.

        The second step or the clean-up ends it; without a clean-up, no step before has succeeded.
        """
        is_first = self._request.step == "before"
        return self._rolls_back and is_first and self._is_replaced and self._request.moves_endpoint

    def _is_run_by(self, endpoint: Endpoint, types: set[str]) -> bool:
        """Whether the endpoint runs what is wanted; stacks of earlier releases name a type alone."""
        request = self._request
        if request.config:
            return endpoint.runs(request.config)
        has_to_move = bool(request.former_config) and endpoint.runs(request.former_config)
        return types == {request.instance_type} and not has_to_move

    def _put_aside(self, endpoint: Endpoint, types: set[str], now: Scaling | None) -> str:
        """Suspend the scaling, wait until nothing is under way, and deregister it for another type."""
        kept, next_type = self._saved.load(), self._next_type()
        if now is not None:
            suspension = now.suspension(kept)
            if suspension != kept:
                self._saved.save(suspension)
                kept = suspension
            if not now.is_suspended:
                suspend(self._autoscaling, self._variant, {**now.state, **SUSPENDED})
        self._wait_until_quiet(kept, now)
        runs = f"{self._variant} runs on {' and '.join(sorted(types))}, in configuration {endpoint.config}"
        if kept is None or not kept.is_aside:
            return f"Nothing to do: {self._variant} has no scaling."
        if types == {next_type}:
            if now is not None and self._rolls_back:
                self._make_room(kept, now)
            did = f"{runs}: its scaling is suspended until its endpoint has changed."
        else:
            if now is not None:
                kept = now.completed_by(kept)
                # On the way back the clean-up may be what brings it back, which does not know what it was.
                kept = self._exchange_policies(kept) if self._rolls_back else kept
                self._saved.save(kept)
                deregister(self._autoscaling, self._variant)
            did = f"{runs}, not {next_type}: its scaling is deregistered, and saved in {self._saved}: {kept}."
        if self._request.step == "after" and not self._rolls_back:
            raise GuardError(
                f"{runs}, not on {next_type} in configuration {self._request.config}: SageMaker did not keep"
                " the update, or somebody changed the endpoint meanwhile.",
                f"See the output of `aws sagemaker describe-endpoint --region {self._region} --endpoint-name "
                f"{self._variant.endpoint}`, remove the cause, and deploy again. The rollback of this stack "
                "brings the scaling back.",
            )
        return did

    def _next_type(self) -> str:
        """The type in the configuration that is to come; that of the request where none is known."""
        config = self._request.config
        type_of_config = instance_type(self._sagemaker, config, self._variant.name) if config else UNKNOWN
        return self._request.instance_type if type_of_config == UNKNOWN else type_of_config

    def _wait_until_quiet(self, kept: Scaling | None, now: Scaling | None) -> None:
        """Wait until the endpoint can be changed, and nothing is about to scale it."""
        # Asked again, as scaling may have begun before it was suspended.
        endpoint = Endpoint.read(self._sagemaker, self._variant.endpoint)
        if endpoint is not None and endpoint.is_under_way:
            under_way = str(endpoint)
            remedy = in_service(self._sagemaker, endpoint.name)
        elif now is not None and (activity := activity_in_progress(self._autoscaling, self._variant)):
            under_way = f"a scaling activity of {self._variant} is in progress: {activity}"
            remedy = (
                f"Wait until `aws application-autoscaling describe-scaling-activities --region {self._region}"
                f" --service-namespace sagemaker --resource-id {resource_id(self._variant)}` shows none in "
                "progress"
            )
        else:
            return
        if not self._is_last:
            raise NotYet(under_way)
        if kept is not None and now is not None and not self._rolls_back:
            self._back_on_target(kept, registered(self._autoscaling, self._variant))
        raise GuardError(
            f"The update cannot begin: {under_way}, for more than {self._minutes} minutes.",
            f"{remedy}, then deploy again.",
        )

    @property
    def _region(self) -> str:
        return str(self._sagemaker.meta.region_name)

    def _without_endpoint(self) -> str:
        self._saved.forget()
        return f"Endpoint {self._variant.endpoint} does not exist, so it has no scaling."

    def _bring_back(self, kept: Scaling | None, now: Scaling | None) -> str:
        """Bring back what is aside; the policies of the stack are those of the template that it goes to.

        CloudFormation makes a policy before it deletes the one that it replaces, and a metric may have one
        alone: so that one is deleted here, and CloudFormation finds nothing left to delete.
        """
        if kept is not None and kept.is_aside:
            now = self._back_on_target(kept, now)
        if now is None:
            return f"Nothing to do: {self._variant} has no scaling."
        kept = self._make_room(kept, now)
        if kept is None:
            return f"Nothing to do: {self._variant} runs what it has to, and no scaling is saved."
        policies_to_create = frozenset() if self._rolls_back else self._request.new_policies
        return self._restore(self._exchange_policies(kept), now, skipped=policies_to_create)

    def _make_room(self, kept: Scaling | None, now: Scaling) -> Scaling | None:
        """Delete the obsolete policies; the scaling to keep, with these among the replaced ones."""
        obsolete = self._request.obsolete_policies & now.policies.keys()
        if obsolete:
            kept = (kept or Scaling(target=now.target, is_aside=False)).with_replaced(obsolete, now.policies)
        if kept is not None and kept.is_aside and self._rolls_back:
            # The clean-up may be what brings it back, which does not know what it was.
            kept = self._exchange_policies(kept)
        if kept is not None and kept != self._saved.load():
            self._saved.save(kept)
        for name in sorted(obsolete):
            delete_policy(self._autoscaling, self._variant, name)
        return kept

    def _exchange_policies(self, kept: Scaling) -> Scaling:
        """The scaling to keep, where policies change places: obsolete ones are replaced, and some come back.

        Those come back that CloudFormation takes for existing: in a rollback all of the stack's.
        """
        existing = self._request.policies - (frozenset() if self._rolls_back else self._request.new_policies)
        return kept.with_replaced(self._request.obsolete_policies, kept.policies).with_restored(existing)

    def _back_on_target(self, kept: Scaling, now: Scaling | None) -> Scaling:
        """Register the target again, or end its suspension; what somebody has done since stays as it is."""
        if now is None:
            register(self._autoscaling, self._variant, kept.target)
            return Scaling(target=kept.target)
        if now.is_suspended and now.state != kept.state:
            suspend(self._autoscaling, self._variant, kept.state)
        return now

    def _restore(self, kept: Scaling, now: Scaling, *, skipped: frozenset[str]) -> str:
        missing = restore(self._autoscaling, kept, now, skipped=skipped)
        if missing.failed or missing.passing:
            what = " ".join(
                [
                    f"The scaling of {self._variant} could not be fully restored.",
                    *missing.failed,
                    *missing.passing,
                    *missing.over,
                ]
            )
            if not self._is_last and (self._rolls_back or not missing.failed):
                raise NotYet(what)
            raise GuardError(what, f"It stays saved in {self._saved}: remove the cause, and deploy again.")
        if kept.replaced and not self._rolls_back:
            self._saved.save(Scaling(target=kept.target, replaced=kept.replaced, is_aside=False))
        else:
            self._saved.forget()
        return " ".join([f"The scaling of {self._variant} is as it was: {kept}.", *missing.over])


def in_service(sagemaker: Any, endpoint: str) -> str:
    """The remedy for an endpoint under way, up to "then"."""
    return (
        f"Wait until `aws sagemaker wait endpoint-in-service --region {sagemaker.meta.region_name}"
        f" --endpoint-name {endpoint}` ends"
    )


def tidy(saved: Saved) -> str:
    """Forget policies that an update has replaced, as the stack goes back no more."""
    kept = saved.load()
    if kept is not None and not kept.is_aside:
        saved.forget()
    return "Nothing to do: the update is over."
