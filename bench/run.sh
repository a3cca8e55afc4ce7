#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Runs benches one after another and collects their JSON lines in build/bench.json (one array).
set -u
unset ACCEL # figures are of TCG
out=build/bench.json
status=0
: >"$out.lines"
for run; do
	echo "== $run" >&2
	sh -c "$run" >>"$out.lines" || status=1
done
{ echo '['; sed '$!s/$/,/' "$out.lines"; echo ']'; } >"$out"
rm -f "$out.lines"
echo "figures: $out" >&2
exit $status
