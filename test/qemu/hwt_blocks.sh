# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# What the trace unit in software tells of an AArch64 guest, decoded by OpenCSD, is what QEMU says that it ran, block by block.
. test/tap.sh

# blocks WORKLOAD [OPTIONS OF THE UNIT]
blocks() {
	rm -f "$tmp/rings" "$tmp/log"
	# shellcheck disable=SC2046
	timeout -k 2 100 $(sh scripts/qemu.sh aarch64 2) -append "run=$1" \
		-plugin "build/lib/ktrace-pt.so,out=$tmp/rings,size=64M,code=16M${2:-}" \
		-d exec,nochain -D "$tmp/log" </dev/null >"$tmp/console" 2>&1
	check "$1${2:-}: what is decoded is what was run" build/test/hwt_blocks "$tmp/rings" "$tmp/log"
}

blocks pingpong
blocks calls ,returns=off
blocks fault ,exact=on
done_testing
