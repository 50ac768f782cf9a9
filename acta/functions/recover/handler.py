"""The Lambda's entry point. `Recovery` (`acta/engine/recovery/recovery.py`) answers its events."""

from acta.engine.app import App
from acta.engine.telemetry import Telemetry

telemetry = Telemetry("recover")
_app = App(telemetry=telemetry)
NEEDED = (_app.repository, _app.session_index, _app.workflow, _app.scans)
"""Most events need these, so a worker loads them when it starts."""
handler = telemetry.watch(_app.recovery.handle)
