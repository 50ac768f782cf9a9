"""Chooses the schema version that a deployment writes, from what the functions that are deployed now can read.

While CloudFormation replaces the functions, old and new ones work on the same sessions, and a deployment may be rolled
back. So what is written must be readable for both (docs/design/releases.md 7). A release may skip none: it writes its
own version or the one before, and reads up to the one after.
"""

from typing import Any, NamedTuple

from acta_engine.aws.errors import AwsRefused
from acta_engine.errors import AwsDenied, StoreThrottled, StoreUnavailable
from acta_engine.store.schema import CURRENT
from acta_infra.deployed.releases import Live
from acta_infra.deployed.stacks import described
from acta_infra.environments import Environment
from acta_infra.names import READS_VERSION, stateless_stack

NOT_ASKED = Live()


class ReleaseTooFar(ValueError):
    """The deployed release and this one cannot work on the same sessions. The message says what can be done."""


class Choice(NamedTuple):
    """`version`: what to write. `reason` and `next_step`: for a person, a sentence each; `next_step` empty: none."""

    version: int
    reason: str
    next_step: str = ""


def choose(
    environment: Environment, cloudformation: Any, live: Live = NOT_ASKED, current: int = CURRENT
) -> Choice:
    """`cloudformation`: a botocore client. `live`: tells where an earlier release is live again. `current`: the version
    of this release.

    Raises ReleaseTooFar.
    """
    previous, following = max(current - 1, 1), current + 1
    again = f"acta deploy --env {environment.name}"
    try:
        reads = deployed_reads(environment, cloudformation)
    except (AwsDenied, AwsRefused, StoreThrottled, StoreUnavailable) as error:
        return Choice(
            previous,
            f"what the deployed release reads is unknown ({error})",
            f"Where it is this release already, run `{again}` again as somebody who may describe its stack.",
        )
    if reads is None:
        return Choice(current, "nothing is deployed yet")
    reads = min(reads, live.reads(reads))
    if reads < previous:
        raise ReleaseTooFar(
            f"the deployed release reads schema version {reads} and this one writes {previous} or {current}: deploy "
            "the releases in between first, one after the other"
        )
    if reads > following:
        raise ReleaseTooFar(
            f"the deployed release writes schema version {reads - 1} or {reads} and this one reads no more than "
            f"{following}: go back one release at a time"
        )
    if live.unknown:
        return Choice(
            previous,
            f"what the live functions read is unknown ({live.unknown})",
            f"Where they are this release's already, run `{again}` again as somebody who may read their versions.",
        )
    if reads < current:
        return Choice(
            reads,
            "the deployed release reads no newer one, and may have to be deployed again",
            f"Once this release has proved itself, run `{again}` again: it then writes {current}.",
        )
    return Choice(current, "the deployed release reads it")


def deployed_reads(environment: Environment, cloudformation: Any) -> int | None:
    """The newest schema version that the deployed functions know; None: there are none.

    Raises AwsDenied, AwsRefused, StoreThrottled and StoreUnavailable where the stack cannot be described.
    """
    stack = described(stateless_stack(environment.name), cloudformation)
    if stack is None:
        return None
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", ())}
    return int(outputs[READS_VERSION])
