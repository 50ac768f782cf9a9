"""The Lambda's entry point. Its events go to `Notifications` (`acta/engine/notifications/notifications.py`)."""

from acta.engine.app import App
from acta.engine.telemetry import Telemetry

telemetry = Telemetry("notify")
handler = telemetry.watch(App(telemetry=telemetry).notifications.handle)
