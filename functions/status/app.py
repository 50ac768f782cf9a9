"""The function's share of the API; its routes are in the modules beside this one."""

from shared.api.app import Api
from shared.settings import settings

api = Api("status", settings())
