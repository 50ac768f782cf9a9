"""A deployment whose table and buckets are moto's, and whose sessions a house in this process has made."""

from collections.abc import Mapping, Sequence
from typing import Any

from acta.engine.files.s3 import S3FileStore
from acta.engine.log.dynamodb import DynamoAttempts, DynamoLog
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.repository import SessionRepository
from acta.engine.log.s3 import S3Blobs
from acta.infra.deployed.tenants.stores import Names, TenantStores
from acta.testing.clock import FakeClock
from tests.in_process.family import FamilyHouse, Scripts
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel, Turn
from tests.stores.backends import Aws

AUDIT = "audit"


def stores_on(aws: Aws, clock: FakeClock) -> TenantStores:
    names = Names("staging", aws.table, aws.bucket, aws.bucket, AUDIT)
    return TenantStores(names, aws.dynamodb, aws.s3, clock)


class Stored(House):
    """Sessions of the tenant `acme`, with their items and objects in `aws`."""

    def store_in(self, aws: Aws) -> None:
        self._aws = aws
        self.log = DynamoLog(aws.table, self.clock, aws.dynamodb)
        self.index = DynamoIndex(aws.table, self.clock, aws.dynamodb)
        self.blobs = S3Blobs(aws.bucket, aws.s3)
        self.attempts = DynamoAttempts(aws.table, aws.dynamodb)
        self.stored_files = S3FileStore(aws.bucket, aws.s3)

    def fresh_repository(self) -> SessionRepository:
        log = DynamoLog(self._aws.table, self.clock, self._aws.dynamodb)
        blobs = S3Blobs(self._aws.bucket, self._aws.s3)
        settings = self.settings
        return SessionRepository(
            log, blobs, self.clock, write_version=settings.write_version, limits=settings.limits
        )

    @property
    def stores(self) -> TenantStores:
        return stores_on(self._aws, self.clock)


class StoredHouse(Stored):
    def __init__(self, aws: Aws, turns: Sequence[Turn], **settings: Any) -> None:
        self._aws = aws
        super().__init__(ScriptedModel(turns), **settings)
        self.store_in(aws)


class StoredTree(FamilyHouse, Stored):
    """Agents that call each other."""

    def __init__(self, aws: Aws, scripts: Scripts, agents: Mapping[str, Mapping[str, Any]]) -> None:
        self._aws = aws
        super().__init__(scripts, agents)
        self.store_in(aws)
        self.runtime = self.app().tool_runtime
