"""Reading on where one Query ended: DynamoDB reads at most 1 MB, or `Limit` items, at once."""

from collections.abc import Iterator
from typing import Any

from shared.adapters.aws.clients import Service

Answer = dict[str, Any]


def query(
    dynamodb: Service, *, most: int | None = None, later: int | None = None, **request: Any
) -> Iterator[Answer]:
    """The answers of one Query after another, until there is no more or the caller stops. The next request is made
    when the next answer is asked for.

    `most`: so many items are enough, and no Query asks for more than are missing. `later`: the `Limit` of every Query
    after the first.
    """
    missing = most
    while True:
        if missing is not None:
            request["Limit"] = missing
        answer: Answer = dynamodb.call("query", **request)
        yield answer
        if "LastEvaluatedKey" not in answer:
            return
        if missing is not None:
            missing -= len(answer["Items"])
            if missing <= 0:
                return
        if later is not None:
            request["Limit"] = later
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
