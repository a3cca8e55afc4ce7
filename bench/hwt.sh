#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# What the trace unit in software writes while the demo kernel boots and works, made into steps: beside libipt alone.
set -eu
rings=build/bench/hwt/rings.ktru
timeout -k 2 120 $(sh scripts/qemu.sh x86_64 2) -append run=cost -plugin build/lib/ktrace-pt.so,out="$rings" \
	</dev/null >/dev/null 2>&1 || test $? -ne 124
build/bench/hwt/decode "$rings" && status=0 || status=$?
rm -f "$rings"
exit "$status"
