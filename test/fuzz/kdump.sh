# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The sanitized kdump over damaged process traces of every format: it ends with status 0 or 1, with no finding, and what it wrote
# is whole lines of printable text and tabs, or JSON with harmless strings. COUNT damaged copies a trace, each in one form in turn.
. test/tap.sh
. test/fuzz/commands.sh

count=${COUNT:-40}
cp test/golden/proc/*.ktrace "$tmp" && build/test/kdump-traces "$tmp" || exit 1
cd "$tmp" || exit 1
# A trace of golden/proc is named after its format, which a damaged copy may not show.
set --
for trace in *.ktrace; do
	damage "$count" "$trace"
	format=${trace%.ktrace}
	case $format in
	ktrx | dragonfly | freebsd*) set -- "$@" "damaged-$trace:--format $format" ;;
	*) set -- "$@" "damaged-$trace" ;;
	esac
done
"$commands" "$count" "$@" <<'LINES'
0,1 tabs kdump %
0,1 tabs kdump --oneline @ %
0,1 json kdump --json @ %
0,1 tabs kdump --count %
0,1 tabs kdump -AcdEHrRST -m 0 @ %
0,1 tabs kdump -j -n -t csitlfpuy @ %
0,1 tabs kdump --oneline --names -m 0 -TRE @ %
0,1 json kdump --json -m 0 --table linux @ %
LINES
