"""`python -m infra.local.emulator`: the local AWS. Exits 0 after SIGTERM or SIGINT, else 1."""

from __future__ import annotations

import sys

from infra.local.emulator import ministack, own_environment, saved_state, settings


def main() -> int:
    chosen = settings.from_arguments(sys.argv[1:], sys.stdin.buffer)
    try:
        ministack.require_release()
        own_environment.clean_environment(chosen)
        with saved_state.claimed(chosen):
            from infra.local.emulator import patches, server  # they import ministack
            from infra.local.emulator.access import principals

            patches.apply_all(chosen)
            with principals.operator(chosen):
                server.serve(chosen)
    except (ministack.WrongRelease, saved_state.StateDirectoryInUse, OSError) as error:
        print(f"acta emulator: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
