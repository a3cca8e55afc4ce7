# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# FEATURES chooses at build time which groups of events exist. Groups that are left out are not in the
# kernel's event table.
. test/tap.sh

# groups FILE: prints the groups in a kernel's event table. The section ktrace_events has descriptors, which
# begin with the group.
groups() {
	objcopy -O binary -j ktrace_events "$1" "$tmp/descriptors"
	for group in sched irq mm lock ipi; do
		tr '\0' '\n' <"$tmp/descriptors" | grep -qxa "$group" && echo "$group"
	done
}

check "a kernel with two groups and without hooks of hardware trace builds" make -s build FEATURES=ktrace-sched,ktrace-irq \
	DEMO_CC_x86_64='gcc -DKTRACE_HWT_HOOKS=0' DEMO_OPTIMISE=-O0 DEMO_OUT="$tmp/two" DEMO_USER_OUT=build/demo DEMO_SAME_OUT=build/demo
equal "the event table of a kernel with two groups has these two" "sched irq" "$(groups "$tmp/two/x86_64/kernel.elf" | xargs)"
KERNEL=$tmp/two/x86_64/kernel.elf
export KERNEL
build/bin/ktrace run -q --timeout $limit --out "$tmp/trace" -- $(sh scripts/qemu.sh x86_64 2) \
	-append "debug=ktrace" >"$tmp/console" 2>"$tmp/err" </dev/null
equal "the kernel with two groups boots and ends" 0 $?
build/bin/ktrace summary "$tmp/trace" >"$tmp/summary" 2>>"$tmp/err"
check "events of a group that is compiled in are recorded" grep -q 'sched.switch' "$tmp/summary"
check "events of a group that is left out are not recorded" sh -c "! grep -q 'mm\.' '$tmp/summary'"
build/bin/ktrace run -q --trace-unit --timeout $limit --out "$tmp/two.ktrx" -- $(sh scripts/qemu.sh x86_64 2) \
	-append "run=hwt:recursion,hwt:-s:0:recursion" >"$tmp/console" 2>"$tmp/err" </dev/null
equal "a kernel without hooks of hardware trace refuses to trace branches and prints the reason" 2 \
	"$(tr -d '\r' <"$tmp/console" | grep -cx 'hwt: this kernel was compiled without the hooks of hardware trace (KTRACE_HWT_HOOKS=0)')"
equal "after it refused to trace branches the kernel continues" 2 "$(tr -d '\r' <"$tmp/console" | grep -cx 'init: hwt: status 1')"
equal "the kernel with everything has all groups" "sched irq mm lock ipi" \
	"$(groups build/demo/x86_64/kernel.elf | xargs)"
check "a kernel without any event builds" make -s demo-x86_64 DEMO_FEATURE_FLAGS=-DKTRACE_DISABLE=1 DEMO_OPTIMISE=-O0 \
	DEMO_OUT="$tmp/off" DEMO_USER_OUT=build/demo DEMO_SAME_OUT=build/demo
equal "the kernel without any event has no event table" "" "$(groups "$tmp/off/x86_64/kernel.elf" | xargs)"
KERNEL=$tmp/off/x86_64/kernel.elf
timeout -k 2 $kill_limit $(sh scripts/qemu.sh x86_64 2) -append "run=traces,tracing" >"$tmp/console" 2>"$tmp/err" </dev/null
equal "the kernel without any event can trace processes" 2 "$(tr -d '\r' <"$tmp/console" | grep -c '^init: traces: status 0\|^init: tracing: status 0')"
unset KERNEL
make -s build FEATURES=ktrace-shed DEMO_OUT="$tmp/none" >"$tmp/messages" 2>&1
check "FEATURES with an unknown group is refused" test $? -ne 0
check "FEATURES with an unknown group: the message suggests a name" grep -q 'ktrace-shed: no such group of events; did you mean ktrace-sched' "$tmp/messages"
check "FEATURES with an unknown group: the message lists the groups" grep -q 'There are .*ktrace-sched' "$tmp/messages"
make -s build FEATURES=ktrace-mm,vfs DEMO_OUT="$tmp/none" >"$tmp/messages" 2>&1
check "FEATURES without the prefix ktrace- is refused" test $? -ne 0
check "FEATURES without the prefix: the message suggests the name with the prefix" grep -q ' vfs: no such group of events; did you mean ktrace-vfs?' "$tmp/messages"
default=$(make -pn -f demo/demo.mk 2>/dev/null | grep '^DEMO_FEATURE_FLAGS')
check "make prints the flags of the default features" test -n "$default"
for features in ktrace ktrace-all ktrace,ktrace-all; do
	equal "FEATURES=$features compiles as the default does" "$default" \
		"$(make -pn -f demo/demo.mk FEATURES=$features 2>/dev/null | grep '^DEMO_FEATURE_FLAGS')"
done
equal "FEATURES=ktrace,GROUP compiles as FEATURES=GROUP does" "$(make -pn -f demo/demo.mk FEATURES=ktrace-mm 2>/dev/null | grep '^DEMO_FEATURE_FLAGS')" \
	"$(make -pn -f demo/demo.mk FEATURES=ktrace,ktrace-mm 2>/dev/null | grep '^DEMO_FEATURE_FLAGS')"

# If several boot arguments select events, the kernel records all of these events. The kernel
# reports an unknown name and continues to boot. events_of ARGUMENTS: prints the groups of the recorded
# events.
events_of() {
	build/bin/ktrace run -q --timeout $limit --out "$tmp/trace" -- $(sh scripts/qemu.sh x86_64 1) -append "$1 run=ls" \
		</dev/null 2>"$tmp/err" | tr -d '\r' >"$tmp/console"
	build/bin/ktrace show "$tmp/trace" 2>>"$tmp/err" | grep -oE ' (sched|syscall|vfs)\.' | sort -u | xargs
}
equal "debug=ktrace debug=syscall records all groups" "sched. syscall. vfs." "$(events_of "debug=ktrace debug=syscall")"
equal "debug=syscall debug=vfs records both groups" "syscall. vfs." "$(events_of "debug=syscall debug=vfs")"
equal "debug=ktrace,syscall records one group" "syscall." "$(events_of "debug=ktrace,syscall")"
equal "debug=shed,syscall records the known group" "syscall." "$(events_of "debug=shed,syscall debug=ned ktrace=nothing=on")"
equal "each unknown word of the boot arguments is reported" "shed ned nothing=on" \
	"$(sed -n 's/.*boot arguments: \([^:]*\):.*/\1/p' "$tmp/console" | xargs)"
check "debug=shed,syscall: a message suggests a name for the unknown group" grep -q 'boot arguments: shed: no such event; did you mean .*sched' "$tmp/console"
check "debug=shed,syscall: the kernel continues to boot" grep -q 'init: ls: status 0' "$tmp/console"
done_testing
