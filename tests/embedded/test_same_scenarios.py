"""The scenarios of the deployed loop, with a scripted model on the wire, run on `acta dev`."""

# ruff: noqa: F403

from tests.e2e.sessions.test_people_of_a_tree import *
from tests.e2e.sessions.test_scenarios import *

SCRIPTED = True
