"""Checks a run's final answer against the session's schema. It is a module of its own, because it needs the schema
checker and its libraries, which only the zips that check answers have.
"""

from contextlib import suppress
from typing import Any

from acta.engine.tools.schema import TooMuchWork, Words, bent, errors_of, problems_of
from acta.engine.turn.final_answer import FENCE, MAX_ANSWER_BYTES, CheckedAnswer, without_code_block
from acta.engine.untrusted.exact_json import InvalidJson, canonical_json, parse_value, values_between_words


def check_answer(schema: str, text: str) -> CheckedAnswer:
    """Checks an answer against the session's schema (Draft 2020-12), in a limited amount of work: an `AnswerCheck`."""
    written = without_code_block(text)
    if len(written.encode()) > MAX_ANSWER_BYTES:
        most = f"{MAX_ANSWER_BYTES:,} bytes is the most"
        return CheckedAnswer(problem=f"it is too long: {most}. Write what is large to a file and name it.")
    is_alone = True
    try:
        value = parse_value(written)
    except InvalidJson as error:
        try:
            values = _values_in(text)
        except InvalidJson:
            values = {}
        if len(values) > 1:
            return CheckedAnswer(problem="it has more than one JSON value, and any of them could be meant.")
        if not values:
            return CheckedAnswer(problem=f"it is {error}.")
        (value,), is_alone = values.values(), False
    try:
        value = bent(schema, value, texts=False)  # an answer is for programs: a text stays one
        errors = errors_of(schema, value)
    except (TooMuchWork, RecursionError):
        return CheckedAnswer(problem="checking it takes too much work. Send a smaller one.")
    except Exception:  # whatever makes the validator fail, the model may try again
        return CheckedAnswer(problem="it cannot be checked against the schema. Try other values.")
    if errors:
        problem = f"{problems_of(errors, Words('the answer', 'the schema'))}."
        return CheckedAnswer(problem=problem, is_alone=is_alone)
    return CheckedAnswer(value, is_alone=is_alone)


def _values_in(text: str) -> dict[str, Any]:
    """The different JSON values of a text with words: what a block of Markdown holds, and objects and lists. By their
    canonical text. Raises InvalidJson.
    """
    values = values_between_words(text)
    for block in FENCE.split(text)[1::2]:
        with suppress(InvalidJson):
            values.append(parse_value(block))
    return {canonical_json(value): value for value in values}
