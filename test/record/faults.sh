#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Page faults of real programs: each page that is accessed for the first time, by program or kernel, with its
# duration; and every lost record is counted.
. test/tap.sh
. test/record/record_support.sh

record -t f -f "$tmp/trace" "$programs/pages"
if grep -qF -- "-t f: page faults cannot be recorded" "$tmp/err"; then
	equal "record -t f fails if page faults cannot be recorded" 1 "$status"
	skip "page faults" "perf_event_open() reports none here"
	done_testing
fi
equal "record -t f succeeds" 0 "$status"

# faults FILE RANGE: prints three numbers for the pages whose addresses begin with RANGE: pages with faults,
# faults, and faults that have a duration.
faults() {
	build/bin/kdump -f "$1" | awk -v range="$2" '
		/ PFLT / { for (n = 1; $n != "PFLT"; n++); mine = index($(n + 1), range) == 1; page = substr($(n + 1), 1, 7) }
		/ PFLT / && mine { pages[page] = 1; faults++ }
		/ PRET / && mine { resolved += / resolved in [0-9.]+ s$/; mine = 0 }
		END { for (page in pages) count++; print count + 0, faults + 0, resolved + 0 }'
}
by() { build/bin/kdump -f "$1" | grep -c "PFLT  $2.* by $3$"; }

equal "each page that the program touches has a fault with a duration" "64 64 64" "$(faults "$tmp/trace" 0x100)"
equal "faults of the program are marked as from user mode" 64 "$(by "$tmp/trace" 0x100 user)"
equal "each page that a second thread touches has a fault with a duration" "8 8 8" "$(faults "$tmp/trace" 0x200)"
check "faults of the second thread have its thread id" sh -c '! build/bin/kdump --json -f "$1" | grep "\"address\":\"*0x2000" | grep -q "\"pid\":\([0-9]*\),\"tid\":\1,"' - "$tmp/trace"
if [ "$(id -u)" -eq 0 ]; then
	equal "each page that the kernel touches for the program has a fault with a duration" "4 4 4" "$(faults "$tmp/trace" 0x300)"
	equal "faults of the kernel are marked as from the kernel" 4 "$(by "$tmp/trace" 0x300 kernel)"
else
	skip "faults of the kernel for the program" "only root may see them"
fi
equal "no record of a few faults is lost" 0 "$(build/bin/kdump -f "$tmp/trace" | sed -n 's/.* END .*bytes, \([0-9]*\) lost$/\1/p')"

record -f "$tmp/usual" "$programs/pages"
equal "without -t f no faults are recorded" 0 "$(lines "$tmp/usual" PFLT)"

# The program causes more faults than the ring holds. Each fault has two samples: each of them is in the file,
# or is counted as lost.
many=30000
record -t f -f "$tmp/many" "$programs/pages" $many
build/bin/kdump -f "$tmp/many" >"$tmp/text"
lost=$(sed -n 's/.* END .*bytes, \([0-9]*\) lost$/\1/p' "$tmp/text")
equal "lost records are reported: $lost" "$((lost > 0))" "$(grep -c 'records of page faults lost' "$tmp/err")"
check "all of many faults are recorded, or counted" \
	test "$(($(grep -c ' PFLT ' "$tmp/text") + $(grep -c ' PRET ' "$tmp/text") + lost))" -ge "$((2 * many))"
equal "each recorded beginning has an end, if nothing is lost" 0 \
	"$(((lost == 0) * ($(grep -c ' PFLT ' "$tmp/text") - $(grep -c ' PRET ' "$tmp/text"))))"

# The kernel cannot resolve the last fault, which kills the program.
record -t sf -f "$tmp/fault" "$programs/pages" 0 die
equal "a program with an invalid access dies of SIGSEGV" 139 "$status"
equal "the fault of an invalid access is recorded once" 1 "$(build/bin/kdump -f "$tmp/fault" | grep -c 'PFLT  0x10 ')"
check "the fault of an invalid access is recorded as not resolved" sh -c 'build/bin/kdump -f "$1" | grep -A1 "PFLT  0x10 " | grep -q "PRET  EFAULT in"' - "$tmp/fault"

# If no file descriptors are left for perf, the threads continue and a message reports the failure.
(ulimit -n 27 && record -t cf -f "$tmp/crowd" "$programs/threads"; echo "$status" >"$tmp/status")
equal "too few descriptors: exit status" 1 "$(cat "$tmp/status")"
message_has "threads were not recorded: Too many open files"
done_testing
