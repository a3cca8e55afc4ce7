# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Every exported symbol of the host library begins with ktread_, or with base_ if it is from host/base.
# test/unit/kernel_build checks the kernel's symbols.
. test/tap.sh

# prefix NAME PATTERN FILE…: checks that the names of all defined global symbols match PATTERN.
prefix() {
	name=$1 pattern=$2
	shift 2
	[ -e "$1" ] || { fail "$name" "$1 was not built"; return; }
	nm -g --defined-only "$@" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u | grep -vE "$pattern" >"$tmp/odd" || :
	if [ -s "$tmp/odd" ]; then fail "$name" "$(head -n 20 "$tmp/odd")"; else pass "$name"; fi
}

prefix "the host library exports only symbols with the prefix ktread_ or base_" '^(ktread|base)_' build/lib/libktread.a
done_testing
