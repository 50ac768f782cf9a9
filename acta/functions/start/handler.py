"""The Lambda's entry point. It answers the rows of `start` in `acta/engine/api/operations.py`."""

from acta.engine.api.app import Api
from acta.engine.app import App

app = App()
api = Api("start", app, audit=app.audit, limiter=app.limiter, is_repeat=app.idempotency.is_repeat)
NEEDED = (api.load("startSession"), app.repository, app.workflow, app.definitions)
"""Nearly every request needs these, so a worker loads them when it starts."""
handler = api.handler
