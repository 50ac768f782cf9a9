"""The Lambda's entry point."""

from acta_engine.console.routes import build
from acta_engine.settings import settings

handler = build(settings()).handler
