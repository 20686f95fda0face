"""Aligns a variant's scaling with its endpoint, in an update as in a rollback of the stack."""

from __future__ import annotations

from typing import Any

from .backup_store import BackupStore
from .errors import GuardError, PendingError
from .registration import (
    activity_in_progress,
    delete_policy,
    deregister,
    read_scaling,
    register,
    resource_id,
    suspend,
)
from .request import Request
from .restore import restore
from .scaling import SUSPENSION_STATE, Scaling
from .variant import UNKNOWN, Endpoint, instance_type, instance_types


class Guard:
    """The scaling of the variant of one request.

    Args:
        request: The request of CloudFormation.
        sagemaker: A client.
        autoscaling: A client of Application Auto Scaling.
        store: The store of the backup while the scaling is suspended.
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
        store: BackupStore,
        *,
        rolls_back: bool,
        is_replaced: bool,
        is_last: bool,
        minutes: int,
    ) -> None:
        self._request, self._variant = request, request.variant
        self._sagemaker, self._autoscaling, self._store = sagemaker, autoscaling, store
        self._rolls_back, self._is_replaced = rolls_back, is_replaced
        self._is_last, self._minutes = is_last, minutes

    def align(self) -> str:
        """Suspend the scaling if an update of the endpoint is to come, else restore it.

        Returns:
            A summary of the work, as a sentence.

        Raises:
            PendingError: the endpoint or its scaling is under way, or AWS refused something for the moment.
            GuardError: that has not ended in time, the endpoint did not keep its new configuration, or not
                everything could be restored.
            ClientError: AWS refused a call.
        """
        endpoint = Endpoint.read(self._sagemaker, self._variant.endpoint)
        if endpoint is None:
            return self._forget_endpoint()
        types = instance_types(self._sagemaker, endpoint, self._variant.name)
        current = read_scaling(self._autoscaling, self._variant)
        if self._is_on_target(endpoint, types) and not self._waits_for_rollback:
            backup = self._store.load()
            is_deregistered = backup is not None and backup.needs_restore and current is None
            if is_deregistered and endpoint.is_in_transition and not self._is_last:
                raise PendingError(str(endpoint))
            return self._restore_scaling(backup, current)
        return self._suspend_scaling(endpoint, types, current)

    def finish(self) -> str:
        """Restore a scaling that is still suspended at the end of a rollback, whatever the endpoint runs.

        Only now has the endpoint come back if the first step was rolled back before it, and the second never
        ran.

        Raises:
            GuardError: not everything could be restored.
            ClientError: AWS refused a call.
        """
        if Endpoint.read(self._sagemaker, self._variant.endpoint) is None:
            return self._forget_endpoint()
        backup = self._store.load()
        if backup is None or not backup.needs_restore:
            self._store.delete()
            return f"Nothing to do: no scaling of {self._variant} is saved."
        current = self._resume_target(backup, read_scaling(self._autoscaling, self._variant))
        return self._restore(backup, current, exclusions=frozenset())

    @property
    def _waits_for_rollback(self) -> bool:
        """Whether CloudFormation's own rollback of the endpoint is to come, even if it is back already.

        The second step or the clean-up ends it; without a clean-up, no step before has succeeded.
        """
        is_first = self._request.step == "before"
        return self._rolls_back and is_first and self._is_replaced and self._request.moves_endpoint

    def _is_on_target(self, endpoint: Endpoint, types: set[str]) -> bool:
        """Whether the endpoint is as requested; stacks of earlier releases name an instance type alone."""
        request = self._request
        if request.config:
            return endpoint.runs(request.config)
        has_to_move = bool(request.former_config) and endpoint.runs(request.former_config)
        return types == {request.instance_type} and not has_to_move

    def _suspend_scaling(self, endpoint: Endpoint, types: set[str], current: Scaling | None) -> str:
        """Suspend the scaling, wait until nothing is under way, and deregister it for another type."""
        backup, next_type = self._store.load(), self._next_type()
        if current is not None:
            suspension = current.suspension(backup)
            if suspension != backup:
                self._store.save(suspension)
                backup = suspension
            if not current.is_suspended:
                suspend(self._autoscaling, self._variant, {**current.state, **SUSPENSION_STATE})
        self._require_idle(backup, current)
        runs = f"{self._variant} runs on {' and '.join(sorted(types))}, in configuration {endpoint.config}"
        if backup is None or not backup.needs_restore:
            return f"Nothing to do: {self._variant} has no scaling."
        if types == {next_type}:
            if current is not None and self._rolls_back:
                self._delete_obsolete_policies(backup, current)
            summary = f"{runs}: its scaling is suspended until its endpoint has changed."
        else:
            if current is not None:
                backup = current.merge(backup)
                # In a rollback the clean-up may restore it, which does not know the former policies.
                backup = self._exchange_policies(backup) if self._rolls_back else backup
                self._store.save(backup)
                deregister(self._autoscaling, self._variant)
            summary = (
                f"{runs}, not {next_type}: its scaling is deregistered, and saved in {self._store}: {backup}."
            )
        if self._request.step == "after" and not self._rolls_back:
            raise GuardError(
                f"{runs}, not on {next_type} in configuration {self._request.config}: SageMaker did not keep"
                " the update, or somebody changed the endpoint meanwhile.",
                f"See the output of `aws sagemaker describe-endpoint --region {self._region} --endpoint-name "
                f"{self._variant.endpoint}`, remove the cause, and deploy again. The rollback of this stack "
                "restores the scaling.",
            )
        return summary

    def _next_type(self) -> str:
        """The type in the configuration that is to come; that of the request where none is known."""
        config = self._request.config
        type_of_config = instance_type(self._sagemaker, config, self._variant.name) if config else UNKNOWN
        return self._request.instance_type if type_of_config == UNKNOWN else type_of_config

    def _require_idle(self, backup: Scaling | None, current: Scaling | None) -> None:
        """Wait until the endpoint can be changed, and nothing is about to scale it."""
        # Asked again, as scaling may have begun before it was suspended.
        endpoint = Endpoint.read(self._sagemaker, self._variant.endpoint)
        if endpoint is not None and endpoint.is_in_transition:
            activity = str(endpoint)
            remedy = in_service(self._sagemaker, endpoint.name)
        elif current is not None and (activity := activity_in_progress(self._autoscaling, self._variant)):
            activity = f"a scaling activity of {self._variant} is in progress: {activity}"
            remedy = (
                f"Wait until `aws application-autoscaling describe-scaling-activities --region {self._region}"
                f" --service-namespace sagemaker --resource-id {resource_id(self._variant)}` shows none in "
                "progress"
            )
        else:
            return
        if not self._is_last:
            raise PendingError(activity)
        if backup is not None and current is not None and not self._rolls_back:
            self._resume_target(backup, read_scaling(self._autoscaling, self._variant))
        raise GuardError(
            f"The update cannot begin: {activity}, for more than {self._minutes} minutes.",
            f"{remedy}, then deploy again.",
        )

    @property
    def _region(self) -> str:
        return str(self._sagemaker.meta.region_name)

    def _forget_endpoint(self) -> str:
        self._store.delete()
        return f"Endpoint {self._variant.endpoint} does not exist, so it has no scaling."

    def _restore_scaling(self, backup: Scaling | None, current: Scaling | None) -> str:
        """Restore a suspended scaling; the policies of the stack are those of the template that it moves to.

        CloudFormation makes a policy before it deletes the one that it replaces, and a metric may have one
        alone: so that one is deleted here, and CloudFormation finds nothing left to delete.
        """
        if backup is not None and backup.needs_restore:
            current = self._resume_target(backup, current)
        if current is None:
            return f"Nothing to do: {self._variant} has no scaling."
        backup = self._delete_obsolete_policies(backup, current)
        if backup is None:
            return f"Nothing to do: {self._variant} runs what it has to, and no scaling is saved."
        policies_to_create = frozenset() if self._rolls_back else self._request.new_policies
        return self._restore(self._exchange_policies(backup), current, exclusions=policies_to_create)

    def _delete_obsolete_policies(self, backup: Scaling | None, current: Scaling) -> Scaling | None:
        """Delete the obsolete policies; the backup to store, with these among its `rollback_policies`."""
        obsolete = self._request.obsolete_policies & current.policies.keys()
        if obsolete:
            backup = (backup or Scaling(target=current.target, needs_restore=False)).retire_policies(
                obsolete, current.policies
            )
        if backup is not None and backup.needs_restore and self._rolls_back:
            # The clean-up may restore it, which does not know the former policies.
            backup = self._exchange_policies(backup)
        if backup is not None and backup != self._store.load():
            self._store.save(backup)
        for name in sorted(obsolete):
            delete_policy(self._autoscaling, self._variant, name)
        return backup

    def _exchange_policies(self, backup: Scaling) -> Scaling:
        """The backup to store: obsolete policies are retired, and existing ones of the stack are revived.

        In a rollback these are all of the stack's.
        """
        names = self._request.policies - (frozenset() if self._rolls_back else self._request.new_policies)
        return backup.retire_policies(self._request.obsolete_policies, backup.policies).revive_policies(names)

    def _resume_target(self, backup: Scaling, current: Scaling | None) -> Scaling:
        """Register the target again, or end its suspension; changes that somebody has made since stay."""
        if current is None:
            register(self._autoscaling, self._variant, backup.target)
            return Scaling(target=backup.target)
        if current.is_suspended and current.state != backup.state:
            suspend(self._autoscaling, self._variant, backup.state)
        return current

    def _restore(self, backup: Scaling, current: Scaling, *, exclusions: frozenset[str]) -> str:
        problems = restore(self._autoscaling, backup, current, exclusions=exclusions)
        if problems.refusals or problems.delays:
            problem = " ".join(
                [
                    f"The scaling of {self._variant} could not be fully restored.",
                    *problems.refusals,
                    *problems.delays,
                    *problems.expiries,
                ]
            )
            if not self._is_last and (self._rolls_back or not problems.refusals):
                raise PendingError(problem)
            raise GuardError(problem, f"It stays saved in {self._store}: remove the cause, and deploy again.")
        if backup.rollback_policies and not self._rolls_back:
            self._store.save(
                Scaling(target=backup.target, rollback_policies=backup.rollback_policies, needs_restore=False)
            )
        else:
            self._store.delete()
        return " ".join([f"The scaling of {self._variant} is as it was: {backup}.", *problems.expiries])


def in_service(sagemaker: Any, endpoint: str) -> str:
    """The remedy for an endpoint under way, up to "then"."""
    return (
        f"Wait until `aws sagemaker wait endpoint-in-service --region {sagemaker.meta.region_name}"
        f" --endpoint-name {endpoint}` ends"
    )


def discard_backup(store: BackupStore) -> str:
    """Delete the backup of policies that an update has replaced, as no rollback can follow."""
    backup = store.load()
    if backup is not None and not backup.needs_restore:
        store.delete()
    return "Nothing to do: the update is over."
