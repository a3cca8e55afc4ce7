#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Records a boot and a workload of the demo kernel with the trace unit in software, and measures decoding the
# trace into steps, compared with libipt alone.
set -eu
rings=build/bench/hwt/rings.ktru
timeout -k 2 600 $(sh scripts/qemu.sh x86_64 2) -append run=cost -plugin build/lib/ktrace-pt.so,out="$rings" \
	</dev/null >/dev/null 2>&1 || test $? -ne 124
build/bench/hwt/decode "$rings" && status=0 || status=$?
rm -f "$rings"
exit "$status"
