"""What is stored keeps the shape that the release before reads: new fields stand in one table and are left out for it.

A failure here says that Lambdas of the release before would refuse what this release writes while both are running.
"""

import json
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from shared.domain.schema.convert import UPCASTERS
from shared.domain.schema.versions import ADDED, CURRENT
from shared.domain.session.commit import EventType
from tests.fixtures.fields import PREVIOUS_FIELDS, ROOTS, Fields, stored_fields

pytestmark = pytest.mark.contract

READ_WIDER = {("Event", "type"), ("LambdaConfig", "function")}
"""More is read than written in the version before. Of events that is tested below; names of functions with their
environment are refused in it by `functions/admin/tools.py`.
"""
NEVER_DOWNCAST = ("Partial",)
"""It is written as version 1 only: who adds a field to it gives its store the version to write first."""


@pytest.fixture(scope="module")
def previous() -> Fields:
    read: Fields = json.loads(PREVIOUS_FIELDS.read_text())
    return read


def models() -> dict[str, type[BaseModel]]:
    """Every stored model, by name."""
    found: dict[str, type[BaseModel]] = {}

    def visit(annotation: Any) -> None:
        is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
        if is_model and annotation.__name__ not in found:
            found[annotation.__name__] = annotation
            for info in annotation.model_fields.values():
                visit(info.annotation)
        for each in getattr(annotation, "__args__", ()):
            visit(each)

    for root in ROOTS:
        visit(root)
    return found


def test_a_model_that_the_release_before_stores_has_its_fields_and_those_in_the_table(
    previous: Fields,
) -> None:
    today = stored_fields()
    added = {model: set(fields) for model, fields in ADDED[CURRENT].items()}
    for model, fields in previous.items():
        new = set(today.get(model, {})) - set(fields)
        assert new == added.pop(model, set()), f"new fields of {model}: see shared/domain/schema/versions.py"
        assert not set(fields) - set(today.get(model, {})), (
            f"{model} has lost fields that sessions still have"
        )
    assert not added, "the table names models that are not stored, or that nobody has to be told of"


def test_the_values_of_a_field_are_those_that_the_release_before_reads(previous: Fields) -> None:
    today = stored_fields()
    for model, fields in previous.items():
        for field, values in fields.items():
            if (model, field) not in READ_WIDER:
                assert today[model][field] == values, (
                    f"{model}.{field} may hold what the release before refuses"
                )


def test_an_event_is_written_with_a_type_that_the_release_before_reads(previous: Fields) -> None:
    assert list(get_args(EventType)) == previous["Event"]["type"]["enum"]


def test_every_version_has_its_fields_and_every_older_one_its_way_up() -> None:
    assert set(ADDED) == set(range(2, CURRENT + 1))
    assert set(UPCASTERS) == set(range(1, CURRENT))


def test_a_new_field_has_a_default_for_documents_that_lack_it() -> None:
    of_name = models()
    for fields_of in ADDED.values():
        for model, fields in fields_of.items():
            for field in fields:
                assert not of_name[model].model_fields[field].is_required(), f"{model}.{field}"


def test_what_is_never_downcast_gets_no_new_field() -> None:
    assert not {model for fields_of in ADDED.values() for model in fields_of} & set(NEVER_DOWNCAST)
