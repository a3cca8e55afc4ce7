# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Pages of ktrace html, read by an independent reader, contain what show, summary and sql print: all events with
# their values, the states of threads, and all losses. Rows do not overlap.
. test/tap.sh

build/test/cmd-traces "$tmp" >"$tmp/log" 2>&1 && build/test/why-traces "$tmp" >"$tmp/log" 2>&1 &&
	build/test/danger-traces "$tmp" >"$tmp/log" 2>&1 || exit 1
root=$PWD ktrace=$PWD/build/bin/ktrace check=$PWD/test/golden/page/check.py schema=$PWD/test/schema.py
cd "$tmp" || exit 1
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

# same TRACE OPTION…: makes the page of the trace with these options, and checks that the page has
# the same data as the trace.
same() {
	"$ktrace" html -o page.html "$@" >log 2>&1
	equal "html $*: exit status" 0 $?
	check "html $*: the page has the data of the trace" python3 "$check" "$ktrace" page.html "$@"
}
for trace in v2.ktrx v1.bin apart.bin lowclock.bin hostile.ktrx 1.ktrx clocks-apart.ktrx stateless.ktrx written-over.ktrx \
	deadlock.ktrx ipi-deadlock.ktrx worst-lost.ktrx starved.ktrx; do
	same $trace
done
same v2.ktrx --since 10us --until 60us
same v2.ktrx --cpu 1
same v2.ktrx --event 'sched.*'
same v2.ktrx --where 'event == "sched.wake"'
same v2.ktrx --pid 12
same v2.ktrx --cpu 0 --since 30us --until 60us
check "a filter by CPU: the page has a note" grep -q '"notes":\[.*"only events that the filter selects' page.html
same v2.ktrx --cpu 0 --until 60us

# ---- --redact leaves out texts, paths and programs, and the page states this. The numbers of events
# remain in the page.
"$ktrace" html -o page.html typed.ktrx >log 2>&1
python3 "$check" --text page.html >all.text
check "a page has texts of events: $(wc -l <all.text)" test -s all.text
"$ktrace" html --redact -o page.html typed.ktrx >log 2>&1
python3 "$check" --text page.html >redacted.text
check "--redact: no text of an event is in the page" test ! -s redacted.text
check "--redact: the page has the data of the trace" python3 "$check" "$ktrace" page.html typed.ktrx
check "--redact: the head states that the page is redacted" grep -q '"redacted":true' page.html
rm page.html && cp typed.ktrx private.ktrx && chmod 600 private.ktrx
"$ktrace" html -o page.html private.ktrx >log 2>&1
equal "the page of a private trace is private" 600 "$(stat -c %a page.html)"
chmod 644 page.html
"$ktrace" html --redact -o page.html private.ktrx >log 2>&1
equal "the mode of an older file stays" 644 "$(stat -c %a page.html)"
check "--redact: the head has no path" grep -q '"file":null' page.html

# Names of threads are commands, which may have arguments: only their numbers stay.
python3 -c 'import sys; sys.stdout.buffer.write(sys.stdin.buffer.read().replace(b"shell\0\0\0\0\0\0\0\0\0\0\0", b"ls -k s3cr3t/al\0"))' \
	<v2.ktrx >private.ktrx
