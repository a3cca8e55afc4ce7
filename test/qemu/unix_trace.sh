# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The trace and the user programs themselves report the same numbers: system calls, bytes, packets, children,
# page faults. Every event that the kernel can record is recorded, on each architecture.
# UNIX_ARCHES: architectures to test (default: all three).
. test/tap.sh
. test/qemu/loss_support.sh

programs=$(basename -s .c demo/user/programs/*.c | paste -sd ,)
events="boot.phase sched.create sched.switch sched.block sched.wake sched.exit syscall.enter syscall.exit process.fork
	process.exec process.exit signal.send signal.deliver mm.fault_enter mm.fault_exit irq.enter irq.exit irq.eoi ipi.send
	ipi.receive lock.acquire lock.contend lock.release vfs.lookup vfs.open vfs.read vfs.write vfs.close vfs.poll
	net.connect net.send net.recv net.poll net.tx net.rx net.tcp_state net.dns_query"

# boot ARCH TRACE ARGUMENTS: runs a guest; stores the console in $tmp/console.
boot() {
	timeout -k 5 $kill_limit build/bin/ktrace run -q --timeout $limit --out "$2" -- $(sh scripts/qemu.sh "$1" 2) -m 192M -append "$3" \
		</dev/null 2>"$tmp/err" | tr -d '\r' >"$tmp/console"
}

# facts SOURCE [FILE]: prints the numbers of each process from the console or the trace (see unix_facts.awk).
facts() { awk -v source="$1" -f test/qemu/unix_facts.awk "$tmp/console" "${2-/dev/null}" | sort -n; }

# compare NAME TRACE EVENTS: compares the numbers on the console with those in the trace, process by process.
compare() {
	build/bin/ktrace show --json --event "$3" "$2" >"$tmp/events"
	facts console >"$tmp/account"
	facts trace "$tmp/events" >"$tmp/decoded"
	same "$1: trace and programs report the same numbers for each process: $(awk '{ split($2, c, "="); split($3, b, "=")
		calls += c[2]; bytes += b[2] } END { print calls " calls, " bytes " bytes" }' "$tmp/account")" \
		"$tmp/account" "$tmp/decoded"
}

for arch in ${UNIX_ARCHES:-x86_64 aarch64 riscv64}; do
	# The rings take 128 MB, and have room for all events even if one CPU runs all programs. The program badness uses
	# the other memory.
	boot "$arch" "$tmp/trace" "debug=ktrace slots=1048576 run=$programs"
	build/bin/ktrace summary "$tmp/trace" >"$tmp/$arch.summary" 2>>"$tmp/err"
	check "$arch: no slots are lost" nothing_lost "$tmp/$arch.summary" 2
	compare "$arch" "$tmp/trace" syscall,net.tx,mm.fault_enter,sched.create
	check "$arch: at least 40 processes printed their numbers: $(wc -l <"$tmp/account")" test "$(wc -l <"$tmp/account")" -ge 40
done

printf '# %-16s' event
printf '%12s' ${UNIX_ARCHES:-x86_64 aarch64 riscv64}
echo
missing=
for event in $events; do
	printf '# %-16s' "$event"
	for arch in ${UNIX_ARCHES:-x86_64 aarch64 riscv64}; do
		n=$(awk -v event="$event" '$1 == event { n = $2 } END { print n + 0 }' "$tmp/$arch.summary")
		printf '%12d' "$n"
		[ "$n" -gt 0 ] || missing="$missing $arch:$event"
	done
	echo
done
equal "every event is recorded on every architecture" "" "$missing"
done_testing
