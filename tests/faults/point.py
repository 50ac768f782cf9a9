"""Where faults happen: every outgoing call of a Lambda comes by here, is named and, where it is meant, disturbed."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

from tests.faults.calls import LAMBDA, Answer, Call, Listing, Request, Subject, is_lost_race, subject_of
from tests.faults.processes import Worker, kill, worker_behind
from tests.faults.refusals import refusal

Kind = Literal["before", "after", "lose", "throttle", "fail", "cut", "hold"]
"""`before`, `after`: the process is killed ahead of the call, or when it has been carried out. `lose`: carried out,
and no answer. `throttle`, `fail`, `cut`: not carried out; asked for less, a 500, no answer. `hold`: not carried out,
and the caller waits until its own time is up.
"""
KILLS: tuple[Kind, ...] = ("before", "after")
INSTEAD: tuple[Kind, ...] = ("before", "throttle", "fail", "cut", "hold")
"""Of carrying the call out."""
RECOVER = "recover"
AFTERWARDS = ("usage", "traces")
"""They count and export what was committed at a time of their own, and no run waits for them: they are left alone."""
HELD_SECONDS = 60.0
ENGINE = Worker(0, "engine")
"""Who invokes Lambdas: no process of a function."""


class Fault(NamedTuple):
    """At the call of this name, or at all whose name begins with it; `times` calls in a row from there on."""

    call: str
    kind: Kind
    times: int = 1
    prefix: bool = False

    def meets(self, name: str) -> bool:
        return name.startswith(self.call) if self.prefix else name == self.call

    @property
    def function(self) -> str:
        return self.call.partition(" ")[0]

    def __str__(self) -> str:
        return f"{self.kind} {self.call}"


class Disturbance(Protocol):
    """What else may happen to a call: it may be made to wait, and may be answered in the service's place. None in the
    answer's place: the connection is to be closed without one. `call`: None where the call is not listed.
    """

    def __call__(
        self, request: Request, subject: Subject, call: Call | None, carry_out: Callable[[Request], Answer]
    ) -> Answer | None: ...


def undisturbed(
    request: Request, subject: Subject, call: Call | None, carry_out: Callable[[Request], Answer]
) -> Answer | None:
    return carry_out(request)


class Track:
    """One run's calls, and what is to go wrong in it. `fired`: how often each fault has. `recovering`: calls of the
    recovery function count as the run's. It comes and goes by its own clock, so otherwise they do not. `exporting`: so
    do those of the functions that count and export. `disturbed_by`: stands between the run and everything it asks,
    invocations by the engine included.
    """

    def __init__(
        self, faults: Sequence[Fault] = (), *, recovering: bool = False, exporting: bool = False
    ) -> None:
        self.listing = Listing()
        self.faults = tuple(faults)
        self.fired: Counter[Fault] = Counter()
        self.recovering = recovering
        self.exporting = exporting
        self.disturbed_by: Disturbance = undisturbed

    @property
    def all_fired(self) -> bool:
        return all(map(self.has_fired, self.faults))

    def has_fired(self, fault: Fault) -> bool:
        return self.fired[fault] == fault.times

    def why_unfired(self, fault: Fault) -> str:
        """What the run asked for instead."""
        alike = [name for name in self.listing.calls if _alike(fault.call, name)]
        if any(fault.meets(name) for name in alike):
            more = f"fired {self.fired[fault]} times of {fault.times}"
        else:
            more = (
                f"{len(alike)} calls of its kind came up, the last of them {alike[-1] if alike else 'none'}"
            )
        unlisted = sum(n for key, n in self.listing.unlisted.items() if _alike(fault.call, " ".join(key)))
        return f"{fault}: {more}; {unlisted} more followed a lost race and have no name"

    def due(self, call: Call | None) -> Fault | None:
        """Once it has begun, a fault that comes several times meets every further call of its kind."""
        if call is None:
            return None
        for fault in self.faults:
            begun = 0 < self.fired[fault] < fault.times
            if (self.fired[fault] == 0 and fault.meets(call.name)) or (
                begun and _alike(fault.call, call.name)
            ):
                return fault
        return None


class FaultPoint:
    """`parent`: the process whose children the Lambdas are; until it is known, everything passes."""

    def __init__(self) -> None:
        self.parent: int | None = None
        self.tracks: dict[str, Track] = {}
        self._serving: dict[int, str] = {}
        self._latest = ""
        self._lock = threading.Lock()
        self._end = threading.Event()

    def follow(self, tag: str, track: Track) -> None:
        """From now on the run of this tag is listed and disturbed."""
        self.tracks[tag] = track
        self._latest = tag

    def release(self) -> None:
        """Nobody is held any longer."""
        self._end.set()

    def worker(self, port: int, server: int) -> Worker | None:
        """Whose connection it is that goes from `port` to `server`."""
        return None if self.parent is None else worker_behind(port, server, self.parent)

    def carry(self, request: Request, carry_out: Callable[[Request], Answer]) -> Answer | None:
        """None: the connection is to be closed without an answer."""
        if request.at == LAMBDA:
            return self._invoke(request, carry_out)
        track = self._track(request)
        if track is None or request.worker is None:
            return carry_out(request)
        subject = subject_of(request)
        with self._lock:
            call = track.listing.name(request.worker, subject)
            fault = track.due(call)
            kind = fault.kind if fault is not None else None
            if fault is not None and kind in INSTEAD:
                track.fired[fault] += 1
        match kind:
            case "before":
                self._kill(request.worker)
                return None
            case "cut":
                return None
            case "hold":
                self._end.wait(HELD_SECONDS)
                return None
            case "throttle" | "fail":
                return refusal(request, "throttled" if kind == "throttle" else "failing")
        answer = track.disturbed_by(request, subject, call, carry_out)
        if answer is None:
            return None
        with self._lock:
            track.listing.answered(request.worker, subject, answer)
            if is_lost_race(answer):  # nothing was written: the fault waits for the attempt that writes
                return answer
            if fault is not None:
                track.fired[fault] += 1
        if kind == "after":
            self._kill(request.worker)
        return None if kind in ("after", "lose") else answer

    def _invoke(self, request: Request, carry_out: Callable[[Request], Answer]) -> Answer | None:
        """The engine, not a worker, asks for an invocation."""
        track = self.tracks.get(request.tag or "")
        if track is None:
            return carry_out(request)
        subject = subject_of(request)
        with self._lock:
            call = track.listing.name(ENGINE, subject)
        return track.disturbed_by(request, subject, call, carry_out)

    def _track(self, request: Request) -> Track | None:
        """A request that does not name its run is of the run its process has last spoken for; recovery speaks for
        the latest.
        """
        if request.worker is None:
            return None
        pid, recovering = request.worker.pid, request.worker.function == RECOVER
        tag = request.tag or self._serving.get(pid) or (self._latest if recovering else "")
        track = self.tracks.get(tag)
        if track is None or (recovering and not track.recovering):
            return None
        if request.worker.function in AFTERWARDS and not track.exporting:
            return None
        if not recovering:
            self._serving[pid] = tag
        return track

    def _kill(self, worker: Worker) -> None:
        assert self.parent is not None
        kill(worker, self.parent)


def _alike(one: str, other: str) -> bool:
    """Of one function and operation. `step` and `tool` are one here: a call that failed amid fused turns is carried out
    by `tool`, after the engine has come again.
    """
    return _group(one) == _group(other)


def _group(name: str) -> tuple[str, ...]:
    function, *rest = name.split(" ")[:2]
    return ("step" if function == "tool" else function, *rest)
