#!/usr/bin/env bash
# Tests the Python SDK and the example in Python: makes a virtual environment in .cache/python, installs the package as a wheel into it, checks its
# types and runs pytest with the arguments given. Nothing is installed elsewhere.
set -euo pipefail
cd "$(dirname "$0")"
cache=$(cd ../.. && pwd)/.cache/python
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))') # not a shim
venv=$cache/venv
mkdir -p "$cache"
exec 9>"$cache/lock" && flock 9
stamp=$({ cat requirements-test.txt; "$python" -V; } | sha256sum)
if [ "$(cat "$venv/stamp" 2>/dev/null)" != "$stamp" ]; then
	rm -rf "$venv"
	"$python" -m venv "$venv"
	"$venv/bin/pip" install -q --disable-pip-version-check --no-input -r requirements-test.txt
	echo "$stamp" >"$venv/stamp"
fi
"$venv/bin/pip" install -q --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall .
"$venv/bin/python" -m mypy
"$venv/bin/python" -m mypy ../../examples/python-sqlite/plugin.py
"$venv/bin/python" -m pytest tests ../../examples/python-sqlite "$@"
