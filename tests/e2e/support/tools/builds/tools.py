"""A tool that answers later. It leaves its callback URL in a file, where the test's program finds it."""

from acta import Call, LaterAnswer, later, tool


@tool(effect="once", high_stakes=False, files="write", later=3_600)
def start_build(ref: str, call: Call) -> LaterAnswer:
    """Builds a branch."""
    call.files.write_text(f"urls/{ref}", call.callback_url)
    return later()
