"""The Lambda's entry point. `TraceExport` (`shared/acta_engine/traces/export.py`) answers its events."""

from acta_engine.app import App
from acta_engine.telemetry import Telemetry

telemetry = Telemetry("traces")
handler = telemetry.watch(App(telemetry=telemetry).trace_export.handle)
