# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# FEATURES chooses at build time which groups exist; what is left out is not in the kernel's event table.
. test/tap.sh

groups() { # kernel: groups in its event table
	strings -a "$1" >/dev/null # the tool is there
	build/bin/ktrace run -q --timeout 30 --out "$tmp/trace" -- $(sh scripts/qemu.sh x86_64 1) \
		-append "run=mix" >/dev/null 2>"$tmp/err" </dev/null
	build/bin/ktrace summary --json "$tmp/trace" 2>/dev/null | grep -o '"event": *"[a-z]*' | sed 's/.*"//' | sort -u
}

check "a kernel with two groups builds" make -s build FEATURES=ktrace-sched,ktrace-irq
groups build/demo/x86_64/kernel.elf >"$tmp/two"
check "sched is recorded" grep -qx sched "$tmp/two"
check "irq is recorded" grep -qx irq "$tmp/two"
check "mm is not there: $(tr '\n' ' ' <"$tmp/two")" sh -c "! grep -qx mm '$tmp/two'"
check "the kernel with all groups builds again" make -s build FEATURES=ktrace-all
groups build/demo/x86_64/kernel.elf >"$tmp/all"
check "mm is recorded now" grep -qx mm "$tmp/all"
done_testing
