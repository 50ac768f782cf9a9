"""The API's part of `step`: what only the holder of the providers' keys can tell."""

from functions.step.models import add_models
from functions.step.root import models_deps
from shared.api.app import Api
from shared.settings import settings

api = Api("step", settings())
add_models(api, models_deps())
