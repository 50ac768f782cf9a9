"""The Lambda's entry point. It answers the rows of `console` in `acta/engine/api/operations.py`."""

from pathlib import Path

from acta.engine.api.app import Api
from acta.engine.app import App

handler = Api("console", App(made=Path(__file__).parent / "made")).handler
