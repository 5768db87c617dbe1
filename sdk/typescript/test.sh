#!/bin/sh
# Installs what is pinned into node_modules, builds, and tests; then the same for the example. Needs Node 20 or later, npm,
# and a bin/mcphost of `make build`.
set -eu
cd "$(dirname "$0")"

# install FOLDER: as npm ci, and not again while the pins are the same. The stamp is written last, so an install that was
# cut short is done again.
install() {
	stamp=$1/node_modules/.installed
	if ! cmp -s "$1/package-lock.json" "$stamp"; then
		(cd "$1" && npm ci --no-audit --no-fund --loglevel=error)
		cp "$1/package-lock.json" "$stamp"
	fi
}

install .
npm test --silent -- "$@"
if [ -x ../../.tools/buf ]; then
	./generate.sh --check
fi

example=../../examples/typescript-readable
# The copy of the SDK in there is the one of its install: take the one just built.
install "$example"
rm -rf "$example/node_modules/@mcphost/sdk/dist"
cp -r dist "$example/node_modules/@mcphost/sdk/dist"
cd "$example"
npm test --silent
