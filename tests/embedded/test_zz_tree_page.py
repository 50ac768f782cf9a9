# ruff: noqa: F403
from tests.e2e.conftest import chromium as chromium, screen as screen, screens as screens
from tests.e2e.console.test_tree_of_agents import *

SCRIPTED = True
from tests.e2e.console.test_tree_of_agents import (
    test_the_page_of_a_session_shows_the_agents_below_it_and_theirs_the_way_up as test_the_page_of_a_session_shows_the_agents_below_it_and_theirs_the_way_up,
)
