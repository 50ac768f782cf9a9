"""Every difference between ministack and AWS that is closed here, in the order they are applied.

Each function's docstring, or its module's, says which behaviour it restores, its source and which attribute of
ministack it replaces. README.md in this folder has a row for each, with the test that shows it.
"""

from __future__ import annotations

from collections.abc import Callable

from acta.local_aws import own_environment
from acta.local_aws.access import policies, principals, web_page_guard
from acta.local_aws.lambdas import execution
from acta.local_aws.services import api_gateway, dynamodb, event_bridge, sqs, transactions
from acta.local_aws.settings import Settings
from acta.local_aws.step_functions import (
    data,
    definitions,
    engine,
    invocation_check,
    start_and_stop,
    tokens,
)

GAPS: tuple[Callable[[Settings], None], ...] = (
    own_environment.leave_host_alone,
    web_page_guard.guard_custom_runtimes,
    principals.forget_the_expired,
    principals.give_functions_their_role,
    policies.hold_loopback_for_tls,
    policies.evaluate_leading_keys,
    policies.hide_what_may_not_be_listed,
    policies.read_events_as_the_function,
    execution.run_python_functions,
    execution.isolate_tenants,
    execution.share_reserved_concurrency,
    engine.replace_engine,
    invocation_check.ask_before_invocations,
    data.evaluate_patiently,
    data.assign_at_once,
    start_and_stop.start_once,
    start_and_stop.stop_at_once,
    tokens.accept_once,
    tokens.ask_for_rights_on_the_machine,
    definitions.check_transitions,
    api_gateway.tell_text_from_bytes,
    api_gateway.require_expiry,
    api_gateway.answer_failures,
    api_gateway.answer_pages,
    api_gateway.throttle_routes,
    api_gateway.tell_a_reachable_address,
    dynamodb.keep_streams,
    transactions.refuse_conflicts,
    sqs.keep_queue_urls,
    event_bridge.tell_versions,
    event_bridge.ask_queues,
)


def apply_all(settings: Settings) -> None:
    for apply in GAPS:
        apply(settings)
