#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Prints test/README.md with an updated table of sources and tests. `make map` writes this output to
# the file; test/lint/docs.sh checks that the file is up to date.
set -eu
cd "$(dirname "$0")/.."
sed '/^| source | tests |$/,$d' test/README.md
echo '| source | tests |'
echo '|---|---|'
LC_ALL=C awk -f test/map.awk $(find host kernel -name '*.c' | LC_ALL=C sort) $(find test -name '*.c' | LC_ALL=C sort) \
	$(find test -name '*.sh' | LC_ALL=C sort)
