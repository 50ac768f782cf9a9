"""The buckets and the queues of providers, in memory."""

from datetime import datetime
from heapq import nsmallest
from threading import RLock

from acta.engine.queue.places import (
    PLACES_COUNTED,
    Grant,
    GrantPrice,
    ProviderBucket,
    ProviderLimits,
    QueuePlace,
    QueuePosition,
    in_milliseconds,
)
from acta.engine.store.keys import key_part, tenant_part


class MemoryAdmission:
    def __init__(self) -> None:
        self._lock = RLock()
        self._buckets: dict[str, ProviderBucket] = {}
        self._line: dict[str, dict[tuple[str, int, str], QueuePlace]] = {}
        self._passed_over: dict[QueuePlace, datetime] = {}

    def take(self, provider: str, price: GrantPrice, now: datetime) -> Grant:
        with self._lock:
            bucket, at = self.bucket(provider), in_milliseconds(now)
            if bucket.has_line(at):
                return Grant(False, bucket)
            return self._taken(provider, bucket.after(price, at), bucket)

    def take_for(self, tenant: str, provider: str, price: GrantPrice, now: datetime) -> Grant:
        with self._lock:
            bucket = self.bucket(provider)
            after = bucket.after(price, in_milliseconds(now))
            return self._taken(provider, after and after._replace(last=tenant), bucket)

    def share_out(
        self, last: str, provider: str, price: GrantPrice, now: datetime, until: datetime, mine: int = 0
    ) -> Grant:
        with self._lock:
            bucket, at = self.bucket(provider), in_milliseconds(now)
            if bucket.is_shared(at, mine):
                return Grant(False, bucket)
            after = bucket.after(price, at)
            shared = in_milliseconds(until)
            return self._taken(provider, after and after._replace(last=last, shared=shared), bucket)

    def _taken(self, provider: str, after: ProviderBucket | None, before: ProviderBucket) -> Grant:
        if after is None:
            return Grant(False, before)
        self._buckets[provider] = after
        return Grant(True, after)

    def give_back(self, provider: str, tokens: int, now: datetime) -> None:
        with self._lock:
            self._buckets[provider] = self.bucket(provider).given_back(tokens, in_milliseconds(now))

    def learn(self, provider: str, limits: ProviderLimits, now: datetime) -> None:
        with self._lock:
            bucket = self.bucket(provider)
            self._buckets[provider] = bucket._replace(limits=limits, learnt=in_milliseconds(now))

    def bucket(self, provider: str) -> ProviderBucket:
        with self._lock:
            return self._buckets.get(provider, ProviderBucket())

    def join(self, one: QueuePlace, now: datetime, line_until: datetime) -> QueuePosition:
        with self._lock:
            line = self._line.setdefault(one.provider, {})
            line[_place(one)] = one
            self._passed_over.pop(one, None)
            bucket = self.bucket(one.provider)
            begins = not bucket.has_line(in_milliseconds(now))
            if begins:
                self._buckets[one.provider] = bucket._replace(line=in_milliseconds(line_until))
            own = tenant_part(one.tenant)
            before = sum(place[0] == own and place < _place(one) for place in line)
            return QueuePosition(min(PLACES_COUNTED, before), begins)

    def first_after(self, provider: str, tenant: str) -> QueuePlace | None:
        return next(iter(self.page_after(provider, tenant, 1)), None)

    def next_of(self, one: QueuePlace) -> QueuePlace | None:
        return next(iter(self.page_behind(one, 1)), None)

    def page_after(self, provider: str, tenant: str, most: int) -> list[QueuePlace]:
        with self._lock:
            line = self._line.get(provider, {})
            after = tenant_part(tenant) if tenant else ""
            return [line[place] for place in nsmallest(most, (p for p in line if p[0] > after))]

    def page_behind(self, one: QueuePlace, most: int) -> list[QueuePlace]:
        with self._lock:
            line, own = self._line.get(one.provider, {}), _place(one)
            behind = (place for place in line if place[0] == own[0] and place > own)
            return [line[place] for place in nsmallest(most, behind)]

    def pass_over(self, one: QueuePlace, now: datetime) -> datetime:
        with self._lock:
            return self._passed_over.setdefault(one, now)

    def leave(self, one: QueuePlace) -> None:
        with self._lock:
            self._passed_over.pop(one, None)
            self._line.get(one.provider, {}).pop(_place(one), None)

    def keep_line(self, provider: str, seen: ProviderBucket, until: datetime | None) -> bool:
        with self._lock:
            bucket = self.bucket(provider)
            if bucket.line != seen.line:
                return False
            line = in_milliseconds(until) if until is not None else 0
            self._buckets[provider] = bucket._replace(line=line)
            return True


def _place(one: QueuePlace) -> tuple[str, int, str]:
    return tenant_part(one.tenant), int(one.since.timestamp()), key_part(one.session_id)
