"""The Lambda's entry point. `TraceExport` (`acta/engine/traces/export.py`) answers its events."""

from acta.engine.app import App
from acta.engine.telemetry import Telemetry

telemetry = Telemetry("traces")
handler = telemetry.watch(App(telemetry=telemetry).trace_export.handle)
