"""The part of the concurrent executions that is in use, according to CloudWatch.

Lambda writes the metric once a minute. Source: Lambda Developer Guide, "Types of metrics for Lambda functions",
concurrency metrics.
"""

from datetime import datetime, timedelta
from typing import Any

from acta.engine.aws.clients import Service

WINDOW = timedelta(minutes=4)
"""How old the newest figure may be."""


class LambdaConcurrency:
    """A LoadMeter. `function`, `reserved`: the function that answers polls, and its reserved concurrency, if it has
    any. Otherwise it shares what the account has left with all functions that have none. `lambdas`, `cloudwatch`:
    botocore clients."""

    def __init__(
        self, function: str = "", reserved: int = 0, lambdas: Any = None, cloudwatch: Any = None
    ) -> None:
        self._function = function if reserved else ""
        self._reserved = reserved
        self._lambdas = Service("lambda", lambdas)
        self._cloudwatch = Service("cloudwatch", cloudwatch)

    def load(self, now: datetime) -> float | None:
        there = self._reserved or self._unreserved()
        used = self._used(now)
        return None if used is None or there < 1 else used / there

    def _unreserved(self) -> int:
        limits = self._lambdas.call("get_account_settings")["AccountLimit"]
        return int(limits["UnreservedConcurrentExecutions"])

    def _used(self, now: datetime) -> float | None:
        """The most at one time in the newest minute that is known."""
        name = "ConcurrentExecutions" if self._function else "UnreservedConcurrentExecutions"
        dimensions = [{"Name": "FunctionName", "Value": self._function}] if self._function else []
        metric = {"Namespace": "AWS/Lambda", "MetricName": name, "Dimensions": dimensions}
        answer = self._cloudwatch.call(
            "get_metric_data",
            MetricDataQueries=[
                {"Id": "used", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Maximum"}}
            ],
            StartTime=now - WINDOW,
            EndTime=now,
            ScanBy="TimestampDescending",
        )
        values = answer["MetricDataResults"][0]["Values"] if answer["MetricDataResults"] else []
        return float(values[0]) if values else None
