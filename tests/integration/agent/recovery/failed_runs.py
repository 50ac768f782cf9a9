"""Runs that failed as those of earlier releases did, where a run now waits."""

from shared.agent.session.endings import failed
from shared.agent.session.repository import CommitDraft
from tests.in_process.house import TENANT, House


def fail_as_before(house: House, session_id: str, code: str = "STORE_UNAVAILABLE") -> None:
    repository = house.fresh_repository()
    session = repository.newest(TENANT, session_id)

    def build(_: object, change: object) -> CommitDraft:
        return failed(change, code, "It did not answer.")  # type: ignore[arg-type]

    repository.commit(session, "run/1/1/give_up", build)
