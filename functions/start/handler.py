"""The Lambda's entry point."""

from acta_engine.sessions.start_dependencies import dependencies
from acta_engine.sessions.start_routes import build

handler = build(dependencies()).handler
