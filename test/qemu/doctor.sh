# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace doctor boots three kernels. The demo kernel has no mistakes, and provides data for nearly all views.
# The kernel of examples/minimal has no mistakes, but provides data for only a few views. The third guest has no
# ktrace. Also tests a file of another build, a wrong linker script and a wrong port.
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/minimal_support.sh

# doctor [OPTION…] -- COMMAND…: runs ktrace doctor. Stores the report in $tmp/report and the exit
# status in $status.
doctor() {
	status=0
	timeout -k 5 $kill_limit "$ktrace" doctor "$@" </dev/null >"$tmp/report" 2>"$tmp/err" || status=$?
}

# reported MARK ABOUT TEXT: checks that a line of the report has this mark, this subject and this
# text.
reported() {
	check "the report has a line: $1 $2 $3" grep -qE "^$1 +$2 +.*$3" "$tmp/report"
}

for arch in x86_64 aarch64 riscv64; do
	# An x86_64 guest reads the host's counters, which may differ between CPUs. Therefore the guest
	# measures its clocks.
	# shellcheck disable=SC2046
	doctor --seconds $limit --out "$out" -- $(demo "$arch" 2) -append "debug=ktrace ktrace=debug.ktr.resynchronize=1 seconds=1"
	equal "$arch: doctor finds no mistake in the demo kernel" 0 "$status"
	[ "$status" -eq 0 ] || cat "$tmp/report" >&2
	reported ok root 'by a search of'
	reported ok 'linked in' 0x
	reported ok ktrace_events 'inside the image'
	reported ok 'build id' 'file.s and the trace.s'
	reported ok rings 'each of 2 CPUs'
	reported ok heartbeats 'by CPU: [1-9][0-9]*, [1-9]'
	reported ok cost ' ns an event'
	reported '(ok|note)' order 'cause'
	reported note 'not called' 'linked in, but not called in this run: .*space'
	reported ok lit 'rings, cpus, thread-ids, switch, wake, wake-nobody, block'
	check "$arch: the guest's console is not in the report" grep -q . "$tmp/err"
	"$ktrace" doctor --json "$out" >"$tmp/json" 2>"$tmp/messages"
	equal "$arch: doctor finds no mistake in the trace of the demo kernel" 0 $?
	grep -o '"mark":"[a-z]*","about":"[^"]*"' "$tmp/json" | sort >"$tmp/again"
	grep -o '"mark":"ok","about":"lit"' "$tmp/again" >"$tmp/lit"
	equal "$arch: doctor --json reports lit views" 1 "$(wc -l <"$tmp/lit")"
done

"$ktrace" doctor --elf build/demo/aarch64/kernel.elf "$out" >"$tmp/report" 2>"$tmp/err"
equal "a kernel file of another architecture is reported as wrong" 10 $?
reported wrong 'build id' 'another build'
reported wrong symbols .

library=$PWD/build/test/minimal
check "the library is built" test -e "$library/ktrace.o"

# build NAME: builds the copy of examples/minimal in $tmp/NAME.
build() {
	minimal_kernel "$tmp/$1" "$library" >"$tmp/make" 2>&1
}
virt="qemu-system-riscv64 -M virt -bios none -smp 4 -nographic -kernel"

cp -r examples/minimal "$tmp/sound"
check "the smallest integration builds" build sound
doctor --seconds $limit --out "$tmp/sound.ktrx" -- sh -c "exec $virt '$tmp/sound/build/kernel.elf'"
equal "doctor finds no mistake in the smallest integration" 0 "$status"
reported ok 'linked in' 0x # found in the file given to QEMU, although a shell hides QEMU's arguments
reported dark switch 'CPU tracks'
reported dark space 'which address space'
check "a dark view is reported with the line that adds it" grep -qF 'the context switch: ktrace_switch(prev, next, state);' "$tmp/report"
reported dark 'build id' '--build-id'

# A trace may name any path as its kernel, even that of a pipe.
mv "$tmp/sound/build/kernel.elf" "$tmp/sound.elf"
mkfifo "$tmp/sound/build/kernel.elf"
doctor "$tmp/sound.ktrx"
equal "doctor does not wait for a pipe in place of the kernel file" 0 "$status"

# Neither build has a build id. But the added array changes the address of ktrace_root, so doctor detects
# that the file is of another build.
cp -r examples/minimal "$tmp/changed"
echo 'char added[4096] = { 1 };' >>"$tmp/changed/kernel.c"
check "a changed kernel builds" build changed
doctor --elf "$tmp/changed/build/kernel.elf" "$tmp/sound.ktrx"
equal "the kernel file of another build is reported as wrong" 10 "$status"
reported wrong symbols 'is NOT the kernel that was traced'
doctor --elf "$tmp/sound.elf" "$tmp/sound.ktrx"
equal "the kernel file of the same build is accepted" 0 "$status"

# Without a CPU number from the port, all CPUs record as CPU 0.
cp -r examples/minimal "$tmp/one"
echo '/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */' >"$tmp/one/ktrace_port.h"
one() { minimal_library "$tmp/one" "$tmp/one/library" && minimal_kernel "$tmp/one" "$tmp/one/library"; }
check "a port without CPU numbers builds" one
doctor --seconds $limit -- $virt "$tmp/one/build/kernel.elf"
reported wrong 'CPU numbers' 'ktrace_cpu_online.1. failed on its CPU, and others failed: .*remove all objects'
check "a missing CPU number is reported with the line that adds it" grep -qF '#define ktrace_arch_cpu()' "$tmp/report"

# The event descriptors are after the symbol `end`, where the memory begins that the kernel
# allocates.
cp -r examples/minimal "$tmp/after_end"
sed -i 's/\(\.bss *:\)/end = .; \1/' "$tmp/after_end/kernel.ld"
check "a kernel whose linker script defines its end too early builds" build after_end
doctor --seconds $limit -- $virt "$tmp/after_end/build/kernel.elf"
equal "a linker script that defines the end too early is reported as wrong" 10 "$status"
reported wrong ktrace_events "after the image's end"

# shellcheck disable=SC2086
doctor --seconds $limit -- $no_ktrace
equal "a guest without ktrace is reported as wrong" 10 "$status"
reported wrong root 'no ktrace_root'
check "doctor leaves no temporary files" sh -c "! ls -d '$tmp'/ktrace-doctor.*"
done_testing
