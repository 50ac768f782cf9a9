"""What a deployment has of definitions, and the writes that change it, over the API."""

from collections.abc import Mapping
from typing import Any

from acta.cli.apply.folder import Key
from acta.cli.apply.kinds import KINDS, MCP_SERVERS, PROMPTS, TOOLS, Digest, Kind, from_answer
from acta.cli.apply.plan import Found, Plan, Step
from acta.client.api import Client
from acta.client.flows import path_of

Answer = Mapping[str, Any]
OF_THE_RELEASE = "acta"
"""The author of a prompt that nobody has written."""
WITHDRAWN = "The release's own text again"
RUNNING = ("planning", "executing", "waiting_for_tool", "waiting_for_user")


class Deployed:
    """The definitions of the client's tenant. Every method raises ClientError."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.tools: frozenset[str] = frozenset()
        """Names of all that agents may be given, once `read` was called."""

    def read(self) -> dict[Key, Found]:
        found = {}
        for kind in KINDS.values():
            answers = list(self._calls(kind).list())
            if kind is TOOLS:
                self.tools = frozenset(answer["name"] for answer in answers)
            for answer in answers:
                if "version" in answer:  # what is built in cannot be written and has none
                    found[Key(kind.folder, answer[kind.identity])] = _found(kind, answer)
        return found

    def make(self, step: Step, plan: Plan) -> tuple[str, ...]:
        """Warnings of the answer. Raises Conflict where somebody else was faster."""
        kind, name, before = KINDS[step.key.kind], step.key.name, step.before
        calls = self._calls(kind)
        if step.after is None:
            assert before is not None, "what goes was there"
            if kind is PROMPTS:
                # A prompt is never gone: the release's own text is in force again, as a new version that is nobody's.
                seed = self._client.prompts.get(name)["seed_content"]
                body = {
                    "content": seed,
                    "comment": WITHDRAWN,
                    "expected_version": before.version,
                    "applied": None,
                }
                self._client.put(path_of("admin", "prompts", name), body)
            else:
                calls.delete(name, before.version)
            return ()
        mark = {"set": plan.set_name, "digest": str(Digest.of(kind, step.after))}
        if kind is PROMPTS:
            return self._write_prompt(step, mark)
        body = {**kind.written, **step.after, "applied": mark}
        if kind is MCP_SERVERS:
            self._client.mcp_servers.write(name, {**body, "version": before and before.version})
            return ()
        if before is None:
            written = calls.create({kind.identity: name, **body})
        else:
            written = calls.replace(name, {**body, "version": before.version})
        return tuple(written.get("warnings", ()))

    def _write_prompt(self, step: Step, mark: Answer) -> tuple[str, ...]:
        assert step.after is not None, "a prompt that goes is withdrawn"
        assert step.before is not None, "a prompt is never new"
        written = self._client.prompts.write(
            step.key.name,
            step.after["content"],
            comment=step.after.get("comment"),
            expected_version=step.before.version,
            applied=mark,
        )
        return tuple(written["warnings"])

    def is_of_the_release(self, key: Key, found: Found) -> bool:
        """Whether a prompt's version in force has the release's own text, as after it was withdrawn."""
        if key.kind != PROMPTS.folder:
            return False
        return bool(self._client.prompts.get(key.name)["seed_content"] == found.definition["content"])

    def has_running_sessions(self, agent_id: str) -> bool:
        """Of those that you may see."""
        return any(
            next(iter(self._client.sessions(agent_id=agent_id, state=state, limit=1)), None) is not None
            for state in RUNNING
        )

    def _calls(self, kind: Kind) -> Any:
        return getattr(self._client, kind.folder.replace("-", "_"))


def _found(kind: Kind, answer: Answer) -> Found:
    applied = answer.get("applied") or {"set": "", "digest": ""}
    return Found(
        from_answer(kind, answer),
        answer["version"],
        applied["set"],
        Digest.from_text(applied["digest"]),
        answer["version"] == 0 or answer.get("created_by") == OF_THE_RELEASE,
    )
