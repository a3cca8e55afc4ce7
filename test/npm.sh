#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
#	npm.sh NAME
#
# Installs the npm packages of the lock file in test/NAME into build/test/NAME, unless they are there already.
# npm downloads them from its configured registry; scripts of packages are not run. If that fails, the reason is
# written to build/test/NAME/reason; tests that need the packages print it and are skipped.
set -u
here=test/$1
folder=build/test/$1

fail() {
	printf '%s\n' "$1" >"$folder/reason"
	echo "$here: $1" >&2
	exit 0
}

mkdir -p "$folder" || exit 1
# The lock file is copied last: if the copy exists, the installation is complete.
if [ -d "$folder/node_modules" ] && cmp -s "$here/package-lock.json" "$folder/installed.json"; then
	exit 0
fi
rm -rf "$folder/node_modules" "$folder/installed.json" "$folder/reason"
for tool in node npm; do
	command -v $tool >/dev/null || fail "$tool is not installed"
done
cp "$here/package.json" "$here/package-lock.json" "$folder"
package=$(sed -n 's|.*"\([^"]*\)": "\([0-9][^"]*\)".*|\1 \2|p' "$here/package.json")
echo "Installing $package (npm)" >&2
(cd "$folder" && timeout -k 5 300 npm ci --ignore-scripts --omit=optional --no-audit --no-fund --fetch-retries=1 \
	--fetch-timeout=60000 >npm.log 2>&1 </dev/null)
status=$?
case $status in
0) ;;
124 | 137) reason="it did not end within 300 s" ;;
*) reason=$(sed -nE 's/^npm (ERR!|error) (code )?//p' "$folder/npm.log" | head -n 1) ;;
esac
[ "$status" -eq 0 ] || fail "npm cannot install $package: ${reason:-exit status $status} ($folder/npm.log)"
cp "$here/package-lock.json" "$folder/installed.json"
