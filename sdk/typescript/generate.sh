#!/bin/sh
# Generates src/gen from the contract in ../../proto and the two services of go-plugin in proto. Needs what `make proto`
# builds and `npm ci` installs. With --check it fails, and changes nothing, where the committed code is another.
set -eu
cd "$(dirname "$0")"
make -s -C ../.. "$(cd ../.. && pwd)/.tools/buf"
if [ "${1-}" = --check ]; then
	fresh=$(mktemp -d)
	trap 'rm -rf "$fresh"' EXIT
	cp -r proto buf.gen.yaml "$fresh"
	sed -i "s|\.\./\.\./proto|$(cd ../../proto && pwd)|; s|node_modules|$(pwd)/node_modules|" "$fresh/buf.gen.yaml"
	(cd "$fresh" && "$OLDPWD/../../.tools/buf" generate)
	diff -r "$fresh/src/gen" src/gen || { echo "run sdk/typescript/generate.sh" >&2; exit 1; }
else
	../../.tools/buf generate
fi
