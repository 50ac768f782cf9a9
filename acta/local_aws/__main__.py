"""`python -m acta.local_aws`: the local AWS. Exits 0 after SIGTERM or SIGINT, else 1."""

from __future__ import annotations

import sys

from acta.local_aws import ministack, own_environment, peers, saved_state, settings


def main() -> int:
    chosen = settings.from_arguments(sys.argv[1:], sys.stdin.buffer)
    try:
        ministack.require_release()
        peers.require_known()
        own_environment.clean_environment(chosen)
        with saved_state.claimed(chosen):
            from acta.local_aws import patches, server  # they import ministack
            from acta.local_aws.access import principals

            patches.apply_all(chosen)
            with principals.operator(chosen):
                server.serve(chosen)
    except (ministack.WrongRelease, peers.NobodyKnown, saved_state.StateDirectoryInUse, OSError) as error:
        print(f"local_aws: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
