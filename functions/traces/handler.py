"""The Lambda's entry point. What it answers: `TraceExport` in `shared/acta_engine/traces/export.py`."""

from acta_engine.app import App
from acta_engine.telemetry import Telemetry

telemetry = Telemetry("traces")
handler = telemetry.watch(App(telemetry=telemetry).trace_export.handle)
