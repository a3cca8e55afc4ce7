# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The server of `ktrace open` gives the answers of `ktrace show`, and survives hostile clients. The program is built with
# AddressSanitizer.
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-test.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

build/test/cmd-traces "$tmp" >"$tmp/log" 2>&1 || exit 1
# `ktrace open` starts a browser only on a terminal, so it starts none here.
build/test/ktrdump-traces "$tmp" >"$tmp/log" 2>&1 || exit 1
build/test/kdump-traces "$tmp" >"$tmp/log" 2>&1 || exit 1
build/test/serve-guests "$tmp" >"$tmp/log" 2>&1 || exit 1
python3 test/serve/hostile.py build/asan/bin/ktrace "$tmp/v2.ktrx" "$tmp"
