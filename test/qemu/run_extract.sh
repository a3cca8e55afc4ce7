# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# QEMU started by hand: the options of `ktrace qemu-args`, and `ktrace extract` on its RAM file and on a core.
. test/tap.sh
. test/qemu/run_support.sh

# Boots the demo kernel of $1 for about two seconds; QEMU writes a core meanwhile.
boot_by_hand() {
	# shellcheck disable=SC2046
	{
		echo '{"execute":"qmp_capabilities"}'
		sleep 2
		echo '{"execute":"dump-guest-memory","arguments":{"paging":false,"protocol":"file:'"$tmp"'/core"}}'
		sleep 1
		echo '{"execute":"quit"}'
	} | timeout -k 5 30 $(demo "$1" 2 | sed 's/-nographic/-display none/; s/-m 128M//; s/-no-reboot//') \
		$("$ktrace" qemu-args "$1" --ram "$tmp/ram") -append "debug=ktrace run=forever" -qmp stdio >"$tmp/qmp"
}

readable() {
	check "$1: extracted" "$ktrace" extract -o "$out" "$2"
	check "$1: events" sh -c "'$ktrace' show '$out' | grep -q sched.switch"
	rm -f "$out" "$2"
}

for arch in x86_64 aarch64 riscv64; do
	boot_by_hand "$arch"
	check "$arch, RAM file: by symbol" "$ktrace" extract -o "$out" --elf "build/demo/$arch/kernel.elf" "$tmp/ram"
	check "$arch, RAM file: events found by symbol" sh -c "'$ktrace' show '$out' | grep -q sched.switch"
	readable "$arch, RAM file" "$tmp/ram"
	check "$arch, core: registers are with it" sh -c \
		"'$ktrace' extract -o '$out' '$tmp/core' 2>/dev/null && '$ktrace' show --registers --elf 'build/demo/$arch/kernel.elf' '$out' |
		grep -cE '^cpu [01] .*pc=[0-9a-f]+ [a-z_]+' | grep -qx 2"
	check "$arch, core: stacks are with it" sh -c \
		"'$ktrace' show --registers '$out' | grep -cE '^stack [01]( [0-9a-f]+)+' | grep -qx 2"
	check "$arch, core: why reads both of the core itself" sh -c \
		"'$ktrace' why --all --elf 'build/demo/$arch/kernel.elf' '$tmp/core' 2>/dev/null |
		grep -cE '^        (at|by) .*[(](demo|kernel|include)/.*:[0-9]+[)]' | grep -qvx '[01]'"
	readable "$arch, core" "$tmp/core"
done

done_testing
