"""What a worker pays that starts in the middle of a session: it reads the log, and the texts it points to."""

from acta.engine.turn.engine import position
from tests.bench.growth import Figures
from tests.bench.stand.stand import TENANT, Stand


def cold_read(stand: Stand, session_id: str) -> Figures:
    """The step function's first reading: the whole conversation. (The tool function reads its turn, cold or warm.)
    Bytes are what comes over the wire: DynamoDB's compressed and in base64, S3's compressed.
    """
    head = stand.repository().newest(TENANT, session_id).head
    repository = stand.repository(counted=True)
    stand.proxy.take()
    repository.conversation(position(head))
    passed = stand.proxy.take()
    queries = [each for each in passed if each.service == "dynamodb"]
    return {
        "cold_dynamodb_requests": len(queries),
        "cold_rru": sum(each.capacity.rru for each in queries),
        "cold_s3_requests": len(passed) - len(queries),
        "cold_dynamodb_bytes_in": sum(each.received for each in queries),
        "cold_s3_bytes_in": sum(each.received for each in passed if each not in queries),
        "cold_bytes_in": sum(each.received for each in passed),
        "cold_bytes_out": sum(each.sent for each in passed),
    }
