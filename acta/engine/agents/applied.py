"""Which files a definition came from, where `acta apply` wrote it (ADR 90)."""

from typing import Annotated

from pydantic import Field

from acta.engine.store.schema import FrozenModel

SET_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
DIGEST_PATTERN = r"^[A-Za-z0-9:_-]{1,100}$"


class Applied(FrozenModel):
    """`set`: the named set of files that owns the definition. `digest`: of the definition as its file had it; `acta
    apply` computes and compares it. A write by hand changes neither, so the next apply notices it.
    """

    set: Annotated[str, Field(pattern=SET_PATTERN)]
    digest: Annotated[str, Field(pattern=DIGEST_PATTERN)]
