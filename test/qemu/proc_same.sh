#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Compares the calls of one program on two kernels: recorded on Linux by `ktrace record`, and on the demo
# kernel by ktrace(2).
# PROC_ARCHES: architectures to test (default: all three).
. test/tap.sh
. test/qemu/proc_support.sh

# calls FILE: prints a line for each call with its result, beginning with the first call of the program
# itself. Replaces openat(), which the C library of Linux uses, by open(). Removes the paths of descriptors,
# which only the recorder for Linux knows. On Linux, the file is in the directory of this test, because two tests
# may run at the same time.
calls() {
	"$kdump" --oneline -t cnit -f "$1" | sed -E "s|\"$tmp/there|\"/tmp/same|g" | sed -E 's/^ *[0-9]+ +//; s/([0-9D])<[^>]*>/\1/g; s/openat\(AT_FDCWD, /open(/; s/ +<[0-9.]*>$//; s/ +=/ =/; s/0x[0-9a-f]+/ADDRESS/' |
		sed -n '/^open("\/tmp\/same", O_RDWR/,$p' | grep -vE '^(exit|exit_group|\+\+\+)'
}

check "the program compiles for Linux" cc -O1 -Wall -Wextra -Werror -DNAME="\"$tmp/there\"" -o "$tmp/same" \
	demo/user/programs/same.c
"$ktrace" record -f "$tmp/linux" "$tmp/same"
equal "Linux: the program ends with status 0" 0 $?
calls "$tmp/linux" >"$tmp/on-linux"
check "Linux: there are enough calls to compare: $(wc -l <"$tmp/on-linux") calls" test "$(wc -l <"$tmp/on-linux")" -ge 15
for arch in $arches; do
	boot "$arch" 2 ktrace:-f:/tmp/trace:same give:/tmp/trace
	calls "$tmp/given/trace" >"$tmp/on-demo"
	same "$arch: calls on the demo kernel have the same results as on Linux" "$tmp/on-linux" "$tmp/on-demo"
done
done_testing
