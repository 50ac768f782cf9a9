"""Map and Parallel: pieces that run at the same time; the first failure ends the others and the state.

Source: Amazon States Language, "Parallel State" and "Map State". Variables assigned inside stay inside: each
branch and iteration starts with a copy of the outer ones. In JSONata, `Output` and `Assign` see the list of
results.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from acta.local_aws.ministack import module
from acta.local_aws.step_functions import errors
from acta.local_aws.step_functions.interruptible_waits import Interrupted, Latch, Scope
from acta.local_aws.step_functions.run import Run

_states: Any = module("services.stepfunctions")

# An inline Map on AWS starts up to 40 iterations at once.
_MAX_AT_ONCE = 40

Walk = Callable[[Run, Scope, Mapping[str, Any], str, Any, dict[str, Any]], Any]
Piece = Callable[[Scope], Any]
Step = tuple[Any, str | None]


def perform_map(
    run: Run, scope: Scope, state: Mapping[str, Any], data: Any, context: dict[str, Any], walk: Walk
) -> Step:
    processor = state.get("ItemProcessor") or state.get("Iterator") or {}
    if processor.get("ProcessorConfig", {}).get("Mode") == "DISTRIBUTED":
        raise errors.failed(errors.RUNTIME, "A distributed Map is not available in the local AWS")
    jsonata = _jsonata(state, context)

    def once() -> Any:
        effective = data if jsonata else _states._apply_input_path(state, data, context)
        items = _items(state, data, effective, context, jsonata)
        selector = state.get("ItemSelector") or state.get("Parameters")
        name = context["State"]["Name"]

        def iteration(index: int) -> Piece:
            inner = _inner(context) | {"Map": {"Item": {"Index": index, "Value": items[index]}}}

            def piece(piece_scope: Scope) -> Any:
                details = {"name": name, "index": index}
                run.record(piece_scope, "MapIterationStarted", {"mapIterationStartedEventDetails": details})
                try:
                    chosen = (
                        _selected(selector, data, effective, inner, jsonata) if selector else items[index]
                    )
                    output = walk(run, piece_scope, processor["States"], processor["StartAt"], chosen, inner)
                except errors.StateError:
                    run.record(piece_scope, "MapIterationFailed", {"mapIterationFailedEventDetails": details})
                    raise
                run.record(
                    piece_scope, "MapIterationSucceeded", {"mapIterationSucceededEventDetails": details}
                )
                return output

            return piece

        limit = _max_concurrency(state, data, context, jsonata)
        run.record(scope, "MapStateStarted", {"mapStateStartedEventDetails": {"length": len(items)}})
        results = _beside(run, scope, "Map", [iteration(index) for index in range(len(items))], limit)
        return _output(state, data, context, results, jsonata)

    return errors.with_retry_and_catch(scope, state, data, context, once)


def perform_parallel(
    run: Run, scope: Scope, state: Mapping[str, Any], data: Any, context: dict[str, Any], walk: Walk
) -> Step:
    jsonata = _jsonata(state, context)

    def once() -> Any:
        if jsonata:
            given = _states._apply_jsonata_arguments(state, data, context)
        else:
            given = _states._apply_parameters(state, _states._apply_input_path(state, data, context), context)

        def branch(machine: Mapping[str, Any]) -> Piece:
            inner = _inner(context)
            return lambda inside: walk(run, inside, machine["States"], machine["StartAt"], given, inner)

        run.record(scope, "ParallelStateStarted")
        results = _beside(
            run, scope, "Parallel", [branch(machine) for machine in state["Branches"]], _MAX_AT_ONCE
        )
        return _output(state, data, context, results, jsonata)

    return errors.with_retry_and_catch(scope, state, data, context, once)


def _beside(run: Run, scope: Scope, kind: str, pieces: Sequence[Piece], at_once: int) -> list[Any]:
    """The results in the order of the pieces. The first error ends the others and is raised at once."""
    results: list[Any] = [None] * len(pieces)
    inside = scope.child()
    done = Latch()
    lock = threading.Lock()
    waiting = iter(range(len(pieces)))
    left = len(pieces)

    def work() -> None:
        nonlocal left
        while True:
            with lock:
                index = next(waiting, None)
            if index is None:
                return
            try:
                results[index] = pieces[index](inside)
            except Interrupted:
                return
            except Exception as error:
                known = isinstance(error, errors.StateError)
                done.settle(
                    error if known else errors.failed(errors.RUNTIME, f"{type(error).__name__}: {error}")
                )
                return
            with lock:
                left -= 1
                if left == 0:
                    done.settle(True)

    try:
        if pieces:
            for _ in range(min(at_once, len(pieces))):
                context = contextvars.copy_context()
                threading.Thread(target=context.run, args=(work,), daemon=True, name="states-piece").start()
            with scope.holding(done):
                outcome = scope.wait(done)
            if isinstance(outcome, Exception):
                inside.leave()
                run.record(scope, f"{kind}StateFailed")
                raise outcome
    finally:
        inside.leave()
    run.record(scope, f"{kind}StateSucceeded")
    return results


def _jsonata(state: Mapping[str, Any], context: dict[str, Any]) -> bool:
    return bool(_states._state_query_language(state, context) == "JSONata")


def _inner(context: dict[str, Any]) -> dict[str, Any]:
    return context | {"variables": dict(context["variables"])}


def _items(
    state: Mapping[str, Any], data: Any, effective: Any, context: dict[str, Any], jsonata: bool
) -> list[Any]:
    if jsonata and "Items" in state:
        return list(_states._jsonata_state_field(state, "Items", "array", data, context))
    items = (
        effective
        if jsonata
        else _states._resolve_path_or_ctx(state.get("ItemsPath", "$"), effective, context)
    )
    if not isinstance(items, list):
        raise errors.failed(errors.RUNTIME, "The items of a Map state must be an array")
    return items


def _selected(selector: Any, data: Any, effective: Any, context: dict[str, Any], jsonata: bool) -> Any:
    if jsonata:
        return _states._apply_jsonata_template(selector, data, context)
    return _states._resolve_params_obj(selector, effective, context)


def _max_concurrency(state: Mapping[str, Any], data: Any, context: dict[str, Any], jsonata: bool) -> int:
    limit = state.get("MaxConcurrency", 0)
    if jsonata and "MaxConcurrency" in state:
        limit = _states._jsonata_state_field(state, "MaxConcurrency", "number", data, context)
    return min(int(limit), _MAX_AT_ONCE) if limit > 0 else _MAX_AT_ONCE


def _output(
    state: Mapping[str, Any], data: Any, context: dict[str, Any], results: list[Any], jsonata: bool
) -> Any:
    if jsonata:
        output = _states._apply_jsonata_output(state, data, context, result=results, default=results)
        _states._apply_state_assign(state, data, context, result=results)
        return output
    selected = _states._apply_result_selector(state, results)
    return _states._apply_output_path(state, _states._apply_result_path(state, data, selected), context)
