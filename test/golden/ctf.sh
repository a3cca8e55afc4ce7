# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# babeltrace2 reads traces exported in the Common Trace Format: each event with its time, CPU, thread, name and
# fields, and the number of lost slots, as `ktrace show` prints them. Hostile names do not damage the exported
# trace.
. test/tap.sh
ktrace=$PWD/build/bin/ktrace

# exported NAME TRACE [OPTION]...: exports the trace into the directory $tmp/NAME.
exported() {
	name=$1 trace=$2
	shift 2
	"$ktrace" export --format ctf "$@" "$trace" -o "$tmp/$name" >"$tmp/out" 2>&1
	equal "$name is exported" 0 $?
}

# alike NAME TRACE: compares the events that babeltrace2 reads from the export with the events that
# show prints.
alike() {
	exported "$@"
	"$ktrace" show --json "$trace" >"$tmp/shown" 2>"$tmp/err"
	babeltrace2 --clock-seconds --no-delta "$tmp/$name" >"$tmp/read" 2>"$tmp/messages"
	equal "$name: babeltrace2 reads the export" 0 $?
	python3 test/golden/ctf_compare.py "$tmp/shown" "$tmp/read" "$tmp/messages" >"$tmp/differences" 2>&1
	equal "$name: babeltrace2 finds what show prints" '' "$(cat "$tmp/differences")"
}

check "cmd-traces makes the traces" build/test/cmd-traces "$tmp"
check "danger-traces makes the traces" sh -c 'build/test/danger-traces "$1" >"$1/log"' - "$tmp"
alike v2 "$tmp/v2.ktrx"
check "v2: lost slots are reported" grep -q 'Tracer discarded 3 events' "$tmp/messages"
alike typed "$tmp/typed.ktrx"
alike pairs "$tmp/pairs.ktrx"

# All names in these traces are hostile: those of events, fields, threads, locks and system calls.
for number in 0 3 7 11; do
	exported "hostile-$number" "$tmp/$number.ktrx"
	babeltrace2 "$tmp/hostile-$number" >"$tmp/read" 2>"$tmp/messages"
	equal "hostile names $number: babeltrace2 reads the export" 0 $?
	equal "hostile names $number: all events" "$("$ktrace" show --json "$trace" 2>"$tmp/err" | grep -c '"event"')" \
		"$(wc -l <"$tmp/read")"
	check "hostile names $number: the metadata is printable ASCII" \
		sh -c '! LC_ALL=C grep -q "[^	 -~]" "$1"' - "$tmp/hostile-$number/metadata"
done

# This trace has the greatest timestamp, the greatest frequency and the latest wall-clock time.
for most in apart.bin beats.ktrx; do
	exported "most-${most%%.*}" "$tmp/$most"
	babeltrace2 --clock-cycles "$tmp/most-${most%%.*}" >"$tmp/read" 2>"$tmp/messages"
	equal "$most: babeltrace2 reads the export" 0 $?
	"$ktrace" show --json "$tmp/$most" >"$tmp/shown" 2>"$tmp/err"
	equal "$most: all events" "$(grep -c '"event"' "$tmp/shown")" "$(wc -l <"$tmp/read")"
	grep -o '[0-9]* of them are later' "$tmp/out" >>"$tmp/late"
done
equal "events whose time does not fit are counted" '1 of them are later' "$(cat "$tmp/late")"

"$ktrace" export --format ctf "$tmp/v2.ktrx" -o "$tmp/v2" 2>"$tmp/err"
equal "a directory that is not empty is refused" 1 $?
check "the message names the directory" grep -q "v2 is not empty: choose a new directory" "$tmp/err"
"$ktrace" export --format ctf "$tmp/v2.ktrx" -o - 2>"$tmp/err"
equal "standard output is refused" 2 $?
done_testing
