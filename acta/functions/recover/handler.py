"""The Lambda's entry point. `Recovery` (`acta/engine/recovery/recovery.py`) answers its events."""

from acta.engine.app import App
from acta.engine.telemetry import Telemetry

telemetry = Telemetry("recover")
handler = telemetry.watch(App(telemetry=telemetry).recovery.handle)