cp "$root/test/golden/proc/freebsd1.ktrace" .
for case in private.ktrx:s3cr3t private.ktrx:worker hostile.ktrx:31m deadlock.ktrx:green starved.ktrx:idle/0 \
	freebsd1.ktrace:name-without-any-end; do
	trace=${case%:*} name=${case##*:}
	"$ktrace" html -o page.html $trace >log 2>&1
	python3 "$check" --words page.html >words
	check "html $trace: the name $name is on the page" grep -qF -- "$name" words
	"$ktrace" html --redact -o page.html $trace >log 2>&1
	python3 "$check" --words page.html >words
	check "html --redact $trace: the name $name is not on the page" sh -c '! grep -oF -e "$0" words' "$name"
	check "html --redact $trace: the page has the data of the trace" python3 "$check" "$ktrace" page.html $trace
done

# ---- The time at which the trace was taken: 4.98 s, 4 s and 2 s after the last event. For other traces,
# this time is unknown.
for expected in late.ktrx:4999000030 starved.ktrx:4039000030 deadlock.ktrx:2039000030 v1.bin:null \
	"deadlock.ktrx --until 20ms:null"; do
	"$ktrace" html -o page.html ${expected%:*} >log 2>&1
	equal "html ${expected%:*}: time at which the trace was taken" "\"taken\":${expected##*:}" \
		"$(grep -o '"taken":[^,]*' page.html)"
done

# ---- Functions of a hardware trace. After a loss, it is unknown when the functions ended that were
# running before it.
cp "$root/test/golden/hwt_views/beside.steps" . && ln -s "$root/build/test/ktrace-script" ktrace || exit 1
./ktrace html --with beside.steps v2.ktrx -o page.html >log 2>&1
cat >functions.expected <<'END'
CPU 0 functions, thread 12: frobnicate 95000+39000?
CPU 0 functions, thread 12:   handle_irq 103600+30400?
CPU 0 functions, thread 12:     schedule 109000+25000?
CPU 0 functions, thread 13: schedule 115000+1000
CPU 0 functions, thread 13: syscall 116000+18000?
CPU 0 functions, thread 13: syscall 135000+169000?
CPU 1 functions: syscall 199000+15000?
CPU 1 functions:   frobnicate 200000+14000?
END
python3 "$check" --functions page.html >functions
check "functions of a hardware trace: $(diff functions.expected functions)" cmp functions.expected functions

# ---- Damaged traces: the page shows what could be read.
for size in 2000 3500 4900; do
	head -c $size v2.ktrx >cut.ktrx
	"$ktrace" html -o page.html cut.ktrx >log 2>&1
	status=$?
	check "a trace cut after $size bytes: status $status" test $status -le 1
	if [ -s page.html ]; then
		check "a trace cut after $size bytes: the head states that more may be lost" \
			grep -q '"lost_at_least":true' page.html
		check "a trace cut after $size bytes: the page has a note" \
			grep -q '"notes":\[.*"the dump at offset 0 is cut short: only its first part is read"' page.html
	fi
	[ ! -s page.html ] || check "a trace cut after $size bytes: the page is readable" \
		python3 "$check" "$ktrace" page.html cut.ktrx --since 0
done

# ---- If the number of lost slots is unknown, the page does not show it as 0.
"$ktrace" html -o page.html v1.bin >log 2>&1
check "version 1: the head states that the loss is unknown" grep -q '"lost":null' page.html
"$ktrace" html -o page.html v2.ktrx >log 2>&1
check "the page has a note about the order of CPUs" grep -q '"notes":\["order between CPUs: uncertain' page.html
"$ktrace" html --redact -o page.html cut.ktrx >log 2>&1
check "--redact: a note contains no path" grep -q '"notes":\["the dump at offset 0 is cut short' page.html
"$ktrace" html -o page.html 1.ktrx >log 2>&1
check "a whole trace: its loss is known" grep -q '"lost":[0-9]*,"lost_at_least":false' page.html

"$ktrace" html -o page.html --since 1s v2.ktrx >log 2>&1
check "without events, the page has a note" grep -q '"notes":\["the page has no events"' page.html

# ---- The output file
"$ktrace" html v2.ktrx >page.html 2>log
check "without -o, the page goes to standard output" python3 "$check" "$ktrace" page.html v2.ktrx
"$ktrace" html -o v2.ktrx v2.ktrx >log 2>&1
equal "the trace is not overwritten: exit status" 1 $?
check "the trace is not overwritten: a message" grep -q 'is an input file' log
"$ktrace" html -o /dev/full v2.ktrx >log 2>&1
equal "a full disk: exit status" 1 $?
check "a full disk: a message" grep -q 'No space left' log
for trace in v2.ktrx hostile.ktrx 2.ktrx; do
	"$ktrace" html -o page.html $trace >log 2>&1
	sed -n '/<script id="ktrace-head"/,/<\/script>/p' page.html | sed '1d;$d' >head.json
	check "the head of $trace is valid by its schema" python3 "$schema" page head.json
	check "the head of $trace contains no markup" sh -c '! grep -q "<" head.json'
done
done_testing
