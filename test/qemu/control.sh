# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace control on running guests: a kernel that boots with all events off records the events that the host
# enables, and no others. Boot arguments, the guest's shell and the host set and read the same settings.
. test/tap.sh
. test/qemu/run_support.sh

# start ARCH APPEND…: starts a guest that reads its serial line from $tmp/keys; stores the path of its RAM
# file in $ram.
start() {
	arch=$1
	shift
	rm -rf "$tmp/ram" "$tmp/keys" && mkdir "$tmp/ram" && mkfifo "$tmp/keys"
	# Removes the output of an earlier guest.
	: >"$tmp/console"; : >"$tmp/err"
	timeout -k 5 $kill_limit "$ktrace" run --timeout $limit --keep-ram --ram-dir "$tmp/ram" --out "$out" -- $(demo "$arch" 2) \
		-append "$*" <"$tmp/keys" >"$tmp/console" 2>"$tmp/err" &
	guest=$!
	exec 3>"$tmp/keys"
	await grep -q 'the guest runs, its RAM is' "$tmp/err"
	ram=$(sed -n 's/.*the guest runs, its RAM is \(.*\)$/\1/p' "$tmp/err")
	prompts=0
}

# Ends the guest and stores its exit status in $status.
finish() {
	exec 3>&-
	status=0
	wait "$guest" || status=$?
}

# prompted: waits until the shell has printed the prompt for the next line.
prompted() { await count_is_at_least $((prompts + 1)) "$tmp/console" '^\$ '; }

type_line() {
	prompted
	prompts=$((prompts + 1))
	printf '%s\n' "$1" >&3
}

control() { timeout -k 2 $kill_limit "$ktrace" control --timeout $limit "$ram" "$@"; }

# shows_events: stores the timeline in $tmp/shown, and succeeds if it has more than twenty lines.
shows_events() {
	"$ktrace" show "$ram" >"$tmp/shown"
	[ "$(wc -l <"$tmp/shown")" -gt 20 ]
}

# counts_faults: succeeds if `ktrace control` reports that the guest counts mm.fault_enter.
counts_faults() { "$ktrace" control "$ram" | grep -q 'mm.fault_enter .* count'; }

clears() { control clear 'sched.*=on,-sched.create' 'lock.*=off' >"$tmp/changed" 2>"$tmp/messages"; }

# settings FILE: prints the lines with a setting from a file, which has output of the guest's shell or of
# the host. Omits debug.ktr.cost, because the kernel keeps measuring it.
settings() { tr -d '\r' <"$1" | grep -E '^debug\.[a-z0-9_.]*: ' | grep -v '^debug.ktr.cost:' | sort; }

