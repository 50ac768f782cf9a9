"""The Lambda's entry point. `UsageCount` (`acta/engine/usage/usage_count.py`) answers its events."""

from acta.engine.app import App
from acta.engine.telemetry import Telemetry

telemetry = Telemetry("usage")
handler = telemetry.watch(App(telemetry=telemetry).usage_count.handle)
