"""Tests of the deployed API, run on `acta dev`. What looks behind the API is skipped."""

# ruff: noqa: F403

from tests.e2e.api.test_api_rules import *
from tests.e2e.api.test_client import *
from tests.e2e.api.test_files import *
from tests.e2e.api.test_polling import *
from tests.e2e.api.test_tenants import *
from tests.e2e.api.test_tokens import *
from tests.e2e.api.test_web_pages import *
from tests.e2e.interventions.test_single_stepping import *
from tests.e2e.sessions.test_a_goal import *
from tests.e2e.sessions.test_event_sources import *
from tests.e2e.sessions.test_scenarios_offline import *
from tests.e2e.sessions.test_triggers import *