for arch in x86_64 aarch64 riscv64; do
	start "$arch" run=forever "ktrace=-*"
	# The kernel may still be booting. The command clears the records that the kernel made before it
	# read its boot arguments.
	await clears
	check "$arch: the guest answers without an error: $(head -n 1 "$tmp/messages")" test ! -s "$tmp/messages"
	check "$arch: control clear reports that everything recorded was cleared" grep -q '^everything recorded so far: cleared' "$tmp/changed"
	equal "$arch: control prints the changed states of events" "sched.block: off -> on sched.exit: off -> on sched.switch: off -> on sched.wake: off -> on sched.wake_nobody: off -> on" \
		"$(grep '^sched' "$tmp/changed" | sort | xargs)"
	await shows_events
	groups=$(sed -n 's/.* \([a-z]*\)\.[a-z_]*[ (:].*/\1/p' "$tmp/shown" | sort -u | xargs)
	equal "$arch: only the events that were switched on are recorded, and the switching itself" "ktrace sched" "$groups"
	check "$arch: the events that were switched on are recorded: $(wc -l <"$tmp/shown")" test "$(wc -l <"$tmp/shown")" -gt 20
	"$ktrace" control --timeout $limit --json "$ram" stop >"$tmp/json"
	check "$arch: control stop stops recording" grep -q '"recording":false' "$tmp/json"
	control 'shed.*=on' 2>"$tmp/messages"
	equal "$arch: control refuses an unknown name" 2 $?
	check "$arch: control suggests names for an unknown name" grep -q 'did you mean sched' "$tmp/messages"
	qemu=$(qemu_of "$guest")
	kill -STOP "$qemu"
	"$ktrace" control --timeout 0.2 "$ram" "mm.fault_*=count" >"$tmp/shown" 2>"$tmp/messages"
	equal "$arch: a guest that is paused does not answer" 1 $?
	check "$arch: a request to a paused guest is kept" grep -q '^waiting: 1 request,' "$tmp/shown"
	kill -CONT "$qemu"
	check "$arch: the guest carries out a kept request when it continues" eventually counts_faults
	kill -INT "$guest"
	finish
	"$ktrace" control --timeout 0.2 "$ram" start 2>"$tmp/messages"
	equal "$arch: a guest that has ended does not answer" 1 $?
	check "$arch: the message about a guest that has ended says that it took no timer tick" grep -q 'took no timer tick' "$tmp/messages"

	start "$arch" run=sh debug.b64_63=1 debug.ktr.panic_goes_on=1 "ktrace=mm=count"
	type_line 'sysctl -a'
	prompted
	settings "$tmp/console" >"$tmp/guest"
	"$ktrace" show --settings "$ram" 2>/dev/null >"$tmp/host.all"
	settings "$tmp/host.all" >"$tmp/host"
	check "$arch: guest and host read the same settings: $(diff "$tmp/guest" "$tmp/host" | head -n 3)" \
		diff -q "$tmp/guest" "$tmp/host"
	check "$arch: boot arguments set words and bits" grep -qx 'debug.ktr.panic_goes_on: 1' "$tmp/host"
	check "$arch: boot arguments set bits of 64-bit masks" grep -qx 'debug.b64_63: 1' "$tmp/host"
	check "$arch: boot arguments set states of events" grep -q 'mm.fault_enter *count' "$tmp/host.all"
	type_line 'sysctl debug.b32_31=1 debug.ktr.sched_enable=0x3'
	prompted
	"$ktrace" show --settings "$ram" >"$tmp/host.all" 2>/dev/null
	check "$arch: the host reads a bit that the shell set" grep -qx 'debug.b32_31: 1' "$tmp/host.all"
	check "$arch: the host reads a mask that the shell set" grep -qx 'debug.ktr.sched_enable: 0x3' "$tmp/host.all"
	equal "$arch: the host sets a bit and prints the change" "debug.b32_0: 0 -> 1" "$(control debug.b32_0=1)"
	type_line 'sysctl debug.b32_0'
	prompted
	check "$arch: the shell reads a bit that the host set" grep -q '^debug.b32_0: 1' "$tmp/console"
	cp "$tmp/console" "$tmp/console.before"
	type_line 'sysctl debug.ktr'
	type_line 'sysctl -n debug.ktr.version debug.b32_0'
	type_line 'sysctl -w debug.b32_0=0'
	type_line 'sysctl -nw debug.b32_31=0'
	type_line 'sysctl -wn debug.b32_31=1'
	prompted
	tail -c "+$(($(wc -c <"$tmp/console.before") + 1))" "$tmp/console" | tr -d '\r' >"$tmp/branch"
	sed -n 's/^\(debug\.ktr\.[^:]*\): .*/\1/p' "$tmp/host.all" | sort >"$tmp/branch.names"
	sed -n 's/^\(debug\.ktr\.[^:]*\): .*/\1/p' "$tmp/branch" | sort >"$tmp/branch.shown"
	same "$arch: sysctl debug.ktr prints all settings below it" "$tmp/branch.names" "$tmp/branch.shown"
	check "$arch: sysctl -n prints values without names" grep -qx 1 "$tmp/branch"
	check "$arch: sysctl -w sets a bit" grep -qx 'debug.b32_0: 1 -> 0' "$tmp/branch"
	check "$arch: sysctl -nw sets a bit, as -n -w does" grep -qx 'debug.b32_31: 1 -> 0' "$tmp/branch"
	check "$arch: sysctl -wn sets a bit, as -w -n does" grep -qx 'debug.b32_31: 0 -> 1' "$tmp/branch"
	type_line 'sysctl schd.swich=on debug.ktr.entries=5 vm.free_page'
	type_line 'sysctl -mm.fault_enter'
	prompted
	tr -d '\r' <"$tmp/console" | sed -n 's/^sysctl: //p' >"$tmp/messages"
	equal "$arch: sysctl reports names that it cannot find or set, with suggestions" \
		"schd.swich=on: no such event or setting|did you mean sched.switch?|$(
		)debug.ktr.entries=5: read-only|vm.free_page: no such event or setting|$(
		)did you mean vm.free_pages?" "$(paste -sd '|' "$tmp/messages")"
	"$ktrace" show --settings "$ram" >"$tmp/host.all" 2>/dev/null
	check "$arch: sysctl switches an event off" grep -qE 'mm\.fault_enter +off' "$tmp/host.all"
	type_line 'exit 0'
	finish
done
done_testing
