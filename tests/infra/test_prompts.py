"""The prompts a deployment stores."""

import re

from tests.infra.conftest import Synthesised

NAME = "agent_planning_system"
"""Part of the HTTP API: a tenant's admins change the text under this name."""


def test_the_deployment_stores_the_planning_prompt_under_its_public_name(each: Synthesised) -> None:
    (stored,) = each.stateless.properties("Custom::ActaPrompts")
    assert set(stored["Prompts"]) == {NAME}
    # What the code reads in a model's replies is what the stored text tells the model to write.
    assert {"update_plan", "GOAL_COMPLETE"} <= set(re.findall(r"\w+", stored["Prompts"][NAME]))
    assert len(stored["Prompts"][NAME]) <= 20_000, "longer texts are refused over HTTP"
    assert stored["ServiceToken"]["Fn::GetAtt"][0].startswith("AdminFunction")


def test_who_reads_prompts_is_replaced_after_they_are_stored(each: Synthesised) -> None:
    (stored,) = each.stateless.resources("Custom::ActaPrompts")
    functions = each.stateless.resources("AWS::Lambda::Function")
    (step,) = [function for name, function in functions.items() if name.startswith("StepFunction")]
    assert stored in step["DependsOn"]
