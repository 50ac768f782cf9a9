"""The Lambda's entry point. `UsageCount` (`shared/acta_engine/usage/usage_count.py`) answers its events."""

from acta_engine.app import App
from acta_engine.telemetry import Telemetry

telemetry = Telemetry("usage")
handler = telemetry.watch(App(telemetry=telemetry).usage_count.handle)
