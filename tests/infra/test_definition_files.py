"""The schemas of definitions as files, which stand in the package, are those of the API's bodies."""

from acta.infra.document.schemas import FILES, definition_files


def test_the_schemas_in_the_package_are_made_from_the_models_of_the_api() -> None:
    there = {path.name: path.read_text(encoding="utf-8") for path in FILES.iterdir()}
    assert there == definition_files(), "write them again: make generate"
