# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# --budget and --cursor: no page is larger than its budget, each page of JSON is valid JSON, and all pages together are
# the whole answer.
. test/tap.sh

PATH=$PWD/build/bin:$PATH
pages=$PWD/test/golden/budget_pages.py
build/test/cmd-traces "$tmp" && build/test/why-traces "$tmp" >"$tmp/log" 2>&1 && cp test/corpus/5b0a6ef/exit.ktrx.zst "$tmp/exit.zst" || exit 1
cd "$tmp" || exit 1

# divides BUDGET PAGES COMMAND WORD…: runs the command with this budget, and checks whether it
# writes one page or several. PAGES is "one" or "several".
divides() {
	budget=$1 number=$2
	shift 2
	python3 "$pages" "$budget" "$@" >out 2>&1
	case $number in
	one) equal "$budget bytes: $*" '1 page' "$(cat out)" ;;
	*)
		equal "$budget bytes: $*" 1 "$(wc -l <out)"
		check "$budget bytes: $*: several pages: $(cat out)" grep -qE '^[0-9]+ pages$' out
		;;
	esac
}

divides 3000 several why --json deadlock.ktrx
divides 1000 several why --all deadlock.ktrx
divides 1000 several summary --json v2.ktrx
divides 1000 several summary v2.ktrx
divides 1000 several stats --json exit.zst
divides 1000 several stats exit.zst
divides 1000 several show --json hostile.ktrx
divides 1000 several show v2.ktrx
for trace in 0 1; do
	awk -v result=$trace 'BEGIN { for (n = 0; n < 30; n++) printf "100 1700000000.%06d unlink(\"/tmp/%d\") = %d\n", n, n, result }' >unlinks.$trace
done
divides 1000 several diff --json unlinks.0 unlinks.1
divides 1000 several diff unlinks.0 unlinks.1
divides 1000 several sql --json v2.ktrx 'SELECT * FROM events LIMIT 20'
divides 1000 several sql v2.ktrx 'SELECT * FROM events LIMIT 20'
divides 1000 several life --json thread 5 exit.zst
divides 1000 several check --json v2.ktrx
divides 1000 several doctor --json v2.ktrx
divides 1000000 one why --json deadlock.ktrx
divides 1000000 one show --json v2.ktrx

# fails STATUS TEXT COMMAND WORD…: checks that the command fails with this exit status and a message
# that contains TEXT.
fails() {
	wanted=$1 text=$2
	shift 2
	status=0
	ktrace "$@" >out 2>err </dev/null || status=$?
	equal "status of: $*" "$wanted" "$status"
	check "message of: $*" grep -qF -e "$text" err
}
ktrace show --budget 1000 v2.ktrx 2>err | sed -n 's/^--- more follows: cursor \(.*\) ---$/\1/p' >cursor
check "a page ends with a cursor" test -s cursor
fails 2 'has changed' show --budget 1000 --cursor "$(cat cursor)" pairs.ktrx
fails 2 'has changed' show --budget 1000 --cursor "$(cat cursor)" --limit 1 v2.ktrx
fails 2 'invalid value for --cursor' show --budget 1000 --cursor 5 v2.ktrx
fails 2 'invalid value for --cursor' show --budget 1000 --cursor 5-zz v2.ktrx
fails 2 '--cursor needs --budget' show --cursor "$(cat cursor)" v2.ktrx
fails 2 'from 1000' show --budget 999 v2.ktrx
fails 2 'needs a budget of' sql --json --budget 1000 v2.ktrx "SELECT hex(zeroblob(1000))"
fails 1 'No such file' show --budget 1000 absent
check "nothing is printed for a trace that does not exist" test ! -s out
done_testing
