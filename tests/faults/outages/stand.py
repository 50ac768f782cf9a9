"""A deployed stack on which hours of the engine pass in seconds."""

import json
import threading

from acta.infra.local.deploy import DeployProgress
from tests.e2e.support.rights import allow
from tests.faults.outages.rotated_key import RotatedKey
from tests.faults.provider import Provider
from tests.faults.script import SHORT_SCRIPT
from tests.faults.stand import Stand

SET_UP_AT_ONCE = 3
FUSED = 8
"""Turns that an invocation of `step` makes at most, as in production."""
SETTINGS = {
    "ACTA_OUTAGE_LONGEST_PAUSE_SECONDS": "1",
    "ACTA_RECOVERY_GRACE_SECONDS": "5",
    "ACTA_STEP_DEADLINE_SECONDS": "5",
    "ACTA_FIRST_TOKEN_SECONDS": "4",
    "ACTA_MAX_OUTPUT_TOKENS": "200",
    "ACTA_AWS_READ_SECONDS": "1.5",
}
"""Hours become seconds: pauses of the engine, of the session, of recovery, and what a model call may take."""
SECRET = "acta/faults/key"
KEY_IN_SECRET = {"ACTA_PROVIDER": "anthropic", "ACTA_PROVIDER_SECRETS": json.dumps({"anthropic": SECRET})}


class OutageStand(Stand):
    """The engine's invocations can be refused, `provider` knows what it sold, and its key is in Secrets Manager, as in
    AWS. `setting_up`: held by a session while it is made, because many at once would need a cold process each.
    """

    def __init__(self, progress: DeployProgress | None = None) -> None:
        self.setting_up = threading.Semaphore(SET_UP_AT_ONCE)
        self.provider = Provider(SHORT_SCRIPT)
        no_key = {"ACTA_PROVIDER": "", "ANTHROPIC_API_KEY": ""}
        super().__init__(
            progress,
            self.provider,
            cap=FUSED,
            invocations=True,
            traces=False,
            parks=False,
            **SETTINGS,
            **no_key,
        )

    def set_up(self) -> None:
        secrets = self.client("secretsmanager")
        self.key = RotatedKey(lambda text: secrets.put_secret_value(SecretId=SECRET, SecretString=text))
        arn = secrets.create_secret(Name=SECRET, SecretString=self.key.text)["ARN"]
        allow(self.client, "step", "secretsmanager:GetSecretValue", arn)  # which in AWS its role has
        variables = {**self.function("step"), **KEY_IN_SECRET}
        self.client("lambda").update_function_configuration(
            FunctionName="acta-local-step", Environment={"Variables": variables}
        )
