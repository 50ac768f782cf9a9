"""The limit on long polls on DynamoDB: one item for the whole deployment.

pk    sk    attributes
D     W     f share of the wait that is given, ttl until when it holds
"""

from datetime import datetime

from acta_engine.limits.long_poll_rules import LongPolls
from acta_engine.limits.store import LIMIT_LIFE
from acta_engine.store.query import DeploymentTable

_KEY = {"pk": {"S": "D"}, "sk": {"S": "W"}}


class DynamoLongPolls(DeploymentTable):
    def get(self, now: datetime) -> LongPolls:
        item = self._dynamodb.call("get_item", TableName=self._table, Key=_KEY).get("Item")
        if item is None or int(item["ttl"]["N"]) <= now.timestamp():
            return LongPolls()
        return LongPolls(min(1.0, max(0.0, float(item["f"]["N"]))))

    def put(self, limit: LongPolls, now: datetime) -> None:
        until = {"N": str(int((now + LIMIT_LIFE).timestamp()))}
        item = {**_KEY, "f": {"N": f"{limit.share:.4f}"}, "ttl": until}
        self._dynamodb.call("put_item", TableName=self._table, Item=item)
