"""The Lambda's entry point. `Recovery` (`shared/acta_engine/recovery/recovery.py`) answers its events."""

from acta_engine.app import App
from acta_engine.telemetry import Telemetry

telemetry = Telemetry("recover")
handler = telemetry.watch(App(telemetry=telemetry).recovery.handle)
