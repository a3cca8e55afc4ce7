# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Compares the edges between blocks with those that another decoder finds in published ETMv4 traces of Linux programs. This decoder,
# coresight-decoder, shares no code with OpenCSD. CORESIGHT_DECODER names its directory of tests, with PROGRAM/TRACE/cstrace.bin,
# PROGRAM/TRACE/decoderargs.txt and PROGRAM/expected_edge_coverage.out. None of it is part of ktrace.
#
# The traces come without registers. The script uses those of a unit with context ids and timestamps.
. test/tap.sh

if [ -z "${CORESIGHT_DECODER-}" ] || [ ! -d "${CORESIGHT_DECODER-}" ]; then
	skip "published traces of Linux programs" "CORESIGHT_DECODER names no directory of coresight-decoder's tests"
	done_testing
fi

# snapshot PROGRAM TRACE ID COUNT {FILE BEGIN END}...: makes $tmp/snapshot, in the form that opencsd-snapshot reads.
snapshot() {
	rm -rf "$tmp/snapshot" && mkdir "$tmp/snapshot" && cp "$CORESIGHT_DECODER/$1/$2" "$tmp/snapshot/cstrace.bin" || return
	program=$1 id=$3
	shift 4
	{
		printf '[device]\nname=cpu_0\nclass=core\ntype=AArch64\n'
		while [ $# -ge 3 ]; do
			cp "$CORESIGHT_DECODER/$program/$1" "$tmp/snapshot/" || return
			printf '[dump%d]\nfile=%s\naddress=%s\nlength=%d\n' $# "$1" "$2" $(($3 - $2))
			shift 3
		done
	} >"$tmp/snapshot/cpu_0.ini"
	printf '[device]\nname=ETM_0\nclass=trace_source\ntype=ETM4\n[regs]\nTRCTRACEIDR=%s\n' "$id" >"$tmp/snapshot/etm_0.ini"
	printf 'TRCCONFIGR=0x8c1\nTRCIDR0=0x28000ea1\nTRCIDR1=0x4100f402\nTRCIDR2=0x488\n' >>"$tmp/snapshot/etm_0.ini"
	printf '[device_list]\ndevice0=cpu_0.ini\ndevice1=etm_0.ini\n[trace]\nmetadata=trace.ini\n' >"$tmp/snapshot/snapshot.ini"
	printf '%s\n' '[trace_buffers]' buffers=buffer0 '[buffer0]' name=ETB_0 file=cstrace.bin format=coresight '[source_buffers]' \
		ETM_0=ETB_0 '[core_trace_sources]' cpu_0=ETM_0 >"$tmp/snapshot/trace.ini"
}

# edges BASE: for each run of instructions and the next one, prints the first addresses of both runs. Such a
# pair is an edge. Prints only edges between addresses that consist of the digits BASE and three more.
# Hexadecimal digits are compared as text, because awk's numbers have less than 64 bits of precision.
edges() {
	sed -n 's/^{.*"pc":"0x\([0-9a-f]*\)\([0-9a-f]\{3\}\)".*[0-9] instruction.*/\1 \2/p' | awk -v page="$1" '
		{ inside = $1 == page; sub(/^0+/, "", $2); if (was && inside) print "0x" last " [0] -> 0x" $2 " [0]"; was = inside; last = $2 }'
}

# part: selects those edges that the authors of coresight-decoder compare in their own test.
part() { grep 0x900 -A41 | grep 0x71c -A41; }

for arguments in "$CORESIGHT_DECODER"/*/*/decoderargs.txt; do
	folder=${arguments%/*/*}
	name=${folder##*/} trace=${arguments%/*}
	# shellcheck disable=SC2046
	snapshot "$name" $(cat "$arguments") || exit 1
	base=$(sed -n '0,/^address=0x/s/^address=0x\(.*\)...$/\1/p' "$tmp/snapshot/cpu_0.ini")
	for frames in '' --frames; do
		# shellcheck disable=SC2086
		build/test/opencsd-snapshot $frames "$tmp/snapshot" "$tmp/trace" >/dev/null || exit 1
		build/bin/ktrace hwt --json -o pc,event_type,event_payload "$tmp/trace" >"$tmp/json" 2>"$tmp/message"
		runs=$(grep -c '[0-9] instruction' "$tmp/json")
		what="$name/${trace##*/}${frames:+, from frames}: $runs runs"
		gaps=$(grep -c '"gap"' "$tmp/json")
		check "$what, at most a gap before the first A-Sync" test "$gaps" -eq "$(grep -c 'before the first A-Sync' "$tmp/json")"
		edges "$base" <"$tmp/json" >"$tmp/edges"
		if [ -f "$folder/expected_edge_coverage.out" ]; then
			part <"$folder/expected_edge_coverage.out" >"$tmp/theirs"
			part <"$tmp/edges" >"$tmp/ours"
			same "$what, $(wc -l <"$tmp/theirs") edges" "$tmp/theirs" "$tmp/ours"
		else
			[ -f "$tmp/first.$name" ] || cp "$tmp/edges" "$tmp/first.$name"
			same "$what, $(wc -l <"$tmp/edges") edges as in its first trace" "$tmp/first.$name" "$tmp/edges"
		fi
	done
done
done_testing
