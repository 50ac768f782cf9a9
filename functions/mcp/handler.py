"""The Lambda's entry point."""

from functions.mcp.dependencies import dependencies
from functions.mcp.routes import build

handler = build(dependencies()).handler
