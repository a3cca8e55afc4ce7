# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The trace survives when QEMU or ktrace run is killed.
. test/tap.sh
. test/qemu/run_support.sh

line="$(demo x86_64 2) -append"

# begin COMMAND…: starts `ktrace run` in the background, with the options in $options, stores its pid in $pid, and
# waits until the guest has recorded events.
options=
begin() {
	rm -f "$out" "$tmp"/*.ram
	# shellcheck disable=SC2086
	"$ktrace" run --timeout $limit $options --out "$out" -- "$@" </dev/null >"$tmp/console" 2>"$tmp/err" &
	pid=$!
	await_guest "$pid"
}

finish() {
	status=0
	wait "$pid" || status=$?
}

begin $line "debug=ktrace run=forever"
kill -KILL "$guest"
finish
equal "SIGKILL of QEMU: status" 14 "$status"
message_has "signal 9"
check "SIGKILL of QEMU: there is a trace" sh -c "'$ktrace' show '$out' | grep -q sched.switch"

options="--seed 4"
begin $line "debug=ktrace run=forever"
options=
kill -KILL "$guest"
finish
equal "SIGKILL of a QEMU with a seed: status" 14 "$status"
mv "$out" "$tmp/killed.ktrx"
run --replay "$tmp/killed.ktrx"
equal "SIGKILL of a QEMU with a seed: status of the replay" 12 "$status"
message_has "the virtual deadline of "
message_has "the same run as $tmp/killed.ktrx: all "

begin sh -c "$line 'debug=ktrace run=forever'; true"
kill -KILL "$guest"
finish
equal "SIGKILL of a script's QEMU: status" 14 "$status"
check "SIGKILL of a script's QEMU: there is a trace" test -s "$out"

begin $line "debug=ktrace run=forever"
kill -INT "$pid"
finish
equal "SIGINT: status" 130 "$status"
check "SIGINT: there is a trace" test -s "$out"
check "SIGINT: QEMU has ended" sh -c "! kill -0 $guest"

begin $line "debug=ktrace run=forever"
kill -STOP "$guest"
kill -TERM "$pid"
finish
equal "SIGTERM while QEMU is stopped: status" 143 "$status"
check "SIGTERM while QEMU is stopped: there is a trace" test -s "$out"

begin $line "debug=ktrace run=forever"
"$ktrace" extract -o "$tmp/live.ktrx" "$tmp"/*.ram 2>/dev/null || :
check "extract reads the RAM file of a running guest" sh -c "'$ktrace' show '$tmp/live.ktrx' | grep -q sched.switch"
kill -KILL "$pid"
kill -KILL "$guest"
finish
check "ktrace killed: the RAM file is kept" ls "$tmp"/out.ktrx.*.ram
"$ktrace" extract -o "$tmp/dead.ktrx" "$tmp"/*.ram 2>/dev/null || :
check "ktrace killed: extract reads the RAM file" sh -c "'$ktrace' show '$tmp/dead.ktrx' | grep -q sched.switch"

# typed KEYS QEMU-ARGUMENT…: starts `ktrace run` in a terminal of its own. Types KEYS there as soon as the
# guest records.
typed() {
	keys=$1
	shift
	rm -f "$out"
	status=0
	: >"$tmp/err"
	{ await grep -q 'recording from ' "$tmp/err"; printf "$keys"; await test -s "$out"; } | timeout -k 5 $kill_limit script -qec "'$ktrace' run --timeout $limit --out '$out' -- \
		$line 'debug=ktrace run=forever' $*" /dev/null >"$tmp/err" || status=$?
}

if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
	line="$(PC_OPTIONS=$usual_firmware demo x86_64 2 | sed 's/-nographic//') -append"
	typed '\003' -display none -serial stdio
	equal "Ctrl-C: status" 130 "$status"
	check "Ctrl-C: a message says that the guest records" grep -qE 'recording from (1 CPU|2 CPUs)' "$tmp/err" # printed once, maybe before the second CPU runs
	check "Ctrl-C: there is a trace" test -s "$out"
	printf '"$@"\nexit $?\n' >"$tmp/between"
	line="sh '$tmp/between' $line"
	typed '\003' -display none -serial stdio
	equal "Ctrl-C, a script between: status" 130 "$status"
	check "Ctrl-C, a script between: there is a trace" test -s "$out"
	typed '\001x' -nographic
	equal "Ctrl-A X, a script between: status" 0 "$status"
	message_has "QEMU was asked to quit"
	check "Ctrl-A X, a script between: there is a trace" test -s "$out"
	equal "SeaBIOS turns line wrapping off; after the run it is on" "[?7h" \
		"$(LC_ALL=C grep -ao '\[?7[hl]' "$tmp/err" | tail -n 1)"
	# On a busy machine, QEMU may start only after some seconds.
	for seconds in 2 16 $limit; do
		script -qec "stty cols 20; '$ktrace' run --timeout $seconds --out '$out' -- $(demo x86_64 2 | sed 's/-nographic/-display none/') \
			-append run=hang" /dev/null </dev/null >"$tmp/err"
		tr '\r' '\n' <"$tmp/err" | sed 's/\x1b\[K//; s/\x1b\[?7h//' | grep ' s, ' | grep -v guest >"$tmp/painted"
		[ ! -s "$tmp/painted" ] || break
	done
	message_has "ktrace run: "
	check "lines of progress are cut to the terminal's width" sh -c "test -s '$tmp/painted' && ! grep '.\{20\}' '$tmp/painted'"
else
	skip "keys in a terminal" "script cannot make a terminal here"
fi

# Sends a signal right after the RAM file was created, before QEMU runs.
left=0
line="$(demo x86_64 2) -append"
for _ in 1 2 3 4 5; do
	rm -f "$out" "$tmp"/*.ram
	"$ktrace" run --timeout $limit --out "$out" -- $line "debug=ktrace run=forever" </dev/null >"$tmp/console" 2>"$tmp/err" &
	pid=$!
	until ls "$tmp"/*.ram >/dev/null 2>&1; do :; done
	kill -TERM "$pid"
	finish
	grep -q "stopped by signal 15" "$tmp/err" && ! ls "$tmp"/*.ram >/dev/null 2>&1 || left=$((left + 1))
done
equal "SIGTERM at the start removes the RAM file: runs that left it" 0 "$left"

done_testing
