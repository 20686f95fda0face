"""Several loads at one time, or one alone."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from triton_fleet.local.containers import LackOfMemory, ModelRefusal, Record, Refusal
from triton_fleet.local.multi_model.models import Model, Models, ModelState


class Gate:
    """Lets a thread that must be alone wait for those inside, and all others wait outside meanwhile."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._inside = 0
        self._alone = False

    @contextmanager
    def share(self) -> Iterator[None]:
        """Be inside with others."""
        with self._condition:
            self._condition.wait_for(lambda: not self._alone)
            self._inside += 1
        try:
            yield
        finally:
            with self._condition:
                self._inside -= 1
                self._condition.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be inside alone."""
        with self._condition:
            self._condition.wait_for(lambda: not self._alone)
            self._alone = True
            self._condition.wait_for(lambda: self._inside == 0)
        try:
            yield
        finally:
            with self._condition:
                self._alone = False
                self._condition.notify_all()


log = logging.getLogger("triton_fleet.local")

_MAX_FAILURES = 100
_LOADS = 8


class Residency:
    """The loaded models of one endpoint.

    Several targets may be fetched and loaded at one time; evictions are made one after the other. A model
    that is to be evicted lets its users finish while new ones wait; a model that has just been loaded serves
    all who have waited for it before it can be evicted, so a small memory slows calls down and starves none.
    """

    def __init__(self, models: Models, record: Record) -> None:
        self._operations, self._record = models, record
        self._models: dict[str, Model] = {}
        self._condition = threading.Condition()
        self._loads = Gate()
        self._evictions = threading.Lock()
        self.eviction_count = 0
        """How many targets have had to leave until now."""
        self._workers = ThreadPoolExecutor(_LOADS, thread_name_prefix="models")
        self._uses = count()
        self._is_closed = False
        self.evictions: deque[str] = deque(maxlen=_MAX_FAILURES)
        """The targets that had to leave, the latest last."""

    @contextmanager
    def use(self, target: str, seconds: float, *, is_retry: bool = False) -> Iterator[Model]:
        """A loaded model, which stays loaded meanwhile; `is_retry` for a call that is counted already.

        Raises:
            Refusal: it is not ready within `seconds`; its load continues.
            ModelRefusal: it cannot be loaded, or Triton is being restarted.
        """
        model = self._enter(target, seconds, is_retry=is_retry)
        try:
            yield model
        finally:
            with self._condition:
                self._release(model)

    def make_room(self, target: str, seconds: float, *, since: int) -> bool:
        """Evict the least recently used model but the target; whether one has left within `seconds`.

        One eviction serves all whose calls lacked memory when `eviction_count` was `since`.
        """
        try:
            eviction = self._workers.submit(self.evict_for, target, since)
        except RuntimeError:  # closed
            return False
        try:
            return eviction.result(seconds)
        except (TimeoutError, CancelledError):
            eviction.cancel()
            return False

    def forget(self, target: str, at_end: Callable[[], None]) -> None:
        """Unload a model for good and call `at_end` then; return at once.

        From now on callers wait for another load, or for what `at_end` leaves; a load under way continues.
        """
        with self._condition:
            model = self._current_model(target)
            if model is None:
                at_end()  # nobody begins a load meanwhile
            elif model.state is ModelState.READY and not self._is_closed:
                model.state = ModelState.REMOVAL
                self._workers.submit(self._unload, model, at_end)

    def resident_models(self) -> list[Model]:
        """The models that may be used."""
        with self._condition:
            return [model for model in self._models.values() if self._is_loaded(model)]

    def close(self) -> None:
        """Release everyone who waits; call it when Triton has been stopped."""
        with self._condition:
            self._is_closed = True
            for model in self._models.values():
                model.failure = _stop_refusal()
            self._condition.notify_all()
        self._workers.shutdown(cancel_futures=True)

    def _enter(self, target: str, seconds: float, *, is_retry: bool) -> Model:
        start = time.monotonic()
        with self._condition:
            model = self._current_model(target)
            hit = model is not None and model.state is ModelState.READY
            if not is_retry:
                self._record("model_cache_hit", float(hit))
            while model is None or model.state is ModelState.REMOVAL:
                if model is None:
                    model = self._begin(target)
                    break
                if self._is_closed or not self._wait(start, seconds):
                    raise _stop_refusal() if self._is_closed else _not_ready(target)
                model = self._current_model(target)
            model.users += 1
            ready = True
            while ready and model.state is ModelState.LOADING and model.failure is None:
                ready = self._wait(start, seconds)
            if not hit:
                self._record("model_loading_wait_time", (time.monotonic() - start) * 1e6)
            if model.failure is not None or not ready:
                self._release(model)
                raise model.failure or _not_ready(target)
            model.last_use = next(self._uses)
            return model

    def _wait(self, start: float, seconds: float) -> bool:
        remaining_seconds = start + seconds - time.monotonic()
        return remaining_seconds > 0 and self._condition.wait(remaining_seconds)

    def _release(self, model: Model) -> None:
        model.users -= 1
        self._condition.notify_all()

    def _current_model(self, target: str) -> Model | None:
        """The model unless it was loaded by a run of Triton that has ended."""
        model = self._models.get(target)
        if model is not None and model.state is ModelState.READY and not self._is_loaded(model):
            del self._models[target]
            return None
        return model

    def _is_loaded(self, model: Model) -> bool:
        try:
            return model.state is ModelState.READY and model.run is self._operations.run()
        except ModelRefusal:
            return False

    def _begin(self, target: str) -> Model:
        if self._is_closed:
            raise _stop_refusal()
        model = Model(target, self._operations.run())
        self._models[target] = model
        self._workers.submit(self._load, model)
        return model

    def _load(self, model: Model) -> None:
        try:
            self._operations.fetch(model, _Neighbors(self, model.target))
            with self._loads.share():
                has_loaded = self._has_loaded(model)
                if has_loaded:
                    self._settle(model)
            if not has_loaded:
                # Alone: others would take what is freed for this one.
                with self._loads.alone():
                    self._load_after_eviction(model)
                    self._settle(model)
        except Exception as error:
            if not isinstance(error, Refusal | ModelRefusal):
                log.exception("loading %s failed", model.target)
                error = ModelRefusal(0, f"this machine could not load {model.target}: {error}")
            with self._condition:
                model.failure = error
                del self._models[model.target]
                self._condition.notify_all()

    def _has_loaded(self, model: Model) -> bool:
        try:
            self._operations.load(model)
        except LackOfMemory:
            return False
        return True

    def _load_after_eviction(self, model: Model) -> None:
        while True:
            has_evicted = self.evict_for(model.target)
            try:
                return self._operations.load(model)
            except LackOfMemory:
                if not has_evicted:
                    raise

    def _settle(self, model: Model) -> None:
        with self._evictions:
            try:
                self._operations.require_room(model)
            except LackOfMemory:
                self._operations.unload(model)
                raise
            while not self._operations.fits(model, self.resident_models()) and self._evict_oldest(
                model.target
            ):
                pass
            with self._condition:
                model.state, model.last_use = ModelState.READY, next(self._uses)
                self._condition.notify_all()

    def in_use(self) -> set[str]:
        """The targets of which Triton may read the files."""
        with self._condition:
            return {target for target in list(self._models) if self._current_model(target)}

    def wait_for(self, targets: Collection[str]) -> bool:
        """Wait until one of the targets is loaded or gone; False where all of them are loaded."""
        with self._condition:
            models = [self._current_model(target) for target in targets]
            if self._is_closed or all(
                model is not None and model.state is ModelState.READY for model in models
            ):
                return False
            if None not in models:
                self._condition.wait()
            return True

    def evict_for(self, target: str, since: int | None = None) -> bool:
        """Evict the least recently used model but the one that is wanted; whether there was one.

        Nothing is evicted where another eviction has been made `since` so many.
        """
        with self._evictions:
            if since is not None and self.eviction_count != since:
                return True
            return self._evict_oldest(target)

    def _evict_oldest(self, target: str) -> bool:
        with self._condition:
            candidates = [
                model for model in self._models.values() if self._is_loaded(model) and model.target != target
            ]
            if not candidates:
                return False
            victim = min(candidates, key=lambda candidate: (candidate.users > 0, candidate.last_use))
            victim.state = ModelState.REMOVAL
        self.evictions.append(victim.target)
        self._unload(victim)
        self.eviction_count += 1
        return True

    def _unload(self, model: Model, at_end: Callable[[], None] = lambda: None) -> None:
        with self._condition:
            self._condition.wait_for(lambda: model.users == 0 or self._is_closed)
        try:
            self._operations.unload(model)
        except ModelRefusal as refusal:
            log.warning("%s: %s", model.target, refusal)
        finally:
            at_end()
            with self._condition:
                del self._models[model.target]
                self._condition.notify_all()


@dataclass(frozen=True)
class _Neighbors:
    """The models beside one."""

    residency: Residency
    target: str

    def in_use(self) -> set[str]:
        return self.residency.in_use()

    def evict(self) -> bool:
        return self.residency.evict_for(self.target)

    def wait_for(self, targets: Collection[str]) -> bool:
        return self.residency.wait_for(targets)


def _stop_refusal() -> ModelRefusal:
    return ModelRefusal(0, "The endpoint was stopped.")


def _not_ready(target: str) -> Refusal:
    """Source: botocore, sagemaker-runtime, ModelNotReadyException."""
    message = f"Model {target} is still being downloaded or loaded. Wait and try your request again."
    return Refusal(429, "ModelNotReadyException", message)
