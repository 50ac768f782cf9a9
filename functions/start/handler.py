"""The Lambda's entry point."""

from acta_engine.app import App
from acta_engine.sessions.start_routes import build

handler = build(App()).handler
