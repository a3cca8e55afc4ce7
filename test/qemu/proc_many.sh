# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A thousand processes are forked, start a program and end, on four CPUs, and are traced into one file. The
# file has every record of each process. The rings record how the file ended.
# PROC_ARCHES: architectures to test (default: all three).
. test/tap.sh
. test/qemu/proc_support.sh

boot_events=debug=process,proc
for arch in $arches; do
	boot "$arch" 4 swarm swarm:100:/tmp/hundred give:/tmp/hundred
	check "$arch: no record of a thousand processes is missing" grep -qx 'swarm: 1000 processes, 15007 records' "$tmp/console"
	equal "$arch: the guest's program finds no mistake in the files" 2 "$(grep -c '^init: swarm: status 0' "$tmp/console")"
	sed 's/^/# /' "$tmp/console" | grep 'failed' || :
	equal "$arch: the host finds a record of each kind for each of a hundred processes" "100 100 100 100" \
		"$(count hundred 'FORK ') $(count hundred 'EXEC ') $(count hundred 'USER  "here"') $(count hundred 'EXIT ')"
	equal "$arch: each process has a record of its start" 0 "$("$kdump" -f "$tmp/given/hundred" |
		awk '$3 == "FORK" || $3 == "SET" { started[$1] } $2 != "END" && !($1 in started) { n++ } END { print n + 0 }')"
	"$ktrace" show --event proc.sink "$tmp/rings" >"$tmp/sinks" 2>/dev/null
	check "$arch: the rings record how the file ended" grep -qE 'ended: closed, error 0, 15006 records, 0 lost' "$tmp/sinks"
done
done_testing
