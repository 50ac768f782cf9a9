"""The Lambda's entry point. What it answers: `Recovery` in `shared/acta_engine/recovery/recovery.py`."""

from acta_engine.app import App
from acta_engine.telemetry import Telemetry

telemetry = Telemetry("recover")
handler = telemetry.watch(App(telemetry=telemetry).recovery.handle)
