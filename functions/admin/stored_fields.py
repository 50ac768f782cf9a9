"""Fields of definitions that are not stored yet: the release before may still run, and does not know them."""

from collections.abc import Mapping

from shared.domain.errors import FieldsInvalid
from shared.domain.schema.versions import added_after


def refuse_what_is_not_stored(given: Mapping[str, tuple[str, str]], write_version: int) -> None:
    """Refuses what would be dropped in silence, because people rely on it for safety (design §6.7).

    `given`: fields of the request that say something -> model and field that store it. Raises ValidationFailed.
    """
    missing = added_after(write_version)
    sentence = (
        f"This cannot be stored while the deployment still writes version {write_version}: the release before would "
        "not keep to it. Deploy with `acta deploy` once more, when no Lambda of that release runs any longer."
    )
    wrong = {field: [sentence] for field, stored in given.items() if stored in missing}
    if wrong:
        raise FieldsInvalid(wrong)
