#!/bin/sh
# Prints the first Python >= 3.11 of this machine, or says in one line what has to be installed and fails.
# Plain sh: it runs before anything is there. Node.js is looked for by acta/infra/toolchain.py.
set -eu

fail() {
    echo "acta: $1" >&2
    exit 1
}

python=
for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
    if command -v "$name" >/dev/null 2>&1 &&
        "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        python=$name
        break
    fi
done
[ -n "$python" ] || fail "Python 3.11 or newer is needed and was not found: install it from https://www.python.org/downloads/"
"$python" -c 'import venv, ensurepip' >/dev/null 2>&1 ||
    fail "this Python lacks venv and ensurepip: install them (on Debian and Ubuntu: apt install python3-venv)"

command -v "$python"
