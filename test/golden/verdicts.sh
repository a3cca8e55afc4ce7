# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# doc/verdicts.md is what scripts/verdicts.sh prints. UPDATE=1 writes it anew.
. test/tap.sh

build/test/why-traces "$tmp" >"$tmp/made" 2>&1 || exit 1
KTRACE=$PWD/build/bin/ktrace sh scripts/verdicts.sh "$tmp" >"$tmp/page"
[ -z "${UPDATE-}" ] || cp "$tmp/page" doc/verdicts.md
same "doc/verdicts.md is current: UPDATE=1 sh test/golden/verdicts.sh writes it" doc/verdicts.md "$tmp/page"
for verdict in $(sed -n 's/^## //p' doc/verdicts.md); do
	check "$verdict: the trace has this verdict" sh -c "sed -n '/^## $verdict\$/,/^## /p' doc/verdicts.md | grep -q '^$verdict[ :]'"
done
all=$(sed -n 's/^\t*ROW([A-Z_]*, "\([a-z-]*\)".*/\1/p' host/why/finding.h | sort)
check "host/why/finding.h lists verdicts" test -n "$all"
equal "each verdict of ktrace why is in one of the two galleries" "$all" \
	"$(sed -n 's/^## //p' doc/verdicts.md doc/verdicts-demo.md | sort)"

# doc/verdicts-demo.md is made from runs of the demo kernel. Each verdict in it must be the one that the
# list of scenarios expects now. expected NAME: prints the verdict of a scenario of the demo kernel, and
# the regular expressions for its text.
expected() {
	eval "set -- $(grep "^$1[[:blank:]].*x86_64" test/scenarios/list | head -n 1)"
	echo "${3%:*}"
	shift 4
	for pattern; do
		case $pattern in !*) ;; *) echo "$pattern" ;; esac
	done
}

for verdict in $(sed -n 's/^## //p' doc/verdicts-demo.md); do
	sed -n "/^## $verdict\$/,/^## /p" doc/verdicts-demo.md >"$tmp/lines"
	tr -s ' \n' ' ' <"$tmp/lines" >"$tmp/joined" # a sentence may be broken into two lines
	expected "$(sed -n 's/^\$ ktrace why \(.*\)\.ktrx$/\1/p' "$tmp/lines")" >"$tmp/expected"
	equal "$verdict: a scenario of the demo kernel has this verdict" "$verdict" "$(head -n 1 "$tmp/expected")"
	check "$verdict: the output begins with it" grep -q "^$verdict[ :]" "$tmp/lines"
	sed 1d "$tmp/expected" | while read -r pattern; do
		grep -qE -e "$pattern" "$tmp/lines" "$tmp/joined" || echo "$pattern"
	done >"$tmp/missing"
	equal "$verdict: the output has what the scenario expects" "" "$(cat "$tmp/missing")"
done
done_testing
