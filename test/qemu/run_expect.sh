# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace run --expect`: the expected text ends the run, or its absence is reported. Also tests what
# --on-stall does when the guest hangs. In most of these guests, the CPU that hangs is halted: it takes no CPU
# time of the host.
. test/tap.sh
. test/qemu/run_support.sh

word="demo: 2 CPUs,"
for arch in x86_64 aarch64 riscv64; do
	# shellcheck disable=SC2046
	run --expect "$word" -- $(demo "$arch" 2) -append "debug=ktrace run=hang"
	equal "$arch: the expected text ends a guest that would hang" 0 "$status"
	message_has "the expected text was seen"
	check "$arch: the expected text is on the console" grep -qF -- "$word" "$tmp/console"
	check "$arch: after the expected text there is a trace" test -s "$out"
	# shellcheck disable=SC2046
	run --expect "never to be seen" -- $(demo "$arch" 2) -append "debug=ktrace seconds=0"
	equal "$arch: status 16 if the guest ends without the expected text" 16 "$status"
	# shellcheck disable=SC2046
	run --expect "$word" --expect-continue -- $(demo "$arch" 2) -append "debug=ktrace seconds=0 exit=3"
	equal "$arch: with --expect-continue the guest's own status counts" 1 "$status"
	# shellcheck disable=SC2046
	run_until '[ $status = 11 ]' --stall 1 --on-stall keep -- $(demo "$arch" 2) -append "debug=ktrace run=halt"
	equal "$arch: --on-stall keep: status 11 for a guest that stalls" 11 "$status"
	message_has "is paused"
	check "$arch: --on-stall keep: the trace has registers and stacks" sh -c \
		"'$ktrace' summary '$out' | grep -q '^CPUs .*registers and stacks'"
done

# If the timeout comes before the guest's first event, ktrace run reports that there is no ktrace in the guest.
first_timeout=1
# shellcheck disable=SC2046
run_until '[ $status = 16 ]' --stall 0 --expect "never to be seen" -- $(demo aarch64 2) -append "debug=ktrace run=halt"
equal "status 16 if the expected text is missing at the timeout" 16 "$status"

# stall_is_in TRACE: succeeds if the trace was taken during the stall.
stall_is_in() { "$ktrace" summary "$1" | grep -q '^ended *stall: .*CPU 1'; }

# With --on-stall report, ktrace run writes a trace at the stall, and the guest continues. At the timeout,
# a later trace replaces this trace. If the test could not copy the first trace in time, it runs the guest
# again with a longer timeout.
for seconds in 4 16 64 $limit; do
	rm -f "$tmp/status" "$tmp/stall.ktrx" "$out"
	: >"$tmp/err"
	# shellcheck disable=SC2046
	{
		run --timeout $seconds --stall 1 --on-stall report -- $(demo x86_64 2) -append "debug=ktrace run=halt"
		echo "$status" >"$tmp/status"
	} &
	await sh -c 'grep -q "it is left running; to see why: ktrace why" "$0/err" || test -e "$0/status"' "$tmp"
	cp "$out" "$tmp/stall.ktrx"
	wait
	! stall_is_in "$tmp/stall.ktrx" || break
done
check "--on-stall report: there is a trace of the stall" stall_is_in "$tmp/stall.ktrx"
check "--on-stall report: the trace has registers and stacks" sh -c \
	"'$ktrace' summary '$tmp/stall.ktrx' | grep -q '^CPUs .*registers and stacks'"
equal "--on-stall report: the run ends at the timeout with status 12" 12 "$(cat "$tmp/status")"
equal "--on-stall report: the stall is reported once" 1 "$(grep -c 'has stalled; it is left running' "$tmp/err")"
check "--on-stall report: the trace of the end replaces that of the stall" sh -c "'$ktrace' summary '$out' | grep -q '^ended *timeout'"

# After a stall, `ktrace why` is suggested as the next command, even if the user ends the run or passes --why.
: >"$tmp/err" # the earlier run's messages are not those of this run
# shellcheck disable=SC2046
"$ktrace" run --timeout $limit --stall 1 --on-stall report -o "$out" -- $(demo x86_64 2) -append "debug=ktrace run=halt" \
	</dev/null >"$tmp/console" 2>"$tmp/err" &
await grep -q "it is left running" "$tmp/err"
kill -TERM $!
wait
message_has "stopped by signal 15"
message_has "next: ktrace why $out"
# shellcheck disable=SC2046
run --why --stall 1 -- $(demo x86_64 2) -append "debug=ktrace run=halt"
message_has "next: ktrace why $out"

# The console is passed on byte by byte. ktrace run finds the expected text although it arrives in several
# writes and with other line endings.
head -c 300000 /dev/urandom >"$tmp/bytes"
run --expect "o
ne two" -- sh -c "cat '$tmp/bytes'; printf 'on o'; sleep 0.1; printf '\r\nne '; sleep 0.1; printf two; exec $no_ktrace"
head -c 300000 "$tmp/console" >"$tmp/first"
same "the console is passed on unchanged" "$tmp/bytes" "$tmp/first"
check "the console is passed on to the last byte" sh -c "tail -c 12 '$tmp/console' | od -c | grep -q 't   w   o'"
equal "--expect: status 15 if there is no ktrace in the guest" 15 "$status"

# If the reader of the console stops reading, the guest has to wait, but ktrace run must not: its timeout
# still works.
mkfifo "$tmp/full"
for seconds in 2 16 64 $limit; do
	exec 4<>"$tmp/full"
	status=0
	timeout -k 5 $kill_limit "$ktrace" run --timeout $seconds --stall 0 --expect "never to be seen" --out "$out" -- \
		sh -c "yes & exec $(demo x86_64 1 | sed 's/-nographic/-display none/') -append run=halt" </dev/null >&4 2>"$tmp/err" ||
		status=$?
	exec 4>&-
	[ "$status" != 16 ] || break
done
equal "the timeout works if the console is not read" 16 "$status"

run --expect "" -- $no_ktrace
equal "--expect refuses an empty text" 2 "$status"
run --expect-continue -- $no_ktrace
equal "--expect-continue without --expect is refused" 2 "$status"
run --on-stall wait -- $no_ktrace
equal "--on-stall refuses an unknown word" 2 "$status"

done_testing
