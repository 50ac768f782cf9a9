"""Stores the deployment's prompts, for CloudFormation's custom resource (`acta/infra/stateless.py`).

The texts come with the event, so that a deployment that is rolled back puts the former ones back. Tenants' own
versions are somewhere else and stay as they are.
"""

import json
from collections.abc import Mapping
from typing import Any

from acta.engine.agents.store import DefinitionStore
from acta.engine.clock import Clock
from acta.engine.errors import AwsDenied
from acta.engine.prompts import prompt

ANSWER_SECONDS = 10
PAUSES = (1, 2, 4, 8)
"""Seconds before each further attempt, where the write was denied: the first deployment makes the function's role, and
a new permission takes effect a little later. Source: IAM user guide, "Troubleshoot IAM", on changes that are not
immediately visible."""


def is_seeding(event: Mapping[str, Any]) -> bool:
    return "RequestType" in event and "ResponseURL" in event


def seed(event: Mapping[str, Any], store: DefinitionStore, clock: Clock) -> Exception | None:
    """Answers CloudFormation whatever happens: without an answer a deployment waits until its time limit.

    What went wrong is returned and not raised, because Lambda would repeat the invocation after the rollback.
    """
    failure: Exception | None = None
    for pause in (*PAUSES, None):
        try:
            failure = None
            if event["RequestType"] != "Delete":
                store_prompts(event["ResourceProperties"]["Prompts"], store, clock)
        except Exception as error:
            failure = error
        if pause is None or not isinstance(failure, AwsDenied):
            break
        clock.sleep(pause)
    _answer(event, failure)
    return failure


def store_prompts(contents: Mapping[str, str], store: DefinitionStore, clock: Clock) -> None:
    """A prompt that is stored with this text keeps its time. Raises KeyError for a name this release does not know."""
    for name, content in contents.items():
        stored = store.seed(name)
        if stored.created_at is None or stored.content != content:
            store.store_seed(
                prompt.Prompt(name=name, version=prompt.SEED_VERSION, content=content, created_at=clock.now())
            )


def _answer(event: Mapping[str, Any], failure: Exception | None) -> None:
    """To the URL in the event, which is made for this one answer."""
    # Once a deployment; an import at the top would cost every worker of `admin` 12 ms of CPU.
    from urllib.request import Request, urlopen

    body = {
        "Status": "SUCCESS" if failure is None else "FAILED",
        "Reason": "" if failure is None else type(failure).__name__,
        "PhysicalResourceId": event.get("PhysicalResourceId", "acta-prompts"),
        **{name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")},
    }
    request = Request(
        event["ResponseURL"], json.dumps(body).encode(), {"Content-Type": ""}, method="PUT"
    )  # S3 signed it without a content type
    with urlopen(request, timeout=ANSWER_SECONDS):
        pass
