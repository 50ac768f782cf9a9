"""The Lambda's entry point. It answers the rows of `status` in `acta/engine/api/operations.py`."""

from acta.engine.api.app import Api
from acta.engine.app import App

app = App()
api = Api("status", app, audit=app.audit, limiter=app.limiter)
NEEDED = (api.load("pollSession"), app.log, app.long_poll_limit, app.rates)
"""Nearly every request needs these, so a worker loads them when it starts."""
handler = api.handler
