# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The sanitized command line over damaged traces: it ends with status 0, 1, 2 or (doctor) 10, in time, with no finding, and what it
# wrote to its standard output is whole lines, without a control character in what it said. COUNT damaged copies a
# trace, each through one command in turn.
. test/tap.sh

count=${COUNT:-60}
bin=$PWD/build/asan/bin
rules=$PWD/share/default.rules
mutate=$PWD/build/test/cmd-mutate
build/test/cmd-traces "$tmp" || exit 1
cd "$tmp" || exit 1
export ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1:detect_leaks=1

command_number() { # N FILE
	case $(($1 % 23)) in
	0) "$bin/ktrace" show "$2" ;;
	1) "$bin/ktrace" show --json "$2" ;;
	2) "$bin/ktrace" summary "$2" ;;
	3) "$bin/ktrace" summary --json "$2" ;;
	4) "$bin/ktrace" export --format json "$2" -o - ;;
	5) "$bin/ktrace-decode" "$2" ;;
	6) "$bin/ktrace-decode" --summary "$2" ;;
	7) "$bin/ktrace" show --event '*s*' --cpu 0-3 --limit 20 "$2" ;;
	8) "$bin/ktrace" show --form bare --frequency 1000 "$2" ;;
	9) "$bin/ktrace" export --format stream "$2" -o made.stream && "$bin/ktrace" show made.stream ;;
	10) "$bin/ktrace" stats "$2" ;;
	11) "$bin/ktrace" stats --json "$2" ;;
	12) "$bin/ktrace" stats --begin '*s*' --end '*s*' "$2" ;;
	13) "$bin/ktrace" stats --rate --interval 100us "$2" ;;
	14) "$bin/ktrace" show --svg - "$2" ;;
	15) "$bin/ktrace" ktrdump -a -M "$2" ;;
	16) "$bin/ktrace" ktrdump -f -n -r -M "$2" ;;
	17) "$bin/ktrace" show --align --subtract-cost "$2" ;;
	18) "$bin/ktrace" control "$2" ;;
	19) "$bin/ktrace" show --settings --json "$2" ;;
	20) "$bin/ktrace" doctor "$2" ;;
	21) "$bin/ktrace" doctor --json "$2" ;;
	22) "$bin/ktrace" check --all --rules "$rules" "$2" ;;
	esac
}

"$bin/ktrace" export --format stream v1.bin -o v1.kts 2>/dev/null || exit 1
"$bin/ktrace" export --format stream v2.ktrx -o v2.kts 2>/dev/null || exit 1
for trace in *.bin *.ktrx *.kts; do
	mkdir "damaged-$trace"
	"$mutate" "$trace" "$count" "damaged-$trace" || exit 1
	n=0
	findings=
	while [ "$n" -lt "$count" ]; do
		command_number "$n" "damaged-$trace/$n" >out 2>err
		status=$?
		case $status in 3 | 10) status=1 ;; esac # what check and doctor say
		if [ "$status" -gt 2 ] || grep -q 'Sanitizer\|runtime error' err; then
			findings="$findings copy $n, status $status: $(grep -m 2 'ERROR\|runtime error' err);"
		elif [ -s out ] && [ -n "$(tail -c 1 out)" ]; then
			findings="$findings copy $n: the output ends in the middle of a line;"
		elif LC_ALL=C grep -aq '[[:cntrl:]]' out err; then
			findings="$findings copy $n: a control character;"
		fi
		n=$((n + 1))
	done
	equal "$trace, $count damaged copies" "" "$findings"
done

done_testing
