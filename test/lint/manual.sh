# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The manual has the options that the rows of a command have: its SYNOPSIS is what `--help=mdoc` prints, and each option of --help is
# described in the page, or in ktrace(1) or ktrace-show(1) if it refers to those. UPDATE=1 writes the SYNOPSIS anew. Each format of export is
# described and tried where formats are listed by hand.
. test/tap.sh

printf '.Sh DESCRIPTION\n.It Fl a , Fl -all\n.Xr ktrace 1\n' >"$tmp/sample.1"
printf '  -a, --all[=N]  all\n      --none\n  --json TEXT\n  -b             -x\n' >"$tmp/sample"
equal "an option that is not described would be found" "sample.1 --json, sample.1 -b, options sample.1 4" \
	"$(awk -f test/lint/manual.awk "$tmp/sample.1" "page=$tmp/sample.1" "$tmp/sample" | sed "s|$tmp/||" | paste -sd , | sed 's/,/, /g')"

build/bin/ktrace --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' >"$tmp/commands"
while read -r command; do
	case $command in
	kdump) page=man/kdump.1 ;;
	ktrdump) page=man/ktrdump.8 ;;
	*) page=man/ktrace-$command.1 ;;
	esac
	check "ktrace $command --help" sh -c "build/bin/ktrace $command --help >$tmp/help-$command"
	build/bin/ktrace "$command" --help=mdoc >"$tmp/synopsis"
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/{/^\.Sh/!p;}' "$page" >"$tmp/page"
	if [ -n "${UPDATE-}" ]; then
		sed -e "/^\.Sh SYNOPSIS/r $tmp/synopsis" -e '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/{/^\.Sh/!d;}' "$page" >"$tmp/new"
		cp "$tmp/new" "$page"
		cp "$tmp/synopsis" "$tmp/page"
	fi
	same "SYNOPSIS of $page: UPDATE=1 sh test/lint/manual.sh writes it" "$tmp/synopsis" "$tmp/page"
	echo "page=$page $tmp/help-$command" >>"$tmp/help"
done <"$tmp/commands"
# shellcheck disable=SC2046
awk -f test/lint/manual.awk man/*.[1-8] $(cat "$tmp/help") >"$tmp/found"
for page in $(sed 's/page=\([^ ]*\) .*/\1/' "$tmp/help"); do
	equal "$page describes all options" '' "$(sed -n "s|^$page ||p" "$tmp/found" | paste -sd ' ')"
	check "$page: there are options" grep -q "^options $page " "$tmp/found"
done
# Formats of export are found by hand in these places.
for format in $(sed -n 's/^EXPORT_FORMATS := //p' host/host.mk); do
	check "$format: ktrace-export(1) describes it" grep -qx "\.It Cm $format" man/ktrace-export.1
	check "$format: ktrace(1), MEMORY has it" sh -c "sed -n '/^\.Sh MEMORY/,/^\.Sh ENV/p' man/ktrace.1 | grep -q 'Fl -format Cm $format'"
	check "$format: README.md has it" grep -qE "^\| .ktrace export --format [a-z\\|]*$format" README.md
	for tests in "test/golden/cmd.sh test/perfetto/golden.sh" test/golden/cmd_stream.sh test/golden/memory.sh; do
		# shellcheck disable=SC2086
		check "$format: $tests" sh -c "cat $tests | grep -qE -e '--format $format|format in .*$format'"
	done
done
# Verdicts of why: the manual has them in the order of the list, which is the order in which problems come first.
sed -n 's/^	ROW([A-Z_]*, "\([a-z-]*\)".*/\1/p' host/why/finding.h >"$tmp/verdicts"
sed -n '/^\.Sh VERDICTS/,/^\.Sh JSON/s/^\.It Li //p' man/ktrace-why.1 | sed 's/ , Li /\n/g' >"$tmp/page"
same "ktrace-why(1), VERDICTS has those of host/why/finding.h, in their order" "$tmp/verdicts" "$tmp/page"
check "there are verdicts" test -s "$tmp/verdicts"
for verdict in $(grep -vx unknown "$tmp/verdicts"); do
	check "$verdict: doc/why.md says what it needs" sh -c "sed -n 's/^| \([a-z, -]*\) |.*/\1/p' doc/why.md | tr -d ' ' | tr , '\n' | grep -qx -e '$verdict'"
	[ "$verdict" = bookkeeping ] || # a mistake in the demo's scheduler
		check "$verdict: a scenario ends so" grep -qE "^[^#	]+	[^	]+	$verdict(:[0-9]+)?	" test/scenarios/list
done
equal "all commands" 18 "$(wc -l <"$tmp/commands")"
done_testing
