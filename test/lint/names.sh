# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Every exported symbol of the host library carries its room's prefix, ktread_ or, for what it takes from host/base, base_; test/unit/kernel_build looks at the kernel's.
. test/tap.sh

# prefix "name" PATTERN FILE…: all defined global symbols match.
prefix() {
	name=$1 pattern=$2
	shift 2
	[ -e "$1" ] || { fail "$name" "$1 was not built"; return; }
	nm -g --defined-only "$@" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u | grep -vE "$pattern" >"$tmp/odd" || :
	if [ -s "$tmp/odd" ]; then fail "$name" "$(head -n 20 "$tmp/odd")"; else pass "$name"; fi
}

prefix "the host library exports ktread_ and base_ only" '^(ktread|base)_' build/lib/libktread.a
done_testing
