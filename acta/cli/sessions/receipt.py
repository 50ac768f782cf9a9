"""`acta receipt`: what a session has cost, in dollars. AWS's part is an estimate. `acta run` ends with it."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from acta.cli.connection import connect
from acta.cli.naming import session_named
from acta.cli.terminal.session_lines import counted
from acta.cli.terminal.text import dollars, one_line, show
from acta.client.api import Client
from acta.client.errors import ClientError

LABEL, AMOUNT = 24, 12
"""Widths of the first two columns; the third one is what was counted."""


def receipt(arguments: Namespace) -> int:
    client = connect(arguments)
    told = client.receipt(session_named(client, arguments.id))
    left_out = [f"not counted: {one_line(each, 200)}" for each in told.get("not_counted") or []]
    return show(told, chain(receipt_lines(told), left_out), as_json=arguments.json)


def receipt_or_nothing(client: Client, session_id: str) -> list[str]:
    """The lines of a receipt; none where the deployment does not answer."""
    try:
        return list(receipt_lines(client.receipt(session_id)))
    except ClientError:
        return []


def receipt_lines(told: Mapping[str, Any]) -> Iterator[str]:
    models, aws = told["models"], told["aws"]
    for model in models["items"]:
        yield _line(one_line(model["model"], LABEL - 1), model["usd"], _tokens(model))
    if models.get("vanished_tokens"):
        yield _line("calls without an answer", None, f"{models['vanished_tokens']:,} tokens reserved")
    engine, functions, table, objects = aws["step_functions"], aws["lambda"], aws["dynamodb"], aws["s3"]
    yield _line("Step Functions, about", engine["usd"], counted(engine["transitions"], "transition"))
    time = f"{counted(functions['requests'], 'request')}, {functions['gb_seconds']:,.3f} GB-s"
    yield _line("Lambda, about", functions["usd"], time)
    units = f"{table['write_units']:,} units written, {table['read_units']:,} units read"
    yield _line("DynamoDB, about", table["usd"], units)
    requests = f"{counted(objects['get_requests'], 'get')}, {counted(objects['put_requests'], 'put')}"
    yield _line("S3, about", objects["usd"], requests)
    yield _line("together, about", told["total_usd"], _prices(told))
    yield f"AWS's part is an estimate: what the session did, times what was measured on {aws['estimated_from']}"


def _line(label: str, usd: float | None, what: str) -> str:
    return f"{label:<{LABEL}}{dollars(usd):>{AMOUNT}}  {what}"


def _tokens(model: Mapping[str, Any]) -> str:
    return (
        f"{model['fresh_input_tokens']:,} tokens in, {model['cached_input_tokens']:,} from the cache, "
        f"{model['output_tokens']:,} out, {counted(model['calls'], 'call')}"
    )


def _prices(told: Mapping[str, Any]) -> str:
    models, aws = told["prices"]["models"], told["prices"]["aws"]
    listed = f"{one_line(aws['region'], 30)} of {aws['as_of']}" if aws["as_of"] else "unknown"
    return f"prices: models of {models['as_of']}, AWS {listed}"
