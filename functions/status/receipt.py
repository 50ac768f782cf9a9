"""What a session has cost: the counts of its head, in dollars (design §3)."""

from typing import NamedTuple

from shared.api.app import Api
from shared.api.response.envelope import Response, success
from shared.api.response.receipt_view import receipt_view
from shared.domain.errors import SessionNotFound
from shared.domain.session.head import Head
from shared.domain.spending.aws_prices import AwsPrices
from shared.domain.spending.receipt import Receipt, receipt_of
from shared.ports.log import SessionLog


class ReceiptMaker(NamedTuple):
    """Knows the deployment's prices. `architecture`: of its functions."""

    prices: AwsPrices
    architecture: str

    def of(self, head: Head) -> Receipt:
        return receipt_of(head, self.prices, self.architecture)


def add_receipt(api: Api, log: SessionLog, receipt: ReceiptMaker) -> None:
    @api.get("/v1/sessions/{session_id}/receipt")
    def of_session(session_id: str) -> Response:
        newest = log.latest(api.caller.tenant, session_id)
        if newest is None or newest.head.deleted:
            raise SessionNotFound("There is no such session.")
        return success(receipt_view(newest.head, receipt.of(newest.head)))
