# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Traces exported for speedscope match the schema of its file format, and have the system calls of `ktrace sql`.
. test/tap.sh
ktrace=build/bin/ktrace
schema=build/test/speedscope/node_modules/speedscope/dist/release/file-format-schema.json

if [ ! -f "$schema" ]; then
	skip "speedscope's schema allows exported traces" \
		"$(cat build/test/speedscope/reason 2>/dev/null || echo "make speedscope-schema was not run")"
	done_testing
fi

check "cmd-traces makes the traces" build/test/cmd-traces "$tmp"
check "danger-traces makes the traces" sh -c 'build/test/danger-traces "$1" >"$1/log"' - "$tmp"
for name in v2 typed pairs 3; do
	"$ktrace" export --format speedscope "$tmp/$name.ktrx" -o "$tmp/profile" >"$tmp/out" 2>&1
	equal "$name is exported" 0 $?
	"$ktrace" sql --json "$tmp/$name.ktrx" 'SELECT name, ts, duration FROM syscalls' >"$tmp/calls" 2>"$tmp/err"
	equal "$name: the file is as the schema wants, and has all system calls" '' \
		"$(python3 test/speedscope/check.py "$schema" "$tmp/profile" "$tmp/calls" 2>&1)"
done
done_testing
