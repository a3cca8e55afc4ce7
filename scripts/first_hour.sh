#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Follows doc/first-hour.md as a reader would: writes its files into DIRECTORY and runs its commands there. Skips
# the first block of commands, which builds the tools and makes the directory.
#	scripts/first_hour.sh DIRECTORY
set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL # the page's make must not use the options of a make that runs this script
page=$PWD/doc/first-hour.md
PATH=$PWD/build/bin:$PATH
single=$PWD/build/single
rm -rf "$1"
mkdir -p "$1"
cd "$1"
awk -v single="$single" '
	/^<!-- file: / { file = $3; next }
	/^<!-- run -->$/ { runs++; run = 1; next }
	/^```$/ && inside { if (file != "") print "END_OF_FILE"; inside = 0; file = ""; run = 0; next }
	/^```/ {
		inside = file != "" || run
		if (file != "")
			print "cat >" file " <<\"END_OF_FILE\""
		next
	}
	inside && (file != "" || runs > 1) { gsub("[.][.]/single", single); print }' "$page" >commands
sh -eu commands </dev/null
