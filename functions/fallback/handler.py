"""The Lambda's entry point."""

from acta_engine.api.fallback import build
from acta_engine.settings import settings

handler = build(settings()).handler
