"""The Lambda's entry point. What it answers: `UsageCount` in `shared/acta_engine/usage/usage_count.py`."""

from acta_engine.app import App
from acta_engine.telemetry import Telemetry

telemetry = Telemetry("usage")
handler = telemetry.watch(App(telemetry=telemetry).usage_count.handle)
