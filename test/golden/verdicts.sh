# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# doc/verdicts.md is what scripts/verdicts.sh prints. UPDATE=1 writes it anew.
. test/tap.sh

build/test/why-traces "$tmp" >"$tmp/made" 2>&1 || exit 1
KTRACE=$PWD/build/bin/ktrace sh scripts/verdicts.sh "$tmp" >"$tmp/page"
[ -z "${UPDATE-}" ] || cp "$tmp/page" doc/verdicts.md
same "doc/verdicts.md is current: UPDATE=1 sh test/golden/verdicts.sh writes it" doc/verdicts.md "$tmp/page"
for verdict in $(sed -n 's/^## //p' doc/verdicts.md); do
	check "$verdict: the trace has this verdict" sh -c "sed -n '/^## $verdict\$/,/^## /p' doc/verdicts.md | grep -q '^$verdict ('"
done
all=$(sed -n 's/^\t*ROW([A-Z_]*, "\([a-z-]*\)".*/\1/p' host/why/finding.h | sort)
check "host/why/finding.h lists verdicts" test -n "$all"
equal "each verdict of ktrace why is in one of the two galleries" "$all" \
	"$(sed -n 's/^## //p' doc/verdicts.md doc/verdicts-demo.md | sort)"
done_testing
