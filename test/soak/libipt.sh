# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Runs `ktrace hwt` on the streams of Intel PT of libipt's own tests, and compares the output with what these tests expect of ptdump
# and ptxed. LIBIPT_STREAMS names a directory with one directory for each stream: NAME, or NAME@FAMILY_MODEL[_STEPPING] for a CPU, with
# NAME.ptt, NAME.pt, NAME.bin and the .exp files of both tools. doc/hwt.md has the results and the versions.
. test/tap.sh

if [ ! -d "${LIBIPT_STREAMS:-}" ]; then
	skip "published streams of Intel PT" "LIBIPT_STREAMS names no directory of them"
	done_testing
fi

# options TOOL: prints the options that the test passes to the tool TOOL, in one line.
options() { sed -n "s/^.*;[ \t]*opt:$1[ \t]*//p" "$ptt" | tr '\n' ' '; }

# value NAME: prints the value of the option --NAME that the test passes to ptxed or ptdump.
value() { printf '%s\n' "$(options ptxed) $(options ptdump)" | tr -s ' ' '\n' | awk -v name="--$1" 'found { print; exit } $0 == name { found = 1 }'; }

# stream DIRECTORY: writes the trace $name of DIRECTORY to $tmp/stream.
stream() {
	set -- "$1" -i "$1/$name.bin:$(sed -n 's/^org *//p' "$ptt" | head -n 1)"
	cpu=${1##*@}
	[ "$cpu" = "$1" ] || set -- "$@" -c "$(printf '%s' "$cpu" | tr _ /)"
	[ -z "$(value mtc-freq)" ] || set -- "$@" -m "$(value mtc-freq)"
	[ -z "$(value nom-freq)" ] || set -- "$@" -n "$(value nom-freq)"
	[ -z "$(value cpuid-0x15.eax)" ] || set -- "$@" -a "$(value cpuid-0x15.eax)"
	[ -z "$(value cpuid-0x15.ebx)" ] || set -- "$@" -b "$(value cpuid-0x15.ebx)"
	[ -z "$(value filter:addr0_cfg)" ] || set -- "$@" -r "$(value filter:addr0_a):$(value filter:addr0_b)"
	[ -z "$(value raw)" ] || set -- "$@" -i "$1/$(value raw)"
	folder=$1
	shift
	build/test/pt-stream "$@" "$folder/$name.pt" "$tmp/stream"
}

# compare WHAT EXPECTED GOT: adds the result to $tmp/results: "NAME WHAT same", or the first difference.
compare() {
	if said=$(awk -v what="$1" -v ip="$(options ptxed | grep -c event:ip)" -f test/soak/libipt.awk "$2" "$3"); then
		echo "$of $1 same $said"
	else
		echo "$of $1 $said"
	fi >>"$tmp/results"
}

for folder in "$LIBIPT_STREAMS"/*/; do
	folder=${folder%/}
	of=${folder##*/}
	name=${of%@*}
	ptt=$folder/$name.ptt
	[ -s "$folder/$name.pt" ] || continue
	if ! stream "$folder" 2>"$tmp/err"; then
		echo "$of file $(head -n 1 "$tmp/err")" >>"$tmp/results"
		continue
	fi
	build/bin/ktrace hwt -g "$tmp/stream" >"$tmp/packets" 2>"$tmp/err"
	build/bin/ktrace hwt --json -o pc,event_type,event_payload "$tmp/stream" >"$tmp/flow" 2>"$tmp/err"
	for tool in ptdump ptxed; do
		for expected in "$folder/$name-$tool".exp "$folder/$name-$tool-"*.exp; do
			[ -e "$expected" ] || continue
			[ $tool = ptdump ] && compare packets "$expected" "$tmp/packets"
			[ $tool = ptxed ] && compare flow "$expected" "$tmp/flow"
		done
	done
done

# ---- Differences from the expected output -----------------------------------------------------------
# libipt.known lists differences that are by design or caused by libipt's version. Each line is "PATTERN
# packets|flow REASON".
awk -f test/soak/libipt_verdict.awk test/soak/libipt.known "$tmp/results" >"$tmp/verdict"
sed -n 's/^count /# /p' "$tmp/verdict"
sed -n 's/^differs /# /p' "$tmp/verdict"
for what in packets flow; do
	check "$what of at least one stream are compared" grep -q "^count $what" "$tmp/verdict"
	grep "^wrong [^ ]* $what " "$tmp/verdict" >"$tmp/wrong"
	check "$what of all streams are as expected, or differ for a known reason" sh -c 'cat "$1"; test ! -s "$1"' - "$tmp/wrong"
done
check "every stream becomes a trace" sh -c '! grep " file " "$1"' - "$tmp/results"
grep '^stale' "$tmp/verdict" >"$tmp/stale"
check "each known reason is needed" sh -c 'cat "$1"; test ! -s "$1"' - "$tmp/stale"
done_testing
