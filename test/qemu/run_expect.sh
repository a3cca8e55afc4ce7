# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace run --expect`: the expected text ends the run, or its absence is reported. Also tests what
# --on-stall does when the guest hangs.
. test/tap.sh
. test/qemu/run_support.sh

word="demo: 2 CPUs,"
for arch in x86_64 aarch64 riscv64; do
	# shellcheck disable=SC2046
	run --expect "$word" -- $(demo "$arch" 2) -append "debug=ktrace run=hang"
	equal "$arch: seen ends a guest that would hang" 0 "$status"
	said "the expected text was seen"
	check "$arch: it is on the console" grep -qF -- "$word" "$tmp/console"
	check "$arch: a trace" test -s "$out"
	# shellcheck disable=SC2046
	run --expect "never to be seen" -- $(demo "$arch" 2) -append "debug=ktrace seconds=0"
	equal "$arch: not seen by the end" 16 "$status"
	# shellcheck disable=SC2046
	run --expect "$word" --expect-continue -- $(demo "$arch" 2) -append "debug=ktrace seconds=0 exit=3"
	equal "$arch: seen, and the guest's own end counts" 1 "$status"
	# shellcheck disable=SC2046
	run_until '[ $status = 11 ]' --stall 1 --on-stall keep -- $(demo "$arch" 2) -append "debug=ktrace run=hang"
	equal "$arch: a stalled guest that is kept until the timeout" 11 "$status"
	said "is paused"
	check "$arch: registers and stacks of one that is kept" sh -c \
		"'$ktrace' summary '$out' | grep -q '^CPUs .*registers and stacks'"
done

# shellcheck disable=SC2046
run --timeout 2 --expect "never to be seen" -- $(demo aarch64 2) -append "debug=ktrace run=hang"
equal "not seen in time" 16 "$status"

# --on-stall report writes a trace at once, and the guest continues.
for seconds in 10 40 $limit; do
	rm -f "$tmp/status"
	# shellcheck disable=SC2046
	{
		run --timeout $seconds --stall 1 --on-stall report -- $(demo x86_64 2) -append "debug=ktrace run=hang"
		echo "$status" >"$tmp/status"
	} &
	await sh -c 'grep -q "it is left running; to see why: ktrace why" "$0/err" || test -e "$0/status"' "$tmp"
	test -e "$tmp/status" || break
done
check "a stall's own trace" sh -c "'$ktrace' summary '$out' | grep -q '^ended *stall: .*CPU 1'"
check "with registers and stacks" sh -c "'$ktrace' summary '$out' | grep -q '^CPUs .*registers and stacks'"
wait
equal "the stall is the run's status" 12 "$(cat "$tmp/status")"
equal "it is said once" 1 "$(grep -c 'has stalled; it is left running' "$tmp/err")"
check "is replaced by that of the end" sh -c "'$ktrace' summary '$out' | grep -q '^ended *timeout'"

# The console is passed on byte by byte. The expected text arrives in several writes and with other ends of
# lines.
head -c 300000 /dev/urandom >"$tmp/bytes"
run --expect "o
ne two" -- sh -c "cat '$tmp/bytes'; printf 'on o'; sleep 0.1; printf '\r\nne '; sleep 0.1; printf two; exec $no_ktrace"
head -c 300000 "$tmp/console" >"$tmp/first"
same "the console is passed on unchanged" "$tmp/bytes" "$tmp/first"
check "to the last byte" sh -c "tail -c 12 '$tmp/console' | od -c | grep -q 't   w   o'"
equal "no ktrace in the guest counts as ever" 15 "$status"

# If the reader of the console does not read, the guest waits, but ktrace run does not.
mkfifo "$tmp/full"
exec 4<>"$tmp/full"
status=0
timeout -k 5 $kill_limit "$ktrace" run --timeout 4 --expect "never to be seen" --out "$out" -- \
	sh -c "yes & exec $(demo x86_64 1 | sed 's/-nographic/-display none/') -append run=hang" </dev/null >&4 2>"$tmp/err" ||
	status=$?
exec 4>&-
equal "nobody reads: the timeout holds" 16 "$status"

run --expect "" -- $no_ktrace
equal "an empty text" 2 "$status"
run --expect-continue -- $no_ktrace
equal "nothing to expect" 2 "$status"
run --on-stall wait -- $no_ktrace
equal "an unknown word" 2 "$status"

done_testing
