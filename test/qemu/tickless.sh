# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# With tickless=1 an idle CPU of the demo kernel does not tick, and ticks again when it has work.
. test/tap.sh
. test/qemu/run_support.sh

# The host may stop CPU 0 for any time, so this number of its ticks is awaited before the CPUs are compared.
enough=40

# has_enough: succeeds if CPU 0 has ticked often enough.
has_enough() { [ "$(head -n 1 "$tmp/ticks")" -ge "$enough" ]; }

# ticks ARCH ARGUMENTS: runs a guest with four CPUs; stores the number of timer interrupts on each CPU in
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
	equal "$arch: idle CPUs take threads that wait on other CPUs" 0 "$status"
	for seconds in 1 4 16 64; do
		ticks "$arch" "run=idle seconds=$seconds"
		! has_enough || break
	done
	equal "$arch: a machine with little work ends with status 0" 0 "$status"
	check "$arch: an idle CPU ticks far less often than a busy one: $(xargs <"$tmp/ticks")" \
		awk 'NR == 1 { first = least = $1 } $1 < least { least = $1 } END { exit NR != 4 || 4 * least > first }' "$tmp/ticks"
	ticks "$arch" "run=sleepers,pingpong,mix"
	equal "$arch: a machine with work for all CPUs ends with status 0" 0 "$status"
	check "$arch: every CPU ticks if all have work: $(xargs <"$tmp/ticks")" awk '$1 == 0 { missing = 1 } END { exit missing || NR != 4 }' \
		"$tmp/ticks"
done

done_testing
