"""The prompts a deployment stores."""

from shared.domain.definitions.prompt import SEEDS
from tests.infra.conftest import Synthesised


def test_the_deployment_stores_the_texts_of_its_release(each: Synthesised) -> None:
    (prompts,) = each.stateless.properties("Custom::ActaPrompts")
    assert prompts["Prompts"] == SEEDS
    assert prompts["ServiceToken"]["Fn::GetAtt"][0].startswith("AdminFunction")


def test_who_reads_prompts_is_replaced_after_they_are_stored(each: Synthesised) -> None:
    (stored,) = each.stateless.resources("Custom::ActaPrompts")
    functions = each.stateless.resources("AWS::Lambda::Function")
    (step,) = [function for name, function in functions.items() if name.startswith("StepFunction")]
    assert stored in step["DependsOn"]
