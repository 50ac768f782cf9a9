"""F2, tenants by IAM: code that is wrong about whose data it asks for meets the store's refusal.

The code is Acta's, broken on purpose: deployed so, against the policies that the local AWS enforces, and in this
process, where `tests/doubles/iam` says what the deployed policies allow of all that each function may ask for. What
each policy allows: `tests/infra/test_one_tenant_at_a_time.py`.
"""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from acta.engine.app import App
from acta.engine.bound_tenant import bound_to
from acta.engine.clock import SystemClock
from acta.engine.errors import AwsDenied
from acta.engine.limits.dynamodb import DynamoLongPolls
from acta.engine.limits.long_polls import LongPollLimit
from acta.engine.log.dynamodb import DynamoPartials
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.s3 import S3Blobs
from acta.engine.settings import Settings
from acta.infra.lambdas.grants import GRANTS
from tests.api.gateway import Answer, Gateway, api_of, claims
from tests.aws.test_tenant_credentials import ATTEMPTS, Function
from tests.conftest import Deployed
from tests.doubles.iam.account import Account, Role, Store
from tests.doubles.iam.policies import Document
from tests.doubles.iam.requests import TABLES
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person, refused

BY_TENANT = [name for name, grants in GRANTS.items() if grants.by_tenant]
FILE = "salaries.csv"
ACCOUNT = TABLES.split(":")[4]
"""The number that the evaluator has for the account."""
BROKEN = "acta/engine/store/table_layout"
MISTAKE = """
import os

_right = session_pk

def session_pk(tenant, session_id):
    return _right(os.environ["MISTAKEN_FOR"], session_id)
"""
"""At the end of the module: whoever asks, the key is of one tenant's session."""
UNLIMITED: tuple[Document, ...] = ({"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}},)


class Worker(NamedTuple):
    """Of one function, with the roles that it has in the deployment. `variables`: its own."""

    variables: Mapping[str, str]
    function: Function


@pytest.fixture
def working(behind: Behind, deployed: Deployed) -> Callable[..., Worker]:
    store = Store(deployed.aws_endpoint_url, behind.keys)

    def work(name: str, policies: tuple[Document, ...] = ()) -> Worker:
        """`policies`: the second role's, in place of the deployed ones."""
        found = behind.client("lambda").get_function_configuration(FunctionName=f"acta-local-{name}")
        variables = found["Environment"]["Variables"]
        own, second = found["Role"], variables["ACTA_TENANT_ROLE"]
        assert trusted(behind, second) == [own]
        account = Account(
            Role(own, deployed_policies(behind, own)),
            Role(second, policies or deployed_policies(behind, second), trusts=own),
            store=store,
        )
        buckets = variables["ACTA_BUCKET"], variables["ACTA_SESSION_BUCKET"]
        credentials = account.credentials(second, account.running_as(own), *buckets)
        dynamodb, s3 = (account.client(service, credentials) for service in ("dynamodb", "s3"))
        return Worker(
            variables,
            Function(account, dynamodb, s3, variables["ACTA_TABLE"], variables["ACTA_BUCKET"]),
        )

    return work


def deployed_policies(behind: Behind, arn: str) -> tuple[Document, ...]:
    """All that the role has, and no managed one beside them."""
    iam, name = behind.client("iam"), arn.rpartition("/")[2]
    assert iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"] == []
    found = [
        iam.get_role_policy(RoleName=name, PolicyName=each)["PolicyDocument"]
        for each in iam.list_role_policies(RoleName=name)["PolicyNames"]
    ]
    number = arn.split(":")[4]
    documents: list[Document] = json.loads(
        json.dumps(found).replace(f":{number}:table/", f":{ACCOUNT}:table/")
    )
    return tuple(documents)


def trusted(behind: Behind, arn: str) -> list[str]:
    """Who may assume the role."""
    role = behind.client("iam").get_role(RoleName=arn.rpartition("/")[2])["Role"]
    return [each["Principal"]["AWS"] for each in role["AssumeRolePolicyDocument"]["Statement"]]


@pytest.fixture
def victim(admit: Admit) -> Person:
    person = admit(user="boss")
    person.put_file(FILE, "all salaries")
    return person


@pytest.mark.parametrize("name", BY_TENANT)
def test_whatever_a_function_asks_the_store_for_it_gets_its_own_tenants_and_nobody_elses(
    working: Callable[..., Worker], behind: Behind, victim: Person, admit: Admit, name: str
) -> None:
    """The mistake is in whose data a repository is asked for; bound is who sent the request."""
    session_id, mallory = victim.start(), admit()
    own = mallory.start()
    before = [behind.items_but_usage(victim.tenant), behind.objects_of(victim.tenant)]
    function = working(name).function
    with bound_to(mallory.tenant):
        assert function.log.latest(mallory.tenant, own) is not None
        with pytest.raises(AwsDenied):
            function.log.latest(victim.tenant, session_id)
        for attempt in ATTEMPTS.values():
            with pytest.raises(AwsDenied):
                attempt(function, victim.tenant)
    with pytest.raises(AwsDenied):
        function.log.latest(victim.tenant, session_id)  # with nobody bound
    assert [behind.items_but_usage(victim.tenant), behind.objects_of(victim.tenant)] == before


class ForAnother:
    """A repository with a mistake: whichever tenant it is asked for, it asks the store for this one."""

    def __init__(self, repository: Any, tenant: str) -> None:
        self._repository = repository
        self._tenant = tenant

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._repository, name)
        return lambda tenant, *args, **more: method(self._tenant, *args, **more)


def broken_status(worker: Worker, victim: Person) -> Callable[[Person, str], Answer]:
    """The deployed function's handler, with its settings, but for the mistake: by person and path."""
    table, clock, function = worker.variables["ACTA_TABLE"], SystemClock(), worker.function
    handler = api_of(
        "status",
        App(
            Settings.from_environ(worker.variables),
            log=ForAnother(function.log, victim.tenant),
            blobs=S3Blobs(worker.variables["ACTA_SESSION_BUCKET"], function.s3),
            session_index=ForAnother(DynamoIndex(table, clock, function.dynamodb), victim.tenant),
            partials=ForAnother(DynamoPartials(table, function.dynamodb), victim.tenant),
            long_poll_limit=LongPollLimit(DynamoLongPolls(table, function.dynamodb), clock),
            clock=clock,
            audit=None,
            limiter=None,
        ),
    ).handler
    roles = '["member"]'  # as the local issuer sends them
    return lambda person, path: Gateway(handler, claims(person.tenant, person.name, roles)).request(
        "GET", path
    )


def test_a_handler_with_a_mistake_in_it_answers_that_it_cannot_and_shows_nothing(
    working: Callable[..., Worker], victim: Person, admit: Admit
) -> None:
    session_id, mallory = victim.start(), admit()
    paths = ("/v1/sessions", f"/v1/sessions/{session_id}", f"/v1/sessions/{session_id}/messages")
    ask = broken_status(working("status"), victim)
    for path in paths:
        answer = ask(mallory, path)
        assert (answer.status, answer.error["code"]) == (503, "UNAVAILABLE")
        assert session_id not in answer.body.decode()
        assert ask(victim, path).status == 200, "where the mistake does no harm it works"


def test_what_waits_is_found_by_its_key_with_the_rights_to_its_own_tenant_alone(
    working: Callable[..., Worker], behind: Behind, victim: Person, admit: Admit
) -> None:
    victim.put_file("old.txt", "old")
    victim.asked(victim.start("Delete the file old.txt"))
    mallory, clock = admit(), SystemClock()
    asked = [one["intervention_id"] for one in victim.items("/v1/interventions", state="pending")]
    function, table = working("status").function, behind.settings["ACTA_TABLE"]
    index = DynamoIndex(table, clock, function.dynamodb)

    def found(tenant: str) -> list[str]:
        page = index.interventions(tenant, state="pending", limit=9, cursor=None)
        return [one.intervention_id for one in page.items]

    with bound_to(victim.tenant):
        assert found(victim.tenant) == asked != []
    with bound_to(mallory.tenant):
        assert found(mallory.tenant) == []
        with pytest.raises(AwsDenied):
            found(victim.tenant)


def test_what_refuses_is_the_session_policy_even_where_the_role_may_do_everything(
    working: Callable[..., Worker], victim: Person, admit: Admit
) -> None:
    session_id, mallory = victim.start(), admit()
    ask = broken_status(working("status", UNLIMITED), victim)
    assert ask(mallory, f"/v1/sessions/{session_id}").status == 503
    assert ask(victim, f"/v1/sessions/{session_id}").status == 200


def broken(code: bytes) -> bytes:
    """The zip with the mistake in it. Of the module, bytecode would run in the source's place."""
    data = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(code)) as own,
        zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as changed,
    ):
        for one in own.infolist():
            content = own.read(one)
            if one.filename == f"{BROKEN}.py":
                content += MISTAKE.encode()
            if "__pycache__/table_layout." not in one.filename:
                changed.writestr(one, content)
    return data.getvalue()


@pytest.mark.thorough
def test_deployed_code_with_a_mistake_in_a_key_neither_shows_nor_deletes_another_tenants_session(
    behind: Behind, victim: Person, admit: Admit
) -> None:
    session_id, mallory = victim.start("List my files"), admit()
    victim.finished(session_id)
    path, functions = f"/v1/sessions/{session_id}", ("status", "intervene")
    with (
        behind.running("status", broken(behind.code("status"))),
        behind.running("intervene", broken(behind.code("intervene"))),
        behind.configured(*functions, MISTAKEN_FOR=victim.tenant),
    ):
        assert victim.get(path).status_code == 200, "where the mistake does no harm it works"
        for asked in (path, f"{path}/messages", f"{path}/events"):
            answer = mallory.get(asked)
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "UNAVAILABLE")
        refused(mallory.delete(path), 503, "UNAVAILABLE")
        refused(mallory.post(f"{path}/cancel"), 503, "UNAVAILABLE")
    assert victim.get(path).status_code == 200
