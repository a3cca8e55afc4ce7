# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Compares the manual with the program. The SYNOPSIS of a command is what `--help=mdoc` prints; UPDATE=1
# writes it anew. Each option of --help is described in the page, or in ktrace(1) or ktrace-show(1) if the
# page refers to those. Each page has all sections, and its EXIT STATUS has each status that --help names.
# Each format of export is described, and tested in the scripts that list formats by hand.
. test/tap.sh

printf '.Sh DESCRIPTION\n.It Fl a , Fl -all\n.Xr ktrace 1\n' >"$tmp/sample.1"
printf '  -a, --all[=N]  all\n      --none\n  --json TEXT\n  -b             -x\n' >"$tmp/sample"
equal "an option without a description is found" "sample.1 --json, sample.1 -b, options sample.1 4" \
	"$(awk -f test/lint/manual.awk "$tmp/sample.1" "page=$tmp/sample.1" "$tmp/sample" | sed "s|$tmp/||" | paste -sd , | sed 's/,/, /g')"

printf '.Sh %s\n' NAME SYNOPSIS DESCRIPTION EXAMPLES 'EXIT STATUS' >"$tmp/bare.8"
printf '.It 0\n.It 128+n\n.It 12\n.Sh ERRORS\n.It 1\n' >>"$tmp/bare.8"
printf '.Sh EXAMPLES\n.Bd -literal\n.Ed\n.Sh SEE ALSO\n' >"$tmp/bare.2"
printf 'Runs 7 things.\n\nExit status: 0 fine, 1 bad,\n12 late. 128+n: signal.\n\nIn 5 s\n' >"$tmp/help-bare"
equal "a missing section and a missing exit status are found" \
	"bare.8 status 1, bare.8 EXAMPLES, bare.8 SEE ALSO, bare.2 NAME, bare.2 SYNOPSIS, bare.2 DESCRIPTION, bare.2 RETURN VALUES, bare.2 ERRORS" \
	"$(awk -f test/lint/manual_sections.awk "$tmp/bare.8" "$tmp/bare.2" "page=$tmp/bare.8" "$tmp/help-bare" | sed "s|$tmp/||" |
		paste -sd , | sed 's/,/, /g')"

build/bin/ktrace --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' >"$tmp/commands"
while read -r command; do
	case $command in
	kdump) page=man/kdump.1 ;;
	ktrdump) page=man/ktrdump.8 ;;
	*) page=man/ktrace-$command.1 ;;
	esac
	check "ktrace $command --help succeeds" sh -c "build/bin/ktrace $command --help >$tmp/help-$command"
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
	check "$page: --help has options" grep -q "^options $page " "$tmp/found"
done
# shellcheck disable=SC2046
awk -f test/lint/manual_sections.awk man/*.[1-8] $(cat "$tmp/help") >"$tmp/missing"
for page in man/*.[1-8]; do
	equal "$page has all sections and exit statuses" '' "$(sed -n "s|^$page ||p" "$tmp/missing" | paste -sd ,)"
done
if command -v mandoc >/dev/null; then
	# Pages to which the manual refers may be absent on this machine, so such reports of mandoc are
	# ignored.
	mandoc -T lint man/*.[1-8] 2>/dev/null | grep -v 'STYLE: referenced manual not found' >"$tmp/style" || :
	check "mandoc -T lint reports nothing: $(head -n 3 "$tmp/style")" test ! -s "$tmp/style"
else
	skip "mandoc -T lint reports nothing" "mandoc is not installed"
fi
# These files have their own lists of the export formats. Each list must be complete.
for format in $(sed -n 's/^EXPORT_FORMATS := //p' host/host.mk); do
	check "$format: ktrace-export(1) describes it" grep -qx "\.It Cm $format" man/ktrace-export.1
	check "$format: ktrace(1), MEMORY describes it" sh -c "sed -n '/^\.Sh MEMORY/,/^\.Sh ENV/p' man/ktrace.1 | grep -q 'Fl -format Cm $format'"
	check "$format: doc/commands.md lists it" grep -qE "^\| .ktrace export --format [a-z\\|]*$format" doc/commands.md
	for tests in "test/golden/cmd.sh test/perfetto/golden.sh" test/golden/cmd_stream.sh test/golden/memory.sh; do
		# shellcheck disable=SC2086
		check "$format: it is tested in $tests" sh -c "cat $tests | grep -qE -e '--format $format|format in .*$format'"
	done
done
# The manual must have the verdicts of why in the same order as host/why/finding.h: the order of precedence.
sed -n 's/^		*ROW([A-Z_]*, "\([a-z-]*\)".*/\1/p' host/why/finding.h >"$tmp/verdicts"
sed -n '/^\.Sh VERDICTS/,/^\.Sh JSON/s/^\.It Li //p' man/ktrace-why.1 | sed 's/ , Li /\n/g' >"$tmp/page"
same "ktrace-why(1), VERDICTS has the verdicts of host/why/finding.h in the same order" "$tmp/verdicts" "$tmp/page"
check "host/why/finding.h has verdicts" test -s "$tmp/verdicts"
for verdict in $(grep -vx unknown "$tmp/verdicts"); do
	check "$verdict: doc/why.md lists what it needs" sh -c "sed -n 's/^| \([a-z, -]*\) |.*/\1/p' doc/why.md | tr -d ' ' | tr , '\n' | grep -qx -e '$verdict'"
	# bookkeeping: a mistake in the demo's scheduler; ended: a kernel that records less than the demo
	[ "$verdict" = bookkeeping ] || [ "$verdict" = ended ] ||
		check "$verdict: a scenario expects it" grep -qE "^[^#	]+	[^	]+	$verdict(:[0-9]+)?	" test/scenarios/list
