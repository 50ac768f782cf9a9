"""The Lambda's entry point."""

from acta_engine.app import App
from acta_engine.mcp_server.routes import build

handler = build(App()).handler
