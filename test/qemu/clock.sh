# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A kernel whose CPUs' counters differ by 10 ms and more, and drift by 100 ppm and more, on each architecture: what the
# guest measures puts its trace in order, and so do causes and effects alone; as recorded it is out of order.
# CLOCK_ARCHES: which (default: all three).
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/loss_support.sh

skewed=build/skewed
enough=5 # measurements of each CPU, of 30 that are tried: so it is known how its clock drifts
measured_cpus() { sed -n 's/^clocks *of \([0-9]*\) CPUs corrected.*/\1/p' "$tmp/summary"; }

# boot ARCH ARGUMENTS: leaves $out and its summary.
boot() {
	run -q -- $(KERNEL=$skewed/$1/kernel.elf demo "$1") \
		-append "debug=sched,ipi slots=262144 run=pingpong,ipi,sleepers seconds=1 $2"
	"$ktrace" summary "$out" >"$tmp/summary" 2>>"$tmp/err"
	measurements=$(build/test/clock_samples "$out")
}

# order OPTION…: switches, of these wrong, interrupts, of these wrong
order() { "$ktrace" show --json "$@" "$out" 2>"$tmp/said" | awk -f test/qemu/clock_order.awk; }

# wrong OPTION…: both together
wrong() { order "$@" | awk '{ print $2 + $4 }'; }

for arch in ${CLOCK_ARCHES:-x86_64 aarch64 riscv64}; do
	check "$arch: a kernel with differing clocks builds" \
		make -s "demo-$arch" DEMO_CLOCK_SKEW=10000,100 DEMO_OUT=$skewed DEMO_USER_OUT=build/demo

	# On a busy host two CPUs of the guest may seldom run at once. One that was measured once is right at that moment only.
	for attempt in 1 2 3 4 5 6 7 8; do
		boot "$arch" ktrace=debug.ktr.resynchronize=1
		[ "$(measured_cpus)" != 3 ] || [ "$measurements" -lt $enough ] || break
	done
	equal "$arch: it boots and ends" 0 "$status"
	equal "$arch: the clocks of three CPUs are measured (boot $attempt)" 3 "$(measured_cpus)"
	check "$arch: nothing is lost" nothing_lost "$tmp/summary" 4
	check "$arch: how many measurements succeeded is told, too, where some failed" sh -c \
		"! grep 'CPU 0 was too busy' '$tmp/summary' || grep -q '^clocks *measured [1-9][0-9]* times' '$tmp/summary'"
	printf '# %s: %s; %s\n' "$arch" "$(order)" "$(grep '^clocks' "$tmp/summary" | tr -s ' ' | paste -sd ';')"
	check "$arch: there is much to be in order" test "$(order | awk '{ print $1 < $3 ? $1 : $3 }')" -ge 200
	if [ "$measurements" -lt $enough ]; then
		skip "$arch: measured, no effect comes before its cause" "the host is too busy: $measurements measurements of a CPU"
	else
		equal "$arch: measured, no effect comes before its cause" 0 "$(wrong)"
	fi
	check "$arch: no ring is out of order" sh -c "! grep 'out of order' '$tmp/said'"
	equal "$arch: aligned on top of that, still none does" 0 "$(wrong --align)"
	check "$arch: as recorded many do" test "$(wrong --raw-clock)" -ge 20

	# Nor may its trace have enough to tell by how the clocks are apart: --align says how many are left.
	for attempt in 1 2 3; do
		boot "$arch" ""
		order --align >"$tmp/aligned"
		awk '{ exit $2 + $4 > ($1 + $3) / 200 }' "$tmp/aligned" || continue
		break
	done
	check "$arch: not asked, the kernel measures nothing" sh -c "! grep '^clocks' '$tmp/summary'"
	check "$arch: then many come before their cause, too" test "$(wrong)" -ge 20
	# Interrupts that merge on their way leave a few pairs open to doubt.
	check "$arch: aligned, hardly any does ($(cat "$tmp/aligned"), boot $attempt)" \
		awk '{ exit $2 + $4 > ($1 + $3) / 200 }' "$tmp/aligned"
	order --align >"$tmp/aligned"
	sed 's/^/# /' "$tmp/said"
	check "$arch: and no ring is out of order" sh -c "! grep 'out of order' '$tmp/said'"
done
done_testing
