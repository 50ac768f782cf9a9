"""The Lambda's entry point."""

from functions.console.routes import build
from shared.settings import settings

handler = build(settings()).handler
