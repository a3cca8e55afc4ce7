#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Measures what the trace unit in software costs: the CPU time of QEMU for boot and workload of the demo, with
# one CPU. There are four cases: without the plugin (plain); with the plugin loaded but off; while it traces
# everything into its rings; and while it also finds exact fault addresses. Each is divided by the plain run
# of the same round, because the speed of a machine changes; the median of several rounds must be at most 1.1,
# 2 and 4. Also measures the bytes of packets per branch: at most 1. Measures both architectures, or only
# those in PLUGIN_ARCHES.
set -u
rounds=${1:-5} arches="x86_64 aarch64" append=run=callcost done='callcost: plain' short=
if [ -n "${BENCH_SHORT-}" ]; then # see short.h
	rounds=1 arches=x86_64 append=run=ls done='init: ls: status 0' short=yes
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
plugin=build/lib/ktrace-pt.so

# boot NAME ARGUMENT…: boots a guest and appends QEMU's CPU seconds to $tmp/NAME.
boot() {
	name=$1
	shift
	build/bench/cputime timeout -k 2 600 $(sh scripts/qemu.sh "$arch" 1) "$@" -append "$append" </dev/null \
		2>>"$tmp/$name" >"$tmp/console"
	grep -q "$done" "$tmp/console" || { echo "bench/plugin.sh: $name: the guest did not finish its workload" >&2; exit 1; }
}

# middle NAME: prints the median of the ratios NAME / plain. Each ratio compares two boots of the same
# round.
middle() { paste "$tmp/$1" "$tmp/plain" | awk '$2 > 0 { print $1 / $2 }' | sort -n | sed -n "$(((rounds + 1) / 2))p"; }

# packets ARCH: prints two numbers for CPU 0: the bytes of its trace and the branches in it. Checks the trace
# against QEMU's own log.
packets() {
	filter=
	[ "$1" = aarch64 ] || filter='-dfilter 0x100000..0x5ffffff' # without the firmware
	timeout -k 2 600 $(sh scripts/qemu.sh "$1" 1) -d exec,nochain -D "$tmp/log" $filter \
		-plugin "$plugin,out=$tmp/rings,size=64M" -append run=calls </dev/null >"$tmp/console" 2>&1
	build/test/hwt_blocks "$tmp/rings" "$tmp/log" | sed -n 's/^cpu 0:.* bytes \([0-9]*\) branches \([0-9]*\).*/\1 \2/p'
}

missed=0
for arch in ${PLUGIN_ARCHES:-$arches}; do
	rm -f "$tmp/plain" "$tmp/off" "$tmp/traced" "$tmp/exact"
	for round in $(seq "$rounds"); do
		boot plain
		boot off -plugin "$plugin"
		boot traced -plugin "$plugin,out=$tmp/rings,size=64M"
		boot exact -plugin "$plugin,out=$tmp/rings,size=64M,exact=on"
	done
	plain=$(sort -n "$tmp/plain" | sed -n "$(((rounds + 1) / 2))p")
	echo "$plain $(middle off) $(middle traced) $(middle exact) $(packets "$arch")" | awk -v arch="$arch" -v short="$short" '
	NF != 6 || $1 <= 0 || $6 <= 0 { print "bench/plugin.sh: no figures" > "/dev/stderr"; exit 1 }
	{
		off = $2; traced = $3; exact = $4; bytes = $5 / $6
		held = short != "" || (off <= 1.1 && traced <= 2 && exact <= 4 && bytes <= 1)
		printf "{\"bench\": \"plugin\", \"arch\": \"%s\", \"plain_s\": %.3f, \"off\": %.2f, \"traced\": %.2f, \"exact\": %.2f, ",
			arch, $1, off, traced, exact
		printf "\"bytes_per_branch\": %.3f, \"most\": [1.1, 2, 4, 1], \"held\": %s}\n", bytes, held ? "true" : "false"
		printf "plugin   %s: plain %.3f s, off %.2f x, traced %.2f x, exact %.2f x, %.3f bytes a branch%s\n", arch, $1, off,
			traced, exact, bytes, held ? "" : ", at most 1.1, 2, 4 x and 1 byte: MISSED" > "/dev/stderr"
		exit !held
	}' || missed=1
done
exit $missed
