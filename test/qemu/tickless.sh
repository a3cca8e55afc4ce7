# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# With tickless=1 an idle CPU of the demo kernel does not tick, and ticks again when it has work.
. test/tap.sh
. test/qemu/run_support.sh

# ticks ARCH ARGUMENTS: runs a guest with four CPUs; leaves the number of timer interrupts on each CPU in
# $tmp/ticks, the exit status in $status.
ticks() {
	# shellcheck disable=SC2046
	run -q -- $(demo "$1" 4) -append "$2 tickless=1"
	for cpu in 0 1 2 3; do
		"$ktrace" show --cpu $cpu --event irq.enter "$out" 2>/dev/null | grep -c ' timer '
	done >"$tmp/ticks"
}

for arch in x86_64 aarch64 riscv64; do
	ticks "$arch" "run=spread,busy,busy,spread"
	equal "$arch: those that rest take what waits elsewhere; work begins anew each time" 0 "$status"
	ticks "$arch" "run=idle seconds=1"
	equal "$arch: a machine with little to do" 0 "$status"
	check "$arch: one CPU ticks, another hardly: $(xargs <"$tmp/ticks")" \
		awk 'NR == 1 { first = least = $1 } $1 < least { least = $1 } END { exit NR != 4 || 4 * least > first }' "$tmp/ticks"
	ticks "$arch" "run=sleepers,pingpong,mix"
	equal "$arch: all CPUs have something to do now and then" 0 "$status"
	check "$arch: all tick then: $(xargs <"$tmp/ticks")" awk '$1 == 0 { missing = 1 } END { exit missing || NR != 4 }' \
		"$tmp/ticks"
done

done_testing
