"""The Lambda's entry point."""

from pathlib import Path

from acta_engine.api.fallback import build
from acta_engine.settings import settings

handler = build(settings(), Path(__file__).parent / "made").handler
