# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Python's SQLite finds the rows of `ktrace sql` in traces that are exported as databases.
. test/tap.sh
ktrace=build/bin/ktrace

# exported NAME [WORD]: exports the trace, and compares the database with `ktrace sql`.
exported() {
	"$ktrace" export --format sqlite "$tmp/$1.ktrx" -o "$tmp/$1.db" >"$tmp/out" 2>&1
	equal "$1 is exported" 0 $?
	check "$1: the number of events is reported" grep -qE ' [1-9][0-9]* events written to' "$tmp/out"
	# shellcheck disable=SC2086
	python3 test/golden/sqlite_compare.py "$ktrace" "$tmp/$1.ktrx" "$tmp/$1.db" ${2-} >"$tmp/differences" 2>&1
	equal "$1: the database has the rows of ktrace sql" '' "$(cat "$tmp/differences")"
}

check "cmd-traces makes the traces" build/test/cmd-traces "$tmp"
check "danger-traces makes the traces" sh -c 'build/test/danger-traces "$1" >"$1/log"' - "$tmp"
exported v2
exported typed
exported holders
exported 3 counts

"$ktrace" export --format sqlite "$tmp/v2.ktrx" -o "$tmp/v2.db" 2>"$tmp/err"
equal "a database is replaced, as other files are" 0 $?
"$ktrace" export --format sqlite --cpu 0 "$tmp/v2.ktrx" -o "$tmp/x.db" 2>"$tmp/err"
equal "a filter is refused" 2 $?
check "the message has the reason" grep -q "select in the query" "$tmp/err"
"$ktrace" export --format sqlite "$tmp/v2.ktrx" -o - 2>"$tmp/err"
equal "standard output is refused" 2 $?
"$ktrace" export --format sqlite "$tmp/v2.ktrx" -o /dev/full 2>"$tmp/err"
equal "a device is refused" 1 $?
done_testing
