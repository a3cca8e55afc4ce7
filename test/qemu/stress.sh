# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Eight CPUs record at full speed from threads, interrupts and (x86_64) NMIs. The trace is read while they run
# and after they ended: every record passes its own check, gaps are exactly where loss is reported, and the
# numbers of slots add up.
# STRESS_SECONDS: duration, for the first attempt (default: 2; soak.sh: 60). STRESS_ARCHES: architectures to test (default: all
# three).
. test/tap.sh

seconds=${STRESS_SECONDS:-2}

# sample RAM-FILE ARCH PID: takes samples of the guest while the run with this pid exists. Stores their number
# in $samples, the number of samples with a wrong record in $bad.
sample() {
	samples=0 bad=0
	while kill -0 "$3" 2>/dev/null; do
		sleep 0.1
		build/bin/ktrace extract --machine "$2" "$1" -o "$tmp/live" 2>"$tmp/live.err" || continue
		checked=0
		build/test/stress_check "$tmp/live" >"$tmp/sample" || checked=$?
		grep -q '^checked=[1-9]' "$tmp/sample" || continue # the guest has not begun
		samples=$((samples + 1))
		[ "$checked" -eq 0 ] || bad=$((bad + 1))
		cat "$tmp/sample" >>"$tmp/live.out"
	done
}

# stressed ARCH SECONDS: runs a guest for this time, and takes samples of it. Stores the exit status in $status.
stressed() {
	rm -rf "$tmp/ram" "$tmp/live.out"
	mkdir "$tmp/ram"
	build/bin/ktrace run -q --timeout $(($2 * 4 + limit)) --ram-dir "$tmp/ram" --out "$tmp/trace" -- \
		$(sh scripts/qemu.sh "$1" 8) -append "debug=ktrace run=stress seconds=$2" \
		>"$tmp/console" 2>"$tmp/err" </dev/null &
	run=$!
	await sh -c 'find "$0" -type f | grep .' "$tmp/ram"
	sample "$(find "$tmp/ram" -type f | head -n 1)" "$1" "$run"
	status=0
	wait "$run" || status=$?
}

for arch in ${STRESS_ARCHES:-x86_64 aarch64 riscv64}; do
	# On a busy machine, the guest may end before the first sample. Then it runs again, for a longer time.
	for duration in $seconds $((seconds * 4)) $((seconds * 16)); do
		stressed "$arch" $duration
		[ "$samples" -eq 0 ] || break
	done
	equal "$arch: the guest ends by itself" 0 "$status"
	check "$arch: samples of the running guest were taken: $samples" test "$samples" -gt 0
	equal "$arch: no sample of the running guest has a wrong record: $(tail -n 1 "$tmp/live.out" 2>/dev/null)" 0 "$bad"
	build/test/stress_check "$tmp/trace" >"$tmp/out" 2>&1
	equal "$arch: the trace after the end has no wrong record: $(tail -n 1 "$tmp/out")" 0 $?
	grep -q 'stress:' "$tmp/console" || sed 's/^/# /' "$tmp/err"
done
done_testing
