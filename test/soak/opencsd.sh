# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Decodes the ETMv4 and ETE traces of OpenCSD's tests (snapshots), and compares the result with the output of OpenCSD's own lister.
# None of this data is part of ktrace. CSIGHT names a directory with SNAPSHOT/snapshot.ini, ... and SNAPSHOT.ppl;
# SNAPSHOT_multi_sess.ppl and SNAPSHOT_src_addr_N.ppl are preferred to SNAPSHOT.ppl. If none of these files
# exists, TRC_PKT_LISTER (or trc_pkt_lister of the package libopencsd-bin) makes one.
#
# Each snapshot is read twice, with its CoreSight frames unpacked by the test and by ktrace.
# test/soak/opencsd.list states how many lines must be the same, and the reasons for the differences; UPDATE=1
# renews its numbers.
. test/tap.sh

list=test/soak/opencsd.list
if [ -z "${CSIGHT-}" ] || [ ! -d "${CSIGHT-}" ]; then
	skip "published traces of ETMv4 and ETE" "CSIGHT names no directory of OpenCSD's snapshots"
	done_testing
fi
lister=${TRC_PKT_LISTER:-$(command -v trc_pkt_lister || :)}

# lister_of SNAPSHOT: prints the name of the file with OpenCSD's output, or nothing if there is no such file.
lister_of() {
	for kind in _multi_sess _src_addr_N ''; do
		[ ! -f "$CSIGHT/$1$kind.ppl" ] || { echo "$CSIGHT/$1$kind.ppl" && return; }
	done
	[ -n "$lister" ] || return 0
	"$lister" -ss_dir "$CSIGHT/$1" -decode -logfilename "$tmp/made.ppl" >"$tmp/made.log" 2>&1 && echo "$tmp/made.ppl"
}

# read_theirs PPL: writes OpenCSD's output for each unit, from the file PPL, to $tmp/theirs.UNIT.
read_theirs() {
	rm -f "$tmp"/theirs.*
	while read -r buffer unit id protocol core bytes; do
		[ "$unit" != - ] && grep -qm 1 -E "(Using $buffer as trace|Source name = $buffer\\.)" "$1" || continue
		awk -v id="$id" -v buffer="$buffer" -f test/soak/opencsd_theirs.awk "$1" >"$tmp/theirs.$unit"
	done <"$tmp/units"
}

# count FILE UNIT: compares FILE with OpenCSD's output. Prints the number of lines that begin with "range", and how many are the same,
# missing, extra; then the same four numbers for all other lines.
count() {
	diff "$tmp/theirs.$2" "$1" >"$tmp/diff.$2" || :
	awk 'FILENAME ~ /diff/ { if (/^[<>] /) differ[substr($0, 1, 1) ($2 == "range")]++; next }
		{ all[$1 == "range"]++ }
		END { for (range = 1; range >= 0; range--)
			print all[range] + 0, all[range] - differ["<" range], differ["<" range] + 0, differ[">" range] + 0 }' \
		"$tmp/diff.$2" "$tmp/theirs.$2" | paste -sd' ' -
}

# compare: decodes $tmp/trace with ktrace, and prints the sum of the counts of all units.
compare() {
	rm -f "$tmp"/ours.*
	build/bin/ktrace hwt --json -o id,pc,event_type,event_payload,space "$tmp/trace" >"$tmp/json" 2>"$tmp/message" || :
	awk -v folder="$tmp" -f test/soak/opencsd_ours.awk "$tmp/json"
	for theirs in "$tmp"/theirs.*; do
		unit=${theirs##*.}
		touch "$tmp/ours.$unit"
		count "$tmp/ours.$unit" "$unit"
	done | awk '{ for (n = 1; n <= 8; n++) sum[n] += $n }
		END { for (n = 1; n <= 8; n++) printf "%d%s", sum[n], n < 8 ? " " : "\n" }'
}

# packets PPL: compares the names of packets with those of `ktrace hwt -g`, for a file PPL that lists only
# packets.
packets() {
	sed -n 's/.*;	\(I_[A-Z0-9_]*\) : .*/\1/p' "$1" >"$tmp/theirs.0"
	build/bin/ktrace hwt -g "$tmp/trace" 2>"$tmp/message" |
		awk '$1 != "CPU" { print $2 == "damage" ? $3 : $2 }' >"$tmp/ours.0"
	count "$tmp/ours.0" 0 | cut -d' ' -f5-
}

# reported_gaps: prints the gaps that ktrace reports, except for missing code and the beginning of a stream.
reported_gaps() {
	grep -ohE '"event_type":"gap","event_payload":"[^"]*' "$tmp/json" | sed 's/.*"//; /no code is known/d; /before the first A-Sync/d' |
		sort | uniq -c | sort -rn | awk '{ count = $1; $1 = ""; printf "%s%s:%s", n++ ? "; " : "", count, $0 }'
	sed -n 's/^ktrace hwt: \(.* not decoded\)$/refused: \1/p' "$tmp/message"
}

: >"$tmp/list"
for folder in "$CSIGHT"/*/; do
	name=$(basename "$folder")
	[ -f "$folder/snapshot.ini" ] || continue
	if ! build/test/opencsd-snapshot "$folder" "$tmp/trace" >"$tmp/units" 2>"$tmp/absent"; then
		fail "$name is read" "$(cat "$tmp/absent")"
		continue
	fi
	if ! awk '$2 != "-" { found = 1 } END { exit !found }' "$tmp/units"; then
		skip "$name" "its sources are $(awk '{ print $4 " of " $5 }' "$tmp/units" | sort -u | paste -sd, -)"
		continue
	fi
	ppl=$(lister_of "$name")
	if [ -z "$ppl" ]; then
		skip "$name" "there is neither a file $name.ppl with OpenCSD's output nor the program trc_pkt_lister"
		continue
	fi
	if ! grep -qm 1 OCSD_GEN_TRC_ELEM_ "$ppl"; then
		counts=$(packets "$ppl")
		why="packets: the listing has no more"
	else
		read_theirs "$ppl"
		counts=$(compare)
		why=$(reported_gaps)
		build/test/opencsd-snapshot --frames "$folder" "$tmp/trace" >"$tmp/units" 2>"$tmp/absent"
		equal "$name: frames give the same result" "$counts" "$(compare)"
	fi
	echo "$name $counts${why:+; $why}" >>"$tmp/list"
	[ -n "${UPDATE-}" ] || equal "$name: runs, same, missing, extra; else, same, missing, extra" \
		"$(sed -n "s/;.*//; /^$name /p" "$list")" "$name $counts"
done
if [ -n "${UPDATE-}" ]; then
	{ sed '/^[^#]/d' "$list" && cat "$tmp/list"; } >"$tmp/new" && cp "$tmp/new" "$list"
fi
done_testing
