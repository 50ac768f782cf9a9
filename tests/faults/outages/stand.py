"""A deployed stack on which hours of the engine pass in seconds."""

import threading

from infra.local.progress import Progress
from tests.faults.provider import Provider
from tests.faults.script import SHORT_SCRIPT
from tests.faults.stand import Stand

SET_UP_AT_ONCE = 3
SETTINGS = {
    "ACTA_OUTAGE_LONGEST_PAUSE_SECONDS": "1",
    "ACTA_RECOVERY_GRACE_SECONDS": "5",
    "ACTA_STEP_DEADLINE_SECONDS": "5",
    "ACTA_FIRST_TOKEN_SECONDS": "4",
    "ACTA_MAX_OUTPUT_TOKENS": "200",
    "ACTA_AWS_READ_SECONDS": "1.5",
}
"""Hours become seconds: pauses of the engine, of the session, of recovery, and what a model call may take."""


class OutageStand(Stand):
    """The engine's invocations can be refused, and `provider` knows what it sold. `setting_up`: held by a session while
    it is made, because many at once would need a cold process each.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self.setting_up = threading.Semaphore(SET_UP_AT_ONCE)
        self.provider = Provider(SHORT_SCRIPT)
        super().__init__(progress, self.provider, invocations=True, **SETTINGS)
