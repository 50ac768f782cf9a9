"""The Lambda's entry point. It answers the rows of `console` in `shared/acta_engine/api/operations.py`."""

from pathlib import Path

from acta_engine.api.app import Api
from acta_engine.app import App

handler = Api("console", App(made=Path(__file__).parent / "made")).handler
