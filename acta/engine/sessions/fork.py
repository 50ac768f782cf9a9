"""Forks a session: a new one goes on from the end of one of its turns, with a copy of the conversation (ADR 70).

The copy is all that the fork has of its parent, so the parent may be deleted. What gives rights or belongs to work
under way stays behind: approvals, questions, open calls, ids of effects, leases, tokens, what was spent.
"""

from collections.abc import Sequence

from acta.engine.clock import MESSAGE, RUN, SESSION
from acta.engine.errors import Conflict, PoisonedSession, ValidationFailed
from acta.engine.log.beside import BlobMissing
from acta.engine.log.commit import Change, Commit, Decision
from acta.engine.log.conversation import AssistantEntry, Compacted, Content, Entry, ToolEntry, UserEntry
from acta.engine.log.events import RunStarted
from acta.engine.log.head import MAX_WRITERS, ForkedFrom, Head, Progress, Run
from acta.engine.log.repository import Session, SessionRepository
from acta.engine.people.requester import Requester
from acta.engine.plans.plan import without_permissions
from acta.engine.sessions.start import NewSession, begin_run, create, empty_head
from acta.engine.turn.engine import Workflow, next_turn_kind, position

PIECE = 50
"""How many commits one read takes while the end of a turn is looked for."""
MOST_RESULTS, MOST_RESULT_BYTES = 50, 33_554_432
"""The most complete results for `read_result` that are copied, the newest first, and the most bytes of them."""
NOTE = (
    "This session was forked from another one, which had the conversation up to here. Files are as they are now, and "
    "not as they were then: read again what you rely on. What a person had approved there is not approved here. Agents "
    "that were called there work on for that session; only what they had answered by then is here."
)


def parent_at(
    repository: SessionRepository, requester: Requester, session_id: str, at: int | None
) -> Session:
    """The parent at the end of the turn that the event `at` belongs to; None: of its newest one that has ended.

    Raises SessionNotFound, ValidationFailed where it has no such event, and Conflict where no turn has ended there.
    """
    newest = repository.newest(requester.tenant, session_id)
    commits = _until_newest(repository, newest) if at is None else _until_event(repository, newest, at)
    try:
        return repository.replayed(commits)
    except PoisonedSession:
        repository.newest(requester.tenant, session_id)  # raises where it was deleted meanwhile
        raise


def fork(
    repository: SessionRepository, workflow: Workflow, requester: Requester, parent: Session, new: NewSession
) -> Head:
    """Commits the fork, then starts the engine. `parent`: as it stood at the end of a turn (`parent_at`). Without a
    message the fork goes on with the parent's run; where that had ended at that turn, it stays `idle`.

    Raises KeyTaken, LimitReached, Conflict where too many people have written to the parent, ValidationFailed as
    `start` does, and what the stores and the engine raise.
    """
    if parent.head.private_to is not None and new.settings.visibility != "private":
        sentence = "What a private session has is its owner's alone: its forks are private."
        raise ValidationFailed("The fork of a private session is private.", {"visibility": [sentence]})
    clock = repository.clock
    now, before = clock.now(), parent.head
    head = empty_head(requester, new, clock.new_id(SESSION), now).model_copy(
        update=_inherited(before, requester)
    )
    change = Change(head, number=1, now=now)
    decision: Decision | None = None
    message: tuple[UserEntry, ...] = ()
    if new.message is not None:
        change.first_state("planning")
        run_id, message_id = clock.new_id(RUN), clock.new_id(MESSAGE)
        decision = begin_run(change, run_id, message_id, new.message, new.max_steps, requester)
        message = (UserEntry(message_id=message_id, content=Content.of(new.message)),)
    elif before.is_over or before.ending is not None or before.run is None:
        change.first_state("idle")
    else:
        decision = _go_on(change, clock.new_id(RUN), before.run, new.max_steps)
    # the model's next request says where the conversation comes from
    change.set(progress=Progress(hint=NOTE))
    note = repository.begin_texts(change.head)
    change.compact(_copied(repository, parent, change.head, message))
    return create(repository, workflow, requester, new, "fork", change, decision, note)


def _inherited(head: Head, requester: Requester) -> dict[str, object]:
    """What the fork takes over from its parent's head. The people who have asked the parent's agent for something count
    as askers of the fork, too.
    """
    writers = tuple(sorted(head.askers - {requester.user}))
    if len(writers) > MAX_WRITERS:
        raise Conflict(f"More than {MAX_WRITERS} people have written to this session: it cannot be forked.")
    return {
        "goal": head.goal,
        "plan": None if head.plan is None else without_permissions(head.plan),
        "scratchpad": head.scratchpad,
        "writers": writers,
        "roles": tuple(role for role in head.roles if role in requester.roles),
        "read_outside": head.read_outside,
        "forked_from": ForkedFrom(session_id=head.session_id, seq=head.last_seq),
    }


def _go_on(change: Change, run_id: str, before: Run, max_steps: int) -> Decision:
    """The parent's run, as one of the fork's own: for the same goal, with counters that begin anew."""
    run = Run(run_id=run_id, first=1, max_steps=max_steps, goal_id=before.goal_id)
    change.first_state("planning")
    change.set(run=run)
    change.event(RunStarted(run_id=run_id))
    kind = next_turn_kind(change.head)
    if kind == "think":
        change.to_state("executing")
    return Decision(next=kind, at=position(change.head))


