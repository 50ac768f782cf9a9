"""Everything that only reads sessions (design §3)."""

from functions.status import listing, polling, reading
from functions.status.app import api

ROUTES = (listing, polling, reading)
"""Importing them registers their routes."""

handler = api.handler