done

# ktrace(1) must list every page. A page that is not about a command must also be in doc/commands.md.
for page in man/*.[1-9]; do
	name=$(basename "$page")
	[ "$name" != ktrace.1 ] || continue
	entry=".It Xr ${name%.*} ${name##*.}"
	check "$page: ktrace(1) lists it" grep -qxF -- "$entry" man/ktrace.1
	link="](../man/$name)"
	[ "$name" = ktrace-kdump.1 ] || grep -q "^page=$page " "$tmp/help" ||
		check "$page: doc/commands.md names it" grep -qF -- "$link" doc/commands.md
done

# in_kernel DIRECTORY: prints each setting that the directory's sources declare. Adds its range of values if the
# source states the limit as a number.
in_kernel() {
	find "$1" -name '*.[ch]' -exec cat {} + | sed -n 's/^KTRACE_SETTING_\([A-Z0-9]*\)("\([^"]*\)", \(.*\));$/\2 \1 \3/p' |
		awk '/KTRX_SETTING_READ_ONLY$/ { print $1, "read only"; next }
			$2 ~ /^BIT/ { print $1, "0 to 1"; next }
			$2 == "RANGE" && /, 0, [0-9]+$/ { print $1, "0 to", $NF; next }
			{ print $1 }' | sort
}
# in_page SECTION: prints each setting in this section of ktr(4), with its range of values if the page has
# one.
in_page() {
	awk -v section="$1" '
		/^\.S[hs] / { inside = $0 ~ section }
		/^\.It Va / && inside { n = 0; for (i = 3; i <= NF; i++) if ($i != ",") name[++n] = $i; next }
		inside && n { takes = /^\.Pq / ? " " substr($0, 5) : ""; for (i = 1; i <= n; i++) print name[i] takes; n = 0 }' <man/ktr.4 | sort
}
for place in kernel:library demo/kern:demo; do
	in_kernel "${place%:*}" >"$tmp/declared"
	in_page "${place#*:}" >"$tmp/page"
	# A range in the page is compared only if the source states the limit as a number.
	awk 'NR == FNR { known[$1] = NF > 1; next } { print ($1 in known) && !known[$1] ? $1 : $0 }' "$tmp/declared" "$tmp/page" >"$tmp/described"
	same "ktr(4) has the settings that ${place%:*} declares, with their ranges" "$tmp/declared" "$tmp/described"
	check "${place%:*} declares settings" test "$(wc -l <"$tmp/declared")" -gt 8
done

# ktrace(2) and utrace(2) must have each constant of sys/ktrace.h except those for the kernel, and no others.
sed -n 's/^#define \(KTR[A-Z_]*\)[ 	].*/\1/p' include/user/sys/ktrace.h | grep -vxE 'KTRFAC_(ROOT|ACTIVE)|KTRACE_LINUX_.*' | sort >"$tmp/declared"
cat man/ktrace.2 man/utrace.2 | grep -oE 'Dv KTR[A-Z_]+' | sed 's/Dv //' | sort -u >"$tmp/page"
same "ktrace(2) and utrace(2) have the constants of sys/ktrace.h" "$tmp/declared" "$tmp/page"

# hwt(8) must have exactly the options of the demo kernel's program.
sed -n 's/.*\.letters = "\([^"]*\)".*/\1/p' demo/user/tools/hwt.c | tr -d ':' | fold -w 1 | sort >"$tmp/declared"
sed -n 's/^\.It Fl \([a-zA-Z]\).*/\1/p' man/hwt.8 | sort >"$tmp/page"
same "hwt(8) has the options of demo/user/tools/hwt.c" "$tmp/declared" "$tmp/page"
equal "ktrace --help lists all commands of host/host.mk" "$(sed -n 's/^COMMANDS := //p' host/host.mk | wc -w)" "$(wc -l <"$tmp/commands")"
done_testing
