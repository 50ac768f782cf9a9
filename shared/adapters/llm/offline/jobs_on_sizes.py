"""Questions about sizes, answered from the listing alone."""

from shared.adapters.llm.offline.goals import Sizes
from shared.adapters.llm.offline.results import Listed
from shared.adapters.llm.offline.stages import Facts, listing_stage, plural


def sizes(facts: Facts, task: Sizes) -> str:
    listing = listing_stage(task.files.folder).told(facts)
    if listing.status == "failed":
        return listing.text
    found = [
        entry
        for entry in facts.entries(task.files.folder)
        if not entry.is_folder and entry.size is not None and task.files.fits(entry.path, entry.size)
    ]
    if not found:
        return f"There are no {task.files.described()}."
    ranked = sorted(found, key=lambda entry: (_size(entry), entry.path))
    if task.order == "largest":
        ranked = sorted(found, key=lambda entry: (-_size(entry), entry.path))
    if task.order == "total":
        total = sum(map(_size, found))
        lines = [f"{plural(total, 'byte')} in {plural(len(found), 'file')}."]
    elif task.most == 1:
        first = ranked[0]
        same = [entry.path for entry in ranked[1:] if entry.size == first.size]
        also = f" As large: {', '.join(same[:10])}." if same else ""
        lines = [f"The {task.order} file is {_shown(first)}.{also}"]
    else:
        lines = [f"The {task.order} files:", *(f"- {_shown(entry)}" for entry in ranked[: task.most])]
    if facts.listing_cut(task.files.folder):
        lines.append("The listing was cut, so there are more files than I know of.")
    return "\n".join(lines)


def _size(entry: Listed) -> int:
    return entry.size or 0


def _shown(entry: Listed) -> str:
    return f"{entry.path} ({plural(_size(entry), 'byte')})"
