"""The functions' APIs with nothing behind them: their routes and signatures are read, and none is asked."""

from typing import Any

from functions.admin.routes import build as build_admin
from functions.console.routes import build as build_console
from functions.fallback.routes import build as build_fallback
from functions.intervene.routes import build as build_intervene
from functions.mcp.routes import build as build_mcp
from functions.start.routes import build as build_start
from functions.status.routes import build as build_status
from functions.step.routes import build as build_step
from shared.api.app import Api
from shared.api.arguments import Arguments, Parameter
from shared.api.routes import ROUTES, Route
from shared.settings import Settings


class Absent:
    """Stands for whatever a function works with."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __getattr__(self, name: str) -> "Absent":
        return self


def apis() -> list[Api]:
    settings = Settings(env="document", table="none", bucket="none")
    absent: Any = Absent(settings)
    with_handlers = (build_start, build_status, build_intervene, build_admin, build_mcp)
    built: list[Api] = [build(absent) for build in with_handlers]
    return [*built, build_step(settings, absent), build_console(settings), build_fallback(settings)]


def parameters() -> dict[Route, tuple[Parameter, ...]]:
    """Of each route's handler, in the order of the table of routes. Raises LookupError for one without a handler."""
    handlers = {route: handle for api in apis() for route, handle in api.handlers.items()}
    missing = [str(route) for route in ROUTES if route not in handlers]
    if missing:
        raise LookupError(f"no handler: {', '.join(missing)}")
    return {route: Arguments(route, handlers[route]).parameters for route in ROUTES}
