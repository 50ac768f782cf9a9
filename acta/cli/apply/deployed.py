"""What a deployment has of definitions, and the writes that change it, over the API."""

from collections.abc import Mapping
from typing import Any

from acta.cli.apply.folder import Key
from acta.cli.apply.kinds import KINDS, Kind, as_file, digest
from acta.cli.apply.plan import Found, Plan, Step
from acta.cli.apply.schema import Json
from acta.client.api import Client

Answer = Mapping[str, Any]
RUNNING = ("planning", "executing", "waiting_for_tool", "waiting_for_user")


class Deployed:
    """The definitions of the client's tenant. Every method raises ClientError."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def read(self) -> dict[Key, Found]:
        found = {}
        for kind in KINDS.values():
            for answer in self._calls(kind).list():
                if "version" in answer:
                    found[Key(kind.folder, answer[kind.identity])] = _found(kind, answer)
        return found

    def make(self, step: Step, plan: Plan) -> tuple[str, ...]:
        """Warnings of the answer. Raises Conflict where somebody else was faster."""
        kind, name, before = KINDS[step.key.kind], step.key.name, step.before
        calls = self._calls(kind)
        if step.after is None:
            assert before is not None, "what goes was there"
            calls.delete(name, before.version)
            return ()
        mark = {"set": plan.set_name, "digest": digest(step.after)}
        body: Json = {**step.after, "applied": mark}
        if before is None:
            written = calls.create({kind.identity: name, **body})
        else:
            written = calls.replace(name, {**body, "version": before.version})
        return tuple(written.get("warnings", ()))

    def has_running_sessions(self, agent_id: str) -> bool:
        """Of those that you may see."""
        return any(
            next(iter(self._client.sessions(agent_id=agent_id, state=state, limit=1)), None) is not None
            for state in RUNNING
        )

    def _calls(self, kind: Kind) -> Any:
        return getattr(self._client, kind.folder)


def _found(kind: Kind, answer: Answer) -> Found:
    applied = answer.get("applied") or {"set": "", "digest": ""}
    return Found(
        as_file(kind, answer), answer["version"], applied["set"], applied["digest"], answer["version"] == 0
    )
