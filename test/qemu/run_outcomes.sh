# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace run` names how each guest ended, and leaves a trace of it, on each architecture.
. test/tap.sh
. test/qemu/run_support.sh

# outcome ARCH STATUS "BOOT ARGUMENTS" [OPTION…]
outcome() {
	arch=$1 wanted=$2 arguments=$3
	shift 3
	rm -f "$out"
	# shellcheck disable=SC2046
	run "$@" -- $(demo "$arch" 2) -append "debug=ktrace $arguments"
	equal "$arch, $arguments: status" "$wanted" "$status"
	events=$("$ktrace" show "$out" 2>/dev/null | wc -l)
	check "$arch, $arguments: a trace with events" test "$events" -gt 10
}

for arch in x86_64 aarch64 riscv64; do
	outcome "$arch" 0 "seconds=0"
	outcome "$arch" 1 "seconds=0 exit=3"
	said "status 3"
	outcome "$arch" 10 "run=panic"
	outcome "$arch" 13 "run=triple"
	outcome "$arch" 12 "run=hang" --timeout 2
	outcome "$arch" 11 "run=hang cpus=1" --stall 1
	outcome "$arch" 11 "run=hang" --stall 1
	said "has not beaten for 1 s"
done

# The hang is in the trace up to its end: CPU 0 went on ticking.
# shellcheck disable=SC2046
run --timeout 3 -- $(demo x86_64 2) -append "debug=ktrace run=hang"
last=$("$ktrace" show "$out" 2>/dev/null | sed -n '$s/^\[ *\([0-9]*\)\..*/\1/p')
check "the last event is of the last second" test "${last:-0}" -ge 2

run -- $no_ktrace
equal "a guest without ktrace" 15 "$status"
said "no ktrace in the guest"

done_testing
