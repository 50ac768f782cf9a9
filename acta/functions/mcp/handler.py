"""The Lambda's entry point. It answers the rows of `mcp` in `acta/engine/api/operations.py`."""

from acta.engine.api.app import Api
from acta.engine.app import App

app = App()
api = Api("mcp", app, audit=app.audit, limiter=app.limiter, is_repeat=app.idempotency.is_repeat)
NEEDED = (api.load("askOverMcp"), app.definitions)
"""Nearly every request needs these, so a worker loads them when it starts."""
handler = api.handler
