# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Compares the output of kdump, for every option and every format, with golden files.
. test/tap.sh
. test/golden/golden.sh

golden=test/golden/kdump
export TZ=UTC0
build/test/kdump-traces "$tmp" || exit 1
cp test/golden/proc/*.ktrace "$tmp" || exit 1
cp "$tmp/freebsd1.ktrace" "$tmp/ktrace.out"

# Tests all formats.
for format in ktrx dragonfly freebsd0 freebsd0-i386 freebsd1; do
	golden "$format" kdump -f $format.ktrace
	golden "$format-T" kdump -T -t cn $format.ktrace
	golden "$format-oneline" kdump --oneline $format.ktrace
	golden "$format-count" kdump --oneline -c $format.ktrace
	golden "$format-json" kdump --json $format.ktrace
	golden "$format-named" kdump --format $format -t s $format.ktrace
done

# Tests all options.
golden default kdump
golden A kdump -A abi.ktrace
golden A-oneline kdump --oneline abi.ktrace
golden A-count kdump --count abi.ktrace
golden A-ktrx kdump -A -t c linux.ktrace
golden A-linux32 kdump -A linux32.ktrace
golden A-linux32-count kdump --count linux32.ktrace
golden A-dragonfly kdump -A -t s dragonfly.ktrace
golden c kdump -c -t cf freebsd1.ktrace
golden c-unknown kdump -c -t s freebsd0.ktrace
golden d kdump -d freebsd1.ktrace
golden E kdump -E -t cs freebsd1.ktrace
golden H kdump -H -t csu freebsd1.ktrace
golden H-dragonfly kdump -H -t s dragonfly.ktrace
golden j kdump -j -t cs ktrx.ktrace
golden m kdump -m 5 -t i freebsd1.ktrace
golden m-all kdump -m 0 -t i linux.ktrace
golden n kdump -n freebsd1.ktrace
golden n-linux kdump -n linux.ktrace
golden p kdump -p 43 freebsd1.ktrace
golden p-thread kdump -p 100042 -t s freebsd1.ktrace
golden p-thread-dragonfly kdump -p 100042 dragonfly.ktrace
golden R kdump -R -t cs ktrx.ktrace
golden times kdump -R -E -T -t n freebsd0.ktrace
golden r kdump -r -t t freebsd1.ktrace
golden S kdump -S -t c dragonfly.ktrace
golden s kdump -s freebsd1.ktrace
for letter in c f i l n p s t u w y +; do
	golden "t-$letter" kdump -t $letter ktrx.ktrace
done
golden table kdump --table dragonfly -t c freebsd1.ktrace
printf '5 mine fd, path where, how how, mode mode\nflags how 0x100000 SO\n' >"$tmp/own.table"
golden table-file kdump --table own.table --names -t c freebsd1.ktrace
golden names kdump --names -t c linux.ktrace

# With -l, kdump prints the records in the file, and then new ones as they arrive, until it is interrupted.
# The file may be empty at first.
for format in freebsd1 ktrx; do
	for begun in 0 300; do
		head -c $begun "$tmp/$format.ktrace" >"$tmp/grows"
		build/bin/kdump -l -t cn "$tmp/grows" >"$tmp/followed" 2>"$tmp/message" &
		follower=$!
		await sh -c 'ls -l "/proc/$0/fd" | grep -q /grows$' "$follower"
		tail -c +$((begun + 1)) "$tmp/$format.ktrace" | head -c 2000 >>"$tmp/grows"
		await grep -q motd "$tmp/followed"
		tail -c +$((begun + 2001)) "$tmp/$format.ktrace" >>"$tmp/grows"
		await grep -q 'exit(0' "$tmp/followed"
		kill -INT $follower
		wait $follower
		equal "l: $format from $begun bytes on: an interrupt ends kdump with status 0" 0 $?
		build/bin/kdump -t cn "$tmp/$format.ktrace" >"$tmp/whole" 2>/dev/null
		same "l: $format from $begun bytes on: each record is printed once" "$tmp/whole" "$tmp/followed"
	done
done

# Tests the output with one line per call, values of all types, and data with control characters.
for trace in linux values hostile; do
	golden "$trace" kdump -T $trace.ktrace
	golden "$trace-oneline" kdump --oneline $trace.ktrace
	golden "$trace-count" kdump --count $trace.ktrace
	golden "$trace-json" kdump --json $trace.ktrace
done
golden linux-oneline-options kdump --oneline --names -E -s -n linux.ktrace
golden linux-oneline-p kdump --oneline -m 3 -t cs -p 42 linux.ktrace
for trace in utrace utrace-i386 utrace-dragonfly; do golden $trace kdump $trace.ktrace; done
golden utrace-d kdump -d -t u utrace.ktrace
golden utrace-oneline kdump --oneline utrace.ktrace
for form in '' --oneline --json --count; do
	build/bin/kdump $form "$tmp/hostile.ktrace" | LC_ALL=C tr -d '\12\40-\176' >"$tmp/unprintable"
	equal "the output has no control characters${form:+ with $form}" 0 "$(wc -c <"$tmp/unprintable" | tr -d ' ')"
done

# A file is cut off at several lengths. The records before the cut are shown, and the offset of the cut is
# reported.
for format in ktrx freebsd1; do
	size=$(wc -c <"$tmp/$format.ktrace")
	build/bin/kdump "$tmp/$format.ktrace" >"$tmp/whole" 2>/dev/null
	for cut in 1 7 33 65 500; do
		head -c $((size - cut)) "$tmp/$format.ktrace" >"$tmp/torn"
		build/bin/kdump "$tmp/torn" >"$tmp/lines" 2>"$tmp/message"
		equal "$format, $cut bytes less: exit status" 1 $?
		check "$format, $cut bytes less: the offset is reported" grep -q "torn: .*offset" "$tmp/message"
		head -c "$(wc -c <"$tmp/lines")" "$tmp/whole" >"$tmp/begin"
		same "$format, $cut bytes less: all records before the cut are shown" "$tmp/begin" "$tmp/lines"
	done
done

# The file has many sessions, and one table that grows with each record. Printing this file takes minutes
# if kdump builds tables more often than necessary.
timeout $kill_limit build/bin/kdump "$tmp/sessions.ktrace" >"$tmp/lines"
equal "many sessions: kdump shows all of them in time" 0 "$?"
equal "many sessions: each session uses its own table" "1 own
40000 write
20000 first
1 second" "$(awk '{ print $3 }' "$tmp/lines" | uniq -c | awk '{ print $1, $2 }')"

# --where uses the table of each session, too. A table that has grown too often is not read again.
for call in own:1 first:20000 second:1; do
	timeout $kill_limit build/bin/kdump --where "call == \"${call%:*}\"" "$tmp/sessions.ktrace" >"$tmp/lines"
	equal "many sessions: --where finds the calls ${call%:*}" "${call#*:} ${call%:*}" "$(awk '{ print $3 }' "$tmp/lines" | uniq -c | awk '{ print $1, $2 }')"
done

# If the reader of the output exits early, kdump prints no error.
sh -c 'build/bin/kdump "$1"; build/bin/kdump --json "$1"' - "$tmp/linux.ktrace" 2>"$tmp/message" | head -c 1 >/dev/null
equal "no message if the reader has ended" "" "$(cat "$tmp/message")"

# For every kind of damage, tests the message and the records that are still shown.
for trace in test/golden/proc/bad/*.ktrace; do
	name=$(basename "$trace" .ktrace)
	cp "$trace" "$tmp/$name"
	golden "damaged-$name" kdump -t cns "$name"
done

golden frequency kdump -R fast.ktrace
golden frequency-show ktrace show --json fast.ktrace

# For a record of an unknown type, kdump shows as many bytes as -m allows.
golden unknown sh -c 'kdump "$@" | grep -A2 UNKNOWN' - ktrx.ktrace
golden unknown-m sh -c 'kdump -m 3 "$@" | grep -A2 UNKNOWN' - ktrx.ktrace
golden unknown-s sh -c 'kdump -s "$@" | grep -A2 UNKNOWN' - ktrx.ktrace
golden unknown-json sh -c 'kdump --json -m 3 "$@" | grep unknown' - ktrx.ktrace
golden unknown-json-s sh -c 'kdump --json -s "$@" | grep unknown' - ktrx.ktrace

golden unknown-lengths kdump -m 4 unknown.ktrace
build/bin/kdump --json -m 0 "$tmp/unknown.ktrace" 2>/dev/null | sed -n 's/.*"unknown":77,"size":5000,"bytes":"\([0-9a-f]*\)"}$/\1/p' >"$tmp/hex"
equal "JSON has all bytes of a long record" 10000 "$(tr -d '\n' <"$tmp/hex" | wc -c | tr -d ' ')"
equal "JSON has the right bytes of a long record at the end of a piece" cecfd0d1 "$(cut -c 3997-4004 "$tmp/hex")"

golden from-input sh -c 'kdump -t s - <freebsd1.ktrace'
golden subcommand ktrace kdump -t s freebsd1.ktrace
golden help kdump --help
golden bad-file kdump nowhere
golden bad-letter kdump -t cx
golden bad-pid kdump -p self
golden bad-most kdump -m much
golden bad-format kdump --format netbsd
golden bad-table kdump --table nowhere ktrx.ktrace
golden bad-word kdump ktrx.ktrace linux.ktrace
# --where selects records by the names that ktrace show also has, and by the name of a call.
golden where-call kdump --where 'call == "openat"' -T linux.ktrace
golden where-failed kdump --where 'result < 0 and call ~ "s*"' linux.ktrace
golden where-pid kdump -H --where 'pid == 43' freebsd1.ktrace
golden where-thread kdump -H --where 'thread == 100042 and thread == "ls" and nr == 5' freebsd1.ktrace
golden where-path kdump --where 'path ~ "/etc/*"' -T dragonfly.ktrace
golden where-time kdump -E --where 'time > 500us and time < 2ms and event == "proc.data"' ktrx.ktrace
golden where-json kdump --json --where 'size > 20 and fd == 3' freebsd1.ktrace
golden where-table kdump --table own.table --where 'call == "mine"' freebsd1.ktrace
golden where-input sh -c 'kdump --where "has(signal)" - <freebsd1.ktrace'
golden where-types kdump -t n --where 'pid == 42' ktrx.ktrace
golden where-wrong kdump --where 'pid = 42' ktrx.ktrace
golden where-unknown kdump --where 'pid == 42 and pth == 3' ktrx.ktrace
golden where-oneline kdump --oneline --where 'pid == 42' ktrx.ktrace
golden where-hostile kdump --where 'name == "[31m" and nam > 1' hostile.ktrace

golden bad-json kdump --json --oneline
golden bad-follow kdump --count -l
: >"$tmp/empty"
golden bad-empty kdump empty
done_testing
