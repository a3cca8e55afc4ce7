# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Functions for tests that run guests: the demo kernel, or a guest without ktrace, under `ktrace run` or
# without it.

ktrace=build/bin/ktrace
out=$tmp/out.ktrx
export TMPDIR="$tmp" # files that a killed run leaves are removed with $tmp
first_timeout=       # see run_until

# A boot sector without ktrace that switches the machine off.
printf '\272\004\006\270\000\040\357\364\353\375' >"$tmp/off.img"
truncate -s 510 "$tmp/off.img"
printf '\125\252' >>"$tmp/off.img"
no_ktrace="qemu-system-x86_64 -display none -drive format=raw,file=$tmp/off.img"

# run [OPTION…] -- COMMAND…: stores the exit status in $status, the messages in $tmp/err, the guest's console
# in $tmp/console.
run() {
	status=0
	timeout -k 5 $kill_limit "$ktrace" run --timeout $limit -o "$out" "$@" </dev/null >"$tmp/console" 2>"$tmp/err" || status=$?
}

# run_until CONDITION [OPTION…] -- COMMAND…: like run, for a guest that does not end by itself. CONDITION is a
# shell command. Runs the guest again, with a longer timeout each time, until CONDITION succeeds: on a busy
# machine guests need longer. $first_timeout: seconds for the first run.
run_until() {
	condition=$1
	shift
	for seconds in $first_timeout 4 16 64 $limit; do
		run --timeout $seconds "$@"
		! eval "$condition" || break
	done
}

# demo ARCH [CPUS]: prints the command line that boots the demo kernel, without boot arguments.
demo() { sh scripts/qemu.sh "$@"; }

# message_has TEXT: checks that the messages of the last command have the text.
message_has() { check "a message has: $1" grep -qF -- "$1" "$tmp/err"; }

# qemu_of PID: prints the pid of the QEMU that this process has started, directly or through a shell or
# make. A process may end while its files in /proc are read; cat then continues with the next file, but awk
# would stop.
qemu_of() {
	for child in $(cat /proc/[0-9]*/status 2>/dev/null | awk -v parent="$1" '$1 == "Name:" { name = $2 }
		$1 == "Pid:" { pid = $2 } $1 == "PPid:" && $2 == parent { print pid ":" name }'); do
		case $child in
		*:qemu-system-*) echo "${child%%:*}"; return ;;
		esac
		qemu_of "${child%%:*}"
	done
}

# records_switches RAM-FILE [OPTION…]: succeeds if the guest with this RAM has recorded a context switch.
records_switches() {
	ram_read=$1
	shift
	"$ktrace" extract "$@" -o "$tmp/begun" "$ram_read" && "$ktrace" show "$tmp/begun" | grep -q sched.switch
}

# await_guest PID: waits until the guest of the run with this pid has recorded context switches; stores QEMU's
# pid in $guest.
await_guest() {
	await grep -q 'demo: [0-9]* CPUs,' "$tmp/console"
	await_ram "$(dirname "$out")"
	await records_switches "$ram"
	guest=$(qemu_of "$1" | head -n 1)
}

# await_ram DIRECTORY: waits until the directory has a RAM file; stores its path in $ram.
await_ram() {
	await sh -c 'find "$0" -maxdepth 1 -name "*.ram" | grep .' "$1"
	ram=$(find "$1" -maxdepth 1 -name '*.ram' | head -n 1)
}

# boot_beside ARCH "ARGUMENTS": starts a traced guest in the background; stores the pid of the run in $guest,
# its RAM file in $ram.
boot_beside() {
	rm -rf "$tmp/ram" && mkdir "$tmp/ram"
	# shellcheck disable=SC2046
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --keep-ram --ram-dir "$tmp/ram" --out "$out" -- $(demo "$1" 2) \
		-append "debug=ktrace $2" </dev/null >"$tmp/console" 2>"$tmp/err" &
	guest=$!
	await_ram "$tmp/ram"
}

# end_guest: ends the run of the guest $guest by SIGINT. If the guest has ended before, prints why.
end_guest() {
	kill -INT "$guest" 2>/dev/null
	wait "$guest" 2>/dev/null
	guest_status=$?
	[ $guest_status -eq 130 ] || { echo "# a guest ended by itself: status $guest_status" && last_words; }
}

# boot_open ARCH "ARGUMENTS" [OPTION…]: starts a QEMU in the background without ktrace run. Stores its pid in
# $qemu, its QMP socket at $tmp/qmp and the socket of gdb's protocol at $tmp/gdb. If $runner is set, this command
# runs QEMU.
boot_open() {
	open_arch=$1 open_arguments=$2
	shift 2
	rm -f "$tmp/qmp" "$tmp/gdb"
	# shellcheck disable=SC2046
	${runner:-timeout -k 5 $kill_limit} $(demo "$open_arch" 2 | sed 's/-nographic/-display none/; s/-no-reboot//') "$@" \
		-append "$open_arguments" -serial null -qmp "unix:$tmp/qmp,server=on,wait=off" \
		-chardev "socket,path=$tmp/gdb,server=on,wait=off,id=gdb0" -gdb chardev:gdb0 >/dev/null 2>"$tmp/qemu" &
	qemu=$!
}

shut_down() {
	kill "$qemu"
	wait "$qemu" 2>/dev/null
}

# core_has_callers: succeeds if the trace in the core has callers of both CPUs. A CPU in the first instructions
# of a trap or of a program has no callers.
core_has_callers() {
	"$ktrace" extract -o "$tmp/begun" "$tmp/core" 2>/dev/null &&
		"$ktrace" show --registers "$tmp/begun" | grep -cE '^stack [01]( [0-9a-f]+)+' | grep -qx 2
}

# send_for_core ARCH: prints the commands for QEMU that stop the guest and write a core. Waits until each core
# is complete. Lets the guest continue, and writes another core, until both CPUs have callers.
send_for_core() {
	echo '{"execute":"qmp_capabilities"}'
	await records_switches "$tmp/guest" --machine "$1"
	for core in $(seq 20); do
		echo '{"execute":"stop"}'
		echo '{"execute":"dump-guest-memory","arguments":{"paging":false,"protocol":"file:'"$tmp"'/core"},"id":"core '"$core"'"}'
		await grep -q "\"id\": \"core $core\"" "$tmp/qmp"
		! core_has_callers || break
		echo '{"execute":"cont"}'
	done
	echo '{"execute":"quit"}'
}

# boot_for_core ARCH: runs a guest and stops it; stores a core in $tmp/core and the RAM file in $tmp/guest.
boot_for_core() {
	: >"$tmp/qmp"
	# shellcheck disable=SC2046
	send_for_core "$1" |
		timeout -k 5 $kill_limit $(demo "$1" 2 | sed 's/-nographic/-display none/; s/-m 128M//; s/-no-reboot//') \
		$("$ktrace" qemu-args "$1" --ram "$tmp/guest") -append "debug=ktrace run=forever" -qmp stdio >"$tmp/qmp"
}
