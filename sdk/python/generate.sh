#!/usr/bin/env bash
# Generates the contract's messages into src/, or into the folder given. test.sh makes the Python that it needs.
set -euo pipefail
cd "$(dirname "$0")"
"${PYTHON:-../../.cache/python/venv/bin/python}" -m grpc_tools.protoc -I../../proto \
	--python_out="${1:-src}" --pyi_out="${1:-src}" mcphost/plugin/v1/plugin.proto
