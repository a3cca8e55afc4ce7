#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Every level and setting, with every compiler and for each CPU.
MATRIX=all
export MATRIX
status=0
for test in matrix macros ktr code arguments; do
	sh test/unit/kernel_build/$test.sh || status=1
done
exit $status
