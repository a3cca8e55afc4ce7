# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Runs the sanitized kdump over damaged process traces of every format. kdump ends with status 0 or 1, without
# a finding of a sanitizer. Its output is whole lines of printable text and tabs, or JSON whose strings have
# no control characters. There are COUNT damaged copies of a trace; each copy is printed in one output format;
# the formats take turns.
. test/tap.sh
. test/fuzz/commands.sh

count=${COUNT:-20}
cp test/golden/proc/*.ktrace "$tmp" && build/test/kdump-traces "$tmp" || exit 1
cd "$tmp" || exit 1
# The name of each file in golden/proc is the name of its format. The test passes the format to the command,
# because the command may not detect the format of a damaged copy.
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
0,1 tabs kdump --where not(call~"a*")and(not(thread~"l*")or(not(path~"/e*"))) @ %
LINES