def _copied(
    repository: SessionRepository, parent: Session, fork: Head, message: tuple[UserEntry, ...]
) -> Compacted:
    """The parent's conversation, in which nothing refers to the parent. `message`: what the fork begins with, which its
    next turn delivers.
    """
    results = tuple(entry for entry in parent.pending(parent.orphans()) if isinstance(entry, ToolEntry))
    found = [entry for entry in (*parent.entries, *results) if isinstance(entry, ToolEntry)]
    wholes = _copied_results(repository, parent.head, fork, found)
    return Compacted(
        entries=tuple(_own(entry, wholes) for entry in parent.entries),
        waiting=message,
        results=tuple(_own_result(entry, wholes) for entry in results),
    )


def _copied_results(
    repository: SessionRepository, parent: Head, fork: Head, results: list[ToolEntry]
) -> dict[str, Content]:
    """The complete results that the fork takes over, by the names of their texts, the newest first. A name is made from
    the text, so the handles that the model was told stay valid. A result that is missing is as unknown to the fork as
    to the parent. Raises SessionNotFound where the parent was deleted meanwhile.
    """
    copied: dict[str, Content] = {}
    left = MOST_RESULT_BYTES
    for entry in reversed(results):
        whole = entry.whole
        if whole is None or whole.blob is None or whole.blob in copied:
            continue
        left -= whole.bytes
        if left < 0 or len(copied) == MOST_RESULTS:
            break
        try:
            text = repository.text(parent, whole.blob)
        except BlobMissing:
            repository.newest(parent.tenant, parent.session_id)  # raises where it was deleted
            continue
        copied[whole.blob] = repository.keep(fork, Content.of(text))
    return copied


def _own(entry: Entry, wholes: dict[str, Content]) -> Entry:
    match entry:
        case ToolEntry():
            return _own_result(entry, wholes)
        case AssistantEntry():
            calls = tuple(call.model_copy(update={"effect_id": ""}) for call in entry.calls)
            return entry.model_copy(update={"content": _in_place(entry.content), "calls": calls})
        case UserEntry():
            return entry.model_copy(update={"content": _in_place(entry.content)})


def _own_result(entry: ToolEntry, wholes: dict[str, Content]) -> ToolEntry:
    whole = wholes.get(entry.whole.blob or "") if entry.whole is not None else None
    return entry.model_copy(update={"content": _in_place(entry.content), "whole": whole})


def _in_place(content: Content) -> Content:
    """The text itself, because the blob that it is stored in is the parent's."""
    return Content.of(content.loaded)


def _until_newest(repository: SessionRepository, newest: Session) -> list[Commit]:
    head = newest.head
    commits = repository.commits(head.tenant, head.session_id, max(1, head.compacted_at))
    ends = [commit.number for commit, is_end in _ends_of_turns(repository, commits) if is_end]
    if not ends:
        raise Conflict("No turn of the session has ended yet. Try again later, or start another session.")
    return [commit for commit in commits if commit.number <= ends[-1]]


def _until_event(repository: SessionRepository, newest: Session, at: int) -> list[Commit]:
    head = newest.head
    if at > head.last_seq:
        raise ValidationFailed(
            "There is no such event.", {"at": [f"The newest event has number {head.last_seq}."]}
        )
    holds_it = _commit_of(repository, newest, at)
    begin = max(1, holds_it.head.compacted_at)
    commits = repository.commits(head.tenant, head.session_id, begin, holds_it.number + 1 - begin)
    while True:
        ends = (c.number for c, is_end in _ends_of_turns(repository, commits) if is_end)
        end = next((number for number in ends if number >= holds_it.number), None)
        if end is not None:
            return [commit for commit in commits if commit.number <= end]
        further = repository.commits(head.tenant, head.session_id, commits[-1].number + 1, PIECE)
        if not further:
            raise Conflict(
                "The turn of this event has not ended: calls of it have no result yet. Name an earlier event, or wait."
            )
        commits += further


def _commit_of(repository: SessionRepository, newest: Session, seq: int) -> Commit:
    """The first commit after which there is an event of that number, in a number of reads that grows with the log's
    logarithm.
    """
    low, high = 1, newest.number
    while low < high:
        middle = (low + high) // 2
        (commit,) = repository.commits(newest.head.tenant, newest.head.session_id, middle, 1)
        if commit.head.last_seq >= seq:
            high = middle
        else:
            low = middle + 1
    (found,) = repository.commits(newest.head.tenant, newest.head.session_id, low, 1)
    return found


def _ends_of_turns(repository: SessionRepository, commits: Sequence[Commit]) -> list[tuple[Commit, bool]]:
    """Whether after each of the commits the newest turn has ended: its reply is there, and each of its calls has its
    result, or will get none because the run is over. A run that no turn has shown its first message has no turn yet,
    whatever the runs before it have.
    """
    session, found = repository.unloaded(commits[0]), []
    for commit in commits:
        if commit.number > session.number:
            session.fold(commit)
        head, has_reply = commit.head, session.last_reply is not None
        is_begun = head.run is None or head.run.goal_id not in head.undelivered
        found.append((commit, has_reply and (head.is_over or (is_begun and not head.unfinished_calls))))
    return found
