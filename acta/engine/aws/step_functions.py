"""The engine on Step Functions: one execution for each session, run and generation, named after them."""

import json
from collections.abc import Iterator
from typing import Any

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused
from acta.engine.log.commit import Decision
from acta.engine.turn.engine import EndedExecution, ExecutionStatus, TokenGone

PAGE = 1_000
"""The most executions that one answer lists."""


class StepFunctionsWorkflow:
    """A Workflow. `client`: a botocore Step Functions client instead of the process's."""

    def __init__(self, state_machine_arn: str, client: Any = None) -> None:
        self._machine = state_machine_arn
        self._states = Service("stepfunctions", client)

    def start(self, decision: Decision) -> bool:
        at = decision.at
        name = _name(at.session_id, at.run_id, at.generation)
        try:
            self._states.call(
                "start_execution", stateMachineArn=self._machine, name=name, input=_json(decision)
            )
        except AwsRefused as refused:
            if refused.code != "ExecutionAlreadyExists":
                raise
            return self._is_running(name)
        return True

    def wake(self, token: str, decision: Decision) -> None:
        try:
            self._states.call("send_task_success", taskToken=token, output=_json(decision))
        except AwsRefused as refused:
            if refused.code in ("TaskTimedOut", "TaskDoesNotExist", "InvalidToken"):
                raise TokenGone from None
            raise

    def stop(self, session_id: str, run_id: str, generation: int) -> None:
        try:
            self._states.call("stop_execution", executionArn=self._arn(_name(session_id, run_id, generation)))
        except AwsRefused as refused:
            # it was never started or is closed: it does not run
            if refused.code not in ("ExecutionDoesNotExist", "ValidationException"):
                raise

    def status(self, session_id: str, run_id: str, generation: int) -> ExecutionStatus:
        try:
            running = self._is_running(_name(session_id, run_id, generation))
        except AwsRefused as refused:
            if refused.code != "ExecutionDoesNotExist":
                raise
            return "absent"
        return "running" if running else "closed"

    def running(self) -> Iterator[str]:
        request = {"stateMachineArn": self._machine, "statusFilter": "RUNNING", "maxResults": PAGE}
        while True:
            answer = self._states.call("list_executions", **request)
            for execution in answer["executions"]:
                yield execution["name"].partition("-")[0]
            if not answer.get("nextToken"):
                return
            request["nextToken"] = answer["nextToken"]

    def _is_running(self, name: str) -> bool:
        """Whether the execution runs. Raises AwsRefused with the code ExecutionDoesNotExist."""
        answer = self._states.call("describe_execution", executionArn=self._arn(name))
        return bool(answer["status"] == "RUNNING")

    def _arn(self, name: str) -> str:
        return f"{self._machine.replace(':stateMachine:', ':execution:')}:{name}"


def _name(session_id: str, run_id: str, generation: int) -> str:
    """The execution's name. AWS allows 80 letters, digits, - and _. Acta's ids have no -, so the name can be split
    again; it fits up to a generation of 18 digits.
    """
    return f"{session_id}-{run_id}-{generation}"


def named(name: str) -> EndedExecution | None:
    """The session, run and generation that an execution's name names. None: the name is not one of ours."""
    parts = name.split("-")
    if len(parts) != 3 or not all(parts) or not parts[2].isdecimal():
        return None
    return EndedExecution(parts[0], run_id=parts[1], generation=int(parts[2]))


def _json(decision: Decision) -> str:
    return json.dumps(decision.to_engine(), separators=(",", ":"))
