"""What a session has cost (design §3)."""

from shared.api.app import Api
from shared.api.response.envelope import Response, success
from shared.api.response.receipt_view import receipt_view
from shared.domain.errors import SessionNotFound
from shared.domain.spending.aws_estimate import AwsRates
from shared.domain.spending.receipt import receipt_of
from shared.ports.log import SessionLog


def add_receipt(api: Api, log: SessionLog, rates: AwsRates) -> None:
    @api.get("/v1/sessions/{session_id}/receipt")
    def of_session(session_id: str) -> Response:
        newest = log.latest(api.caller.tenant, session_id)
        if newest is None or newest.head.deleted:
            raise SessionNotFound("There is no such session.")
        return success(receipt_view(newest.head, receipt_of(newest.head, rates), rates.prices))
