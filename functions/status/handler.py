"""The Lambda's entry point."""

from functions.status.dependencies import dependencies
from functions.status.routes import build

handler = build(dependencies()).handler
