# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A QEMU that is started by hand, with the options that `ktrace qemu-args` prints. `ktrace extract` reads its
# RAM file and a core.
. test/tap.sh
. test/qemu/run_support.sh

# readable NAME FILE: checks that extract finds events in the file; removes the file.
readable() {
	check "$1: extract succeeds" "$ktrace" extract -o "$out" "$2"
	check "$1: the trace has events" sh -c "'$ktrace' show '$out' | grep -q sched.switch"
	rm -f "$out" "$2"
}

for arch in x86_64 aarch64 riscv64; do
	boot_for_core "$arch"
	check "$arch, RAM file: extract --elf succeeds" "$ktrace" extract -o "$out" --elf "build/demo/$arch/kernel.elf" "$tmp/guest"
	check "$arch, RAM file: the trace of extract --elf has events" sh -c "'$ktrace' show '$out' | grep -q sched.switch"
	readable "$arch, RAM file" "$tmp/guest"
	check "$arch, core: the trace has registers of both CPUs" sh -c \
		"'$ktrace' extract -o '$out' '$tmp/core' 2>/dev/null && '$ktrace' show --registers --elf 'build/demo/$arch/kernel.elf' '$out' |
		grep -cE '^cpu [01] .*pc=[0-9a-f]+ [a-z_]+' | grep -qx 2"
	check "$arch, core: the trace has stacks of both CPUs" sh -c \
		"'$ktrace' show --registers '$out' | grep -cE '^stack [01]( [0-9a-f]+)+' | grep -qx 2"
	check "$arch, core: why reads registers and stacks from the core itself" sh -c \
		"'$ktrace' why --all --elf 'build/demo/$arch/kernel.elf' '$tmp/core' 2>/dev/null |
		grep -cE '^        (at|by) .*[(](demo|kernel|include)/.*:[0-9]+[)]' | grep -qvx '[01]'"
	readable "$arch, core" "$tmp/core"
done

done_testing
