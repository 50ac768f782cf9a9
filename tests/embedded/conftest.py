"""`acta dev` in the place of the deployed stack, for tests of the API that are run on both."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from acta.infra.local.issuer import LocalIssuer
from acta.local_aws.credentials import Credentials
from tests.conftest import Deployed
from tests.e2e.conftest import admit as admit
from tests.e2e.conftest import ann as ann
from tests.local.served import Served


class NothingBehind:
    """There is no AWS: a test that looks into it is skipped. The model is configured when `acta dev` starts."""

    def configured(self, *functions: str, **variables: str) -> AbstractContextManager[None]:
        if functions != ("step",):
            pytest.skip("one process is configured when it starts")
        return nullcontext()

    def __getattr__(self, name: str) -> Any:
        pytest.skip("nothing is behind one process")


@pytest.fixture(scope="session")
def behind() -> NothingBehind:
    return NothingBehind()


@pytest.fixture(scope="module")
def deployed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, llmock_server: Any
) -> Iterator[Deployed]:
    """With the `offline` model, or for modules with `SCRIPTED` with one that says what tests tell it."""
    model = {}
    if getattr(request.module, "SCRIPTED", False):
        url = llmock_server.base_url("anthropic")
        model = {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": url}
    served = Served(tmp_path_factory.mktemp("dev") / "state", None, "dev", **model)
    served.start()
    url = served.ready["api_url"]
    yield Deployed(url, "", Credentials("", ""), LocalIssuer.from_state(served.state, url), served.state)
    assert served.stop() == (0, "")
