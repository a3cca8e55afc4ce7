#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Draws the picture of README.md: two milliseconds of the demo kernel, from shortly before its second network connection.
#	scripts/picture.sh TRACE OUT.svg
set -eu
start=$(build/bin/ktrace show --event net.connect "$1" 2>/dev/null |
	sed -n '2s/^\[ *\([0-9.]*\)\].*/\1/p' | awk '{ printf "%.6f", $1 - 0.0005 }')
test -n "$start"
exec build/bin/ktrace show --from "$start" --to "$(echo "$start" | awk '{ printf "%.6f", $1 + 0.002 }')" --svg "$2" "$1"
