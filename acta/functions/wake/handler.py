"""The Lambda's entry point. It answers the rows of `wake` in `acta/engine/api/operations.py`."""

from acta.engine.api.app import Api
from acta.engine.app import App

handler = Api("wake", App()).handler
