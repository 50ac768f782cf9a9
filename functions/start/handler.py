"""The Lambda's entry point."""

from functions.start.dependencies import dependencies
from functions.start.routes import build

handler = build(dependencies()).handler
