#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Measures how much slower a guest is while `ktrace profile` takes 100 samples a second. The guest counts its work
# in a word of its memory, which is a file. Intervals with and without the profile alternate, so the load of
# the host affects both equally. Aim: at most 5 %.
set -u
tmp=$(mktemp -d /dev/shm/ktrace-bench.XXXXXX)
ktrace=$PWD/build/bin/ktrace
kernel=build/test/bare/shares_x86_64.elf
seconds=4 pairs=9
until="--seconds $seconds"
[ -z "${BENCH_SHORT-}" ] || seconds=0.2 pairs=1 until="--samples 3" # see short.h
qemu=
trap '[ -z "$qemu" ] || kill "$qemu"; wait; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

place=$((0x$(nm $kernel | sed -n 's/ [a-zA-Z] shares_work$//p')))
timeout -k 2 600 qemu-system-x86_64 -display none -monitor none -serial null -kernel $kernel \
	-object "memory-backend-file,id=ram,size=64M,mem-path=$tmp/ram,share=on" -m 64M -machine memory-backend=ram \
	-qmp "unix:$tmp/qmp,server=on,wait=off" >/dev/null 2>&1 &
qemu=$!

work() { od -A n -t u8 -j "$place" -N 8 "$tmp/ram"; }

# window NAME COMMAND…: prints how much work the guest does per nanosecond while the command runs.
window() {
	name=$1
	shift
	begin=$(date +%s%N) before=$(work)
	"$@" || exit 1
	after=$(work) end=$(date +%s%N)
	echo "$name $before $after $begin $end" | awk '{ printf "%s %.9f\n", $1, ($3 - $2) / ($5 - $4) }'
}

# At first, the firmware runs instead of the guest's program.
until [ -s "$tmp/ram" ] && [ "$(work)" -gt 1000000 ]; do
	kill -0 "$qemu" 2>/dev/null || exit 1
	sleep 0.1
done
pair=0
while [ $pair -lt $pairs ]; do
	window without sleep $seconds
	# shellcheck disable=SC2086
	window with "$ktrace" profile --qmp "$tmp/qmp" $until --json --out "$tmp/profile" 2>"$tmp/messages"
	grep -oE '"(samples|seconds)":[0-9.]+' "$tmp/profile" | tr ':\n' '  ' | awk '{ print "rate", ($4 - 1) / $2 }'
	pair=$((pair + 1))
done >"$tmp/figures"
sort -k 1,1 -k 2n "$tmp/figures" | awk '
	{ n[$1]++; value[$1, n[$1]] = $2 }
	function median(name) { return value[name, int((n[name] + 1) / 2)] }
	END {
		if (!n["with"] || !n["without"])
			exit 1
		slower = 100 * (1 - median("with") / median("without"))
		printf "{\"bench\": \"profile\", \"slower_percent\": %.2f, \"samples_per_second\": %.1f, \"aim_percent\": 5}\n", slower, median("rate")
		printf "profile makes the guest %.1f %% slower, with %.0f samples a second (aim 5 %%)\n", slower, median("rate") > "/dev/stderr"
	}'
