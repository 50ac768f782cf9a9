"""A stack whose tools are Python functions: each call is made in the Lambda of their folder."""

from pathlib import Path

from acta.infra.local.deploy import DeployProgress
from tests.faults.provider import Provider
from tests.faults.script import SHORT_SCRIPT
from tests.faults.stand import Stand

FOLDERS = Path(__file__).parent / "folders"
FOLDER = "tool-rooms"
"""The folder's Lambda, as faults name it."""


class PythonToolsStand(Stand):
    """The short script, with a tool of each kind of effect and one to approve."""

    has_python_tools = True

    def __init__(self, progress: DeployProgress | None = None) -> None:
        super().__init__(progress, Provider(SHORT_SCRIPT), ACTA_TOOLS_DIR=str(FOLDERS))

    def set_up(self) -> None:
        variables = {**self.function(FOLDER), "LEDGER_URL": self.tools_url}
        self.client("lambda").update_function_configuration(
            FunctionName=f"acta-local-{FOLDER}", Environment={"Variables": variables}
        )
