#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
#	scripts/page_picture.sh
#
# Makes doc/images/page.png: the page of a deadlock of the demo kernel, in Chromium. Needs build/bin/ktrace, the demo
# kernel for x86_64, and the packages of `sh test/npm.sh viewer`.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
ktrace=$PWD/build/bin/ktrace

# Status 12: ktrace run ended the run after this time.
"$ktrace" run --timeout 3 --out "$tmp/deadlock.ktrx" -- $(sh scripts/qemu.sh x86_64 2) -append run=abba \
	>"$tmp/log" 2>&1 </dev/null || [ $? -eq 12 ]
(cd "$tmp" && "$ktrace" html deadlock.ktrx -o page.html 2>"$tmp/log")
mkdir -p doc/images
HOME=$tmp node test/viewer/picture.mjs build/test/viewer "$(command -v chromium)" "$tmp/page.html" doc/images/page.png
