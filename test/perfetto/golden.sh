# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Exports traces for Perfetto, parses the exported traces, and compares the result with
# test/golden/perfetto/NAME.txt. The traces are v1.ktrx in that directory, and those that cmd-traces makes. After
# an intended change: sh test/perfetto/golden.sh --write
. test/tap.sh

# golden NAME TRACE: checks the export of one trace.
golden() {
	check "$1: the export succeeds" build/bin/ktrace export --format perfetto "$2" -o "$tmp/perfetto"
	build/test/perfetto-text "$tmp/perfetto" >"$tmp/text" || echo "not readable" >>"$tmp/text"
	[ "$write" = no ] || cp "$tmp/text" "test/golden/perfetto/$1.txt"
	same "$1: the exported trace is as expected" "test/golden/perfetto/$1.txt" "$tmp/text"
}

[ "${1-}" = --write ] && write=yes || write=no
check "cmd-traces makes the traces" build/test/cmd-traces "$tmp"
golden v1 test/golden/perfetto/v1.ktrx
golden v1-events "$tmp/v1.bin"
golden v1-lowclock "$tmp/lowclock.bin"
golden v2 "$tmp/v2.ktrx"
golden v2-hostile "$tmp/hostile.ktrx"

done_testing
