#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The examples of ktrace(2) and utrace(2) compile and behave as described.
. test/tap.sh
. test/record/record_support.sh

# example PAGE NAME: compiles the program in the page.
example() {
	sed -n '/^#include/,/^}/p' "$1" >"$tmp/$2.c"
	check "$1: the example compiles" cc -Wall -Wextra -Werror -Iinclude/user -o "$tmp/$2" "$tmp/$2.c"
}

example man/utrace.2 miss
record -t u -f "$tmp/miss.ktrace" "$tmp/miss"
check "man/utrace.2: kdump shows the line of the page" sh -c 'sed -n "s/.*miss  *USER/USER/p" man/utrace.2 |
	grep -qxF -- "$(build/bin/kdump -t u -f "$1" | sed "s/.*USER/USER/")"' - "$tmp/miss.ktrace"

example man/ktrace.2 part
(cd "$tmp" && XDG_RUNTIME_DIR="$tmp" "$OLDPWD/build/bin/ktrace" record -t u ./part)
equal "man/ktrace.2: the example succeeds" 0 $?
shown "$tmp/part.ktrace" 'NAMI  "/etc/passwd"'
equal "man/ktrace.2: one path is looked up while it is traced" 1 "$(lines "$tmp/part.ktrace" NAMI)"
shown "$tmp/part.ktrace" 'END   closed: '
"$tmp/miss"
equal "without ktrace record the calls are harmless" 0 $?
done_testing
