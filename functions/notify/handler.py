"""The Lambda's entry point. Its events go to `Notifications` (`shared/acta_engine/notifications/notifications.py`)."""

from acta_engine.app import App
from acta_engine.telemetry import Telemetry

telemetry = Telemetry("notify")
handler = telemetry.watch(App(telemetry=telemetry).notifications.handle)
