"""The Lambda's entry point."""

from acta_engine.sessions.dependencies import dependencies
from acta_engine.sessions.routes import build

handler = build(dependencies()).handler
