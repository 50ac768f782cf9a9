"""Traces on the deployed stack: commits are handed over, and an endpoint gets their spans."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.e2e.support.behind import Behind

TRACES = "acta-local-traces"


@contextmanager
def exporting(behind: Behind, url: str) -> Iterator[None]:
    """The deployed mapping is off, as in every local stack that names no endpoint; meanwhile it is on."""
    queue = queue_url(behind)
    with (
        behind.configured("traces", ACTA_TRACES_URL=url),
        behind.configured("usage", ACTA_TRACES_QUEUE_URL=queue),
    ):
        mapping = mapping_of(behind)
        switch(behind, mapping, on=True)
        try:
            yield
        finally:
            switch(behind, mapping, on=False)
            behind.client("sqs").purge_queue(QueueUrl=queue)


def queue_url(behind: Behind) -> str:
    return str(behind.client("sqs").get_queue_url(QueueName=TRACES)["QueueUrl"])


def mapping_of(behind: Behind) -> str:
    found = behind.client("lambda").list_event_source_mappings(FunctionName=TRACES)["EventSourceMappings"]
    (only,) = found
    return str(only["UUID"])


def switch(behind: Behind, mapping: str, *, on: bool) -> None:
    changed: Any = behind.client("lambda").update_event_source_mapping(UUID=mapping, Enabled=on)
    assert changed["State"] in ({"Enabled", "Enabling"} if on else {"Disabled", "Disabling"})
