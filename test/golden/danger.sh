# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Strings come from guests, kernels and programs. No command writes, in any format or on standard error, a
# character from these strings that can change what a terminal, a viewer or a JSON reader shows.
# test/golden/danger.h lists the sequences.
. test/tap.sh
PATH=$PWD/build/bin:$PATH
harmless=$PWD/build/test/harmless
mkdir "$tmp/bin" && ln -s "$PWD/build/test/ktrace-script" "$tmp/bin/hwt" || exit 1
count=$(build/test/danger-traces "$tmp") || exit 1
root=$PWD
cd "$tmp" || exit 1

# all NAME: prints one file name for each trace: NAME-0, NAME-1, and so on.
all() { seq -s ' ' -f "$1-%.0f" 0 $((count - 1)); }
output=$(all output) err=$(all err)

# harmless RULE COMMAND…: runs the command on each trace, and checks that its output follows the rule (see
# harmless.c). Replaces % in the command by the trace's number. One shell runs the command for all
# traces, and one program checks all outputs. This takes a third of the time that one shell and one program
# per trace would take.
harmless() {
	rule=$1
	shift
	COMMAND=$* awk -v count="$count" 'BEGIN {
		for (n = 0; n < count; n++) {
			text = "( " ENVIRON["COMMAND"] " ) >output-% 2>err-%\n" \
				"case $? in 124 | 12[6-9] | 13?) echo trace %: status $? ;; esac\n" \
				"if [ -e out ]; then cat out >>output-%; rm out; fi"
			gsub(/%/, n, text)
			print text
		}
	}' >commands
	timeout $kill_limit sh commands >bad </dev/null || echo "status $?" >>bad
	# shellcheck disable=SC2086
	"$harmless" "$rule" $output utf8 $err >why || cat why >>bad
	check "$rule: $*" sh -c '! sed 10q bad | grep .'
	check "$rule: $*: prints something" test "$(tail -n 1 why)" -gt "$count"
}

harmless text ktrace show %.ktrx
harmless text ktrace show --hex %.ktrx
harmless text ktrace show --settings %.ktrx
harmless text ktrace show --registers %.ktrx
harmless text ktrace show --svg - %.ktrx
harmless json ktrace show --json %.ktrx
harmless json ktrace show --settings --json %.ktrx
harmless text ktrace show --with %.ktrace %.ktrx
harmless json ktrace show --json --with %.ktrace %.ktrx
harmless text ktrace show %.ktrace
harmless json ktrace show --json %.ktrace
harmless text ktrace show %.ram
harmless json ktrace show --json %.ram
harmless text ktrace summary %.ktrx
harmless json ktrace summary --json %.ktrx
harmless text ktrace stats %.ktrx
harmless json ktrace stats --json %.ktrx
harmless text ktrace stats --rate %.ktrx
harmless text ktrace stats --begin syscall.enter --end syscall.exit --svg - %.ktrx
tables='SELECT * FROM events; SELECT * FROM slices; SELECT * FROM processes; SELECT * FROM counts'
harmless utf8 "ktrace sql %.ktrx '.tables'; ktrace sql %.ktrx .schema; ktrace sql %.ktrx '$tables'"
harmless utf8 "ktrace sql --format csv %.ktrx '$tables'"
harmless json "ktrace sql --json %.ktrx '$tables'"
harmless text ktrace stats --worst 3 --of lock-wait %.ktrx
harmless json ktrace stats --worst 3 --json %.ktrx
harmless text ktrace life thread 7 %.ktrx
harmless text ktrace check %.ktrx
harmless json ktrace check --json %.ktrx
harmless text ktrace why %.ktrx
harmless json ktrace why --json %.ktrx
harmless utf8 ktrace doctor %.ktrx
harmless json ktrace doctor --json %.ktrx
# Checks the head of an HTML page, and the strings in the page's data blocks.
harmless json "ktrace html %.ktrx -o - | sed -n '/id=.ktrace-head/,/<.script>/p' | sed '1d;\$d'"
harmless utf8 "ktrace html %.ktrx -o page-%.html; PYTHONDONTWRITEBYTECODE=1 python3 $root/test/golden/page/check.py --strings page-%.html"
harmless json ktrace export --format json %.ktrx -o -
harmless json ktrace export --format json --with %.ktrace %.ktrx -o -
harmless strings ktrace export --format perfetto %.ktrx -o out
harmless utf8 ktrace export --format folded %.ktrx -o -
harmless json ktrace export --format speedscope %.ktrx -o -
harmless strings ktrace export --format fxt %.ktrx -o out
harmless strings ktrace export --format perfetto --with %.ktrace %.ktrx -o out
harmless text ktrace-decode %.ktrx
harmless text ktrace-decode --summary %.ktrx
harmless json ktrace-decode %.ktrx --perfetto /dev/stdout
harmless text ktrdump -a -M %.ktrx
harmless text ktrdump -acfnpx -M %.ram
# `ktrace live` and `ktrace show --follow` end if no process has the RAM file open, because then the guest has
# ended. So the shell keeps the file open.
harmless text "exec 9<>%.ram; ktrace live --lines --count 2 --interval 100ms --tail 20 %.ram 9<&-; true"
harmless json "exec 9<>%.ram; ktrace live --json --count 2 --interval 100ms %.ram 9<&-; true"
harmless text "exec 9<>%.ram; ktrace show --follow --limit 10 %.ram 9<&-; true"
harmless text ktrace control %.ram
harmless json ktrace extract --json -o extracted %.ram
for trace in %.ktrace %-bsd.ktrace; do
	harmless text kdump -f $trace
	harmless text kdump -HTcs -f $trace
	harmless text kdump -n -f $trace
	harmless text kdump --oneline -f $trace
	harmless text kdump --count -f $trace
	harmless json kdump --json -f $trace
done
PATH=$tmp/bin:$PATH
harmless text hwt %.steps
harmless json hwt --json %.steps
harmless text hwt -o time,id,symbol,image,source %.steps
harmless json hwt --json -o time,id,symbol,image,source %.steps
for view in --calls --folded --durations --functions; do harmless text hwt $view %.steps; done
for view in --calls --durations --functions; do harmless json hwt $view --json %.steps; done

# Tests file names in messages and in output. Messages show harmless characters unchanged.
"$root/build/test/danger-traces" --names >names
: >bad
while IFS= read -r name; do
	cp 0.ktrx "$name" && cp 0.ktrace "$name.ktrace" || echo "no file" >>bad
	for command in "show" "summary" "why" "stats" "check" "export --format json -o out"; do
		ktrace $command "$name"
		ktrace $command "absent-$name"
	done >>text 2>>err
	ktrace summary --json "$name" >>json 2>>err
	{
		kdump -f "absent-$name"
		ktrace "$name"
		ktrace show --form "$name"
		ktrace show "--$name"
		ktrace show "-$name"
	} >>text 2>>err
done <names
"$harmless" text text json json utf8 err >why || cat why >>bad
check "names of files and values of options are harmless in output: $(wc -l <names)" sh -c '! sed 10q bad | grep .'
check "messages contain names of files and values of options" test "$(wc -l <err)" -gt "$(($(wc -l <names) * 8))"
ktrace show "$(printf 'gr\303\274n')" 2>err
check "a harmless name in UTF-8 is shown unchanged" grep -q "$(printf 'gr\303\274n')" err
done_testing
