"""What is there of an environment is told with what to do, above all where its last deployment failed."""

import json

import pytest

from acta.cli.exit_codes import CliError
from acta.cli.operations.deploy import show_outputs, tell_what_is_left
from acta.cli.operations.logs import require_deployed
from acta.cli.operations.target import OperatorTarget
from acta.infra.deployed.account import CallerIdentity
from acta.infra.environments import DEV
from tests.infra.test_changes import Account, stack

CHOSEN = OperatorTarget(DEV, CallerIdentity("123456789012", "eu-west-1", "arn"))
DATA, SESSIONS, FUNCTIONS = "Acta-dev-Stateful", "Acta-dev-Sessions", "Acta-dev-Stateless"
WHOLE = Account(
    {
        DATA: stack("CREATE_COMPLETE"),
        SESSIONS: stack("CREATE_COMPLETE"),
        FUNCTIONS: stack(ApiUrl="https://api.example"),
    }
)
BROKEN = Account(
    {
        DATA: stack("CREATE_COMPLETE"),
        SESSIONS: stack("CREATE_COMPLETE"),
        FUNCTIONS: stack("ROLLBACK_COMPLETE"),
    }
)


def test_a_deployment_that_is_whole_has_its_outputs_and_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_outputs(CHOSEN, as_json=False, client=WHOLE) == 0
    shown = capsys.readouterr()
    assert shown.out.split() == ["ApiUrl", "https://api.example"]
    assert shown.err == ""


def test_where_the_last_deployment_failed_it_says_which_stacks_are_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert show_outputs(CHOSEN, as_json=False, client=BROKEN) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"there is {DATA} (CREATE_COMPLETE), {SESSIONS} (CREATE_COMPLETE)" in shown.err
    assert f"missing is {FUNCTIONS}" in shown.err
    for command in ("acta deploy --env dev", "acta destroy --env dev"):
        assert command in shown.err
    assert show_outputs(CHOSEN, as_json=True, client=BROKEN) == 1
    assert json.loads(capsys.readouterr().out)["outputs"] == {}


@pytest.mark.parametrize(
    ("status", "words"),
    [("UPDATE_ROLLBACK_COMPLETE", "failed"), ("UPDATE_IN_PROGRESS", "being changed just now")],
)
def test_an_update_that_failed_or_is_under_way_is_said_and_its_outputs_stand(
    status: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    account = Account({name: stack(status, ApiUrl="u") for name in (DATA, SESSIONS, FUNCTIONS)})
    assert show_outputs(CHOSEN, as_json=False, client=account) == 0
    shown = capsys.readouterr()
    assert shown.out.split() == ["ApiUrl", "u"]
    assert words in shown.err


def test_a_deployment_that_fails_ends_with_what_is_left_and_what_is_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for account in (BROKEN, Account({FUNCTIONS: stack("ROLLBACK_COMPLETE")})):
        assert tell_what_is_left(CHOSEN, account) == 1
        assert f"{FUNCTIONS} (ROLLBACK_COMPLETE)" in (told := capsys.readouterr().err)
        assert "acta deploy --env dev" in told
        assert "acta destroy --env dev" in told
    assert tell_what_is_left(CHOSEN, Account({}, refuses="AccessDenied")) == 1
    assert "AccessDenied" in capsys.readouterr().err


def test_logs_of_what_is_not_deployed_are_not_looked_for_in_vain() -> None:
    with pytest.raises(CliError, match="environment dev is not deployed in account 123456789012"):
        require_deployed(CHOSEN, Account({}))
    require_deployed(CHOSEN, WHOLE)
    require_deployed(CHOSEN, Account({}, refuses="AccessDenied"))
