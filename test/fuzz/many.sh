# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Runs the tests with damaged traces with many more copies than `make check`: COUNT copies of each trace.
. test/tap.sh

COUNT=${COUNT:-2000}
export COUNT
for test in cmd kdump why; do
	check "test/fuzz/$test.sh with $COUNT copies" sh test/fuzz/$test.sh
done
done_testing
