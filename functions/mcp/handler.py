"""The Lambda's entry point."""

from acta_engine.mcp_server.dependencies import dependencies
from acta_engine.mcp_server.routes import build

handler = build(dependencies()).handler
