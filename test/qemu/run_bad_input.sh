# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace run and extract refuse input that cannot work and print the reason; messages of QEMU itself are
# shown.
. test/tap.sh
. test/qemu/run_support.sh

# fails NAME STATUS TEXT [ARGUMENT OF ktrace run…]: checks the exit status and that the messages have the
# text.
fails() {
	name=$1 wanted=$2 words=$3
	shift 3
	run "$@"
	equal "$name: status" "$wanted" "$status"
	message_has "$words"
}

fails "no command" 2 "no command" --
fails "unknown option" 2 "--help" --nonsense
fails "unknown transport" 2 "invalid value for --transport: 'pigeon' (ram|" --transport pigeon -- true
fails "timeout is no number" 2 "not a number" --timeout soon -- true
fails "command not found" 1 "No such file" -- ./does-not-exist
fails "QEMU not found" 1 "not found" -- qemu-system-pdp7
fails "path to a QEMU that does not exist" 1 "no such program" -- ./qemu-system-x86_64
fails "command without QEMU" 1 "never started a QEMU" -- sh -c 'exit 3'
fails "QEMU refuses its line" 14 "invalid option" -- qemu-system-x86_64 -nonsense
fails "-daemonize" 2 "-daemonize" -- qemu-system-x86_64 -daemonize
fails "-m is no size" 2 "not a memory size" -- qemu-system-x86_64 -m plenty
fails "-m beyond the disk" 2 "--ram-dir" -- $no_ktrace -m 200T
fails "other memory backend" 2 "share=on" -- $no_ktrace -m 64 -object memory-backend-ram,id=a,size=64M -machine memory-backend=a
fails "refused inside a script" 2 "-mem-path" -- sh -c 'qemu-system-x86_64 -mem-path /tmp'
fails "--events without -kernel" 2 "-kernel" --events sched -- $no_ktrace
fails "--events names no group" 2 "has no group or event 'shed'; did you mean sched" --events mm,shed -- $(demo x86_64 1)
fails "--events names no group with the prefix ktrace-" 2 "has no group or event 'shed'; did you mean sched" --events ktrace-shed -- $(demo x86_64 1)
fails "--events names no event" 2 "'sched.swich'; did you mean sched.switch" --events sched.swich -- $(demo x86_64 1)
fails "--events names nothing similar to a group" 2 "; the groups are " --events xyzzy -- $(demo x86_64 1)
fails "--events names no group, QEMU in a script" 2 "no group or event 'shed'" --events shed -- sh -c "exec $(demo x86_64 1)"
fails "--events with blanks" 2 "separate names by commas" --events "sched mm" -- $(demo x86_64 1)
fails "--events without a group of the kernel, by force" 0 "" --force --events shed -- $(demo x86_64 1) -append seconds=0
check "--events without a group of the kernel, by force: the guest suggests a name" grep -q 'shed: no such event; did you mean .*sched' "$tmp/console"
fails "--elf is not an ELF file" 1 "not an ELF file" --elf Makefile -- $no_ktrace
fails "--elf of another kernel" 0 "not the kernel that ran" --elf build/bin/ktrace -- $(demo x86_64 1) -append "seconds=0 debug=ktrace"
fails "transport of another architecture" 2 "no semihosting" --transport semihosting -- $no_ktrace

out=$tmp/nowhere/x
fails "directory is missing" 1 "No such file" -- $no_ktrace
out=$tmp
fails "output is a directory" 1 "not a regular file" -- $no_ktrace
out=$tmp/out.ktrx

run_until 'grep -q "booted again" "$tmp/err"' --allow-reboot -- $(demo x86_64 1 | sed 's/-no-reboot//') -append "run=triple"
equal "--allow-reboot: a guest that reboots for ever runs until the timeout" 12 "$status"
message_has "booted again"

mkdir "$tmp/full"
if mount -t tmpfs -o size=24M ktrace-test "$tmp/full" 2>/dev/null; then
	line="$(demo x86_64 1) -append"
	fails "a disk too small" 2 "MiB left" --ram-dir "$tmp/full" -- $line "debug=ktrace"
	fails "a full disk" 14 "the disk is full" --force --ram-dir "$tmp/full" -- $line "debug=ktrace slots=1048576"
	umount "$tmp/full"
else
	skip "a full disk" "cannot mount a small one"
fi

# KVM is never available for an architecture other than the host's.
foreign=$([ "$(uname -m)" = aarch64 ] && echo x86_64 || echo aarch64)
fails "KVM is missing" 14 "invalid accelerator kvm" -- "qemu-system-$foreign" -M none -display none -accel kvm

# extract NAME STATUS TEXT [ARGUMENT OF ktrace extract…]: checks the exit status and that the messages have
# the text.
extract() {
	name=$1 wanted=$2 words=$3
	shift 3
	status=0
	timeout -k 5 $kill_limit "$ktrace" extract -o "$out" "$@" 2>"$tmp/err" || status=$?
	equal "extract, $name: status" "$wanted" "$status"
	message_has "$words"
}

: >"$tmp/empty"
printf abc >"$tmp/three"
truncate -s 1M "$tmp/zeros"
extract "no file" 2 "give exactly one of FILE"
extract "missing" 1 "No such file" "$tmp/missing"
extract "empty" 1 "empty" "$tmp/empty"
extract "three bytes" 15 "three" "$tmp/three"
extract "zeros" 15 "zeros" "$tmp/zeros"
extract "folder" 1 "regular" "$tmp"
extract "no core" 1 "" --form core "$tmp/zeros"
run -- $(demo x86_64 1) -append "seconds=0"
mv "$out" "$tmp/trace"
extract "a trace" 1 "is already a trace" "$tmp/trace"

equal "qemu-args prints the options for a RAM file" "-m 64M -object memory-backend-file,id=ktrace-ram,size=67108864,mem-path=r,share=on -machine memory-backend=ktrace-ram -no-reboot" \
	"$("$ktrace" qemu-args arm64 --memory 64M --ram r)"
status=0
"$ktrace" qemu-args vax 2>"$tmp/err" || status=$?
equal "qemu-args refuses an unknown architecture" 2 "$status"
done_testing
