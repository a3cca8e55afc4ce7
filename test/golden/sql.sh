# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace sql`: its answers are those that a script computes from `ktrace show --json`; errors, limits, forms of
# output; queries can only read.
. test/tap.sh

PATH=$PWD/build/bin:$PATH
root=$PWD
build/test/cmd-traces "$tmp" || exit 1
cp test/golden/ktread/v1.ktrx "$tmp/one.ktrx" || exit 1
cd "$tmp" || exit 1

# sql WORD…: runs queries. Sets $status; the output is in the files out and err.
sql() {
	status=0
	timeout -k 5 $kill_limit ktrace sql "$@" >out 2>err </dev/null || status=$?
}

# answers NAME QUERY: checks that the query has the same answer as the script sql_answers.py.
answers() {
	sql --format csv "$trace" "$2"
	sed 1d out | tr -d '"' >got
	same "$trace: $1: $2" "answers/$1" got
}

# ---- Answers to queries ---------------------------------------------------------------------------
for trace in v2.ktrx pairs.ktrx v1.bin; do
	rm -rf answers && mkdir answers
	ktrace show --json --ids "$trace" >lines 2>err
	python3 "$root/test/golden/sql_answers.py" answers lines || exit 1
	check "$trace: the script found events" test "$(cat answers/all)" -gt 5
	early=$(cut -d , -f 1 answers/bounds) late=$(cut -d , -f 2 answers/bounds)
	case $trace in
	v1.bin) exit='"SYSCALL_EXIT"' ;;
	*) exit='"syscall.exit"' ;;
	esac

	answers all 'SELECT count(*) FROM events'
	answers all 'SELECT count(fields) FROM events'
	answers by_name 'SELECT name, count(*) FROM events GROUP BY name'
	answers by_name 'SELECT name, count(id) FROM events GROUP BY name'
	LC_ALL=C sort -t , -k 1,1 -r answers/by_name >answers/by_name_down
	answers by_name_down 'SELECT name, count(*) FROM events GROUP BY name ORDER BY name DESC'
	head -n 2 answers/by_name_down >answers/last_names
	answers last_names 'SELECT name, count(*) FROM events GROUP BY name ORDER BY name DESC LIMIT 2'
	grep -v UNKNOWN answers/by_name >answers/known
	answers known 'SELECT name, recorded FROM counts WHERE recorded > 0 ORDER BY name'
	answers by_thread 'SELECT thread, count(*) FROM events GROUP BY thread'
	answers by_thread 'SELECT thread, events FROM threads ORDER BY thread'
	answers by_cpu 'SELECT cpu, count(*) FROM events GROUP BY cpu'
	answers by_cpu_and_name 'SELECT cpu, name, count(*) FROM events GROUP BY cpu, name'
	answers window "SELECT id, ts FROM events WHERE ts BETWEEN $early AND $late"
	answers window "SELECT id, ts FROM events WHERE ts >= $early.0 AND ts < $late + 1 ORDER BY ts"
	answers window_times "SELECT ts, thread, name FROM events WHERE ts BETWEEN $early AND $late"
	answers either "SELECT id FROM events WHERE ts < $early OR cpu = 1 ORDER BY id"
	answers some_names "SELECT name, count(*) FROM events WHERE cpu IN (0, 1) AND name LIKE 'sys%' GROUP BY name"
	answers first_and_last 'SELECT name, min(ts), max(ts) FROM events GROUP BY name ORDER BY name'
	answers results "SELECT count(*), sum(result) FROM $exit"
	answers json "SELECT sum(json_extract(fields, '\$.nr')) FROM events WHERE name = 'syscall.exit' OR name = 'SYSCALL_EXIT'"
	[ "$trace" = pairs.ktrx ] || answers pairs "SELECT count(*) FROM $exit a JOIN events b ON b.ts = a.ts AND b.cpu <> a.cpu"
	# A version 1 dump does not contain the number of overwritten records.
	[ "$trace" = v1.bin ] || answers lost 'SELECT coalesce(sum(slots), 0) FROM losses'
	[ "$trace" != pairs.ktrx ] || answers calls 'SELECT ts, duration, thread, result FROM syscalls ORDER BY ts, duration'
done

# cell TRACE QUERY: prints the first value of the answer.
cell() {
	sql --format csv "$1" "$2"
	sed -n 2p out
}

ktrace stats --json pairs.ktrx >stats 2>err
equal "system calls are as many as in stats" \
	"$(tr '{' '\n' <stats | sed -n 's/.*"kind":"syscall".*"count":\([0-9]*\).*/\1/p' | awk '{ s += $1 } END { print s }')" \
	"$(cell pairs.ktrx 'SELECT count(duration) FROM syscalls')"
ktrace stats --json --cpu 0 pairs.ktrx >stats 2>err
equal "stats --cpu: durations that end on the CPU, also if their threads moved" \
	"$(tr '{' '\n' <stats | sed -n 's/.*"kind":"syscall".*"count":\([0-9]*\).*/\1/p' | awk '{ s += $1 } END { print s }')" \
	"$(cell pairs.ktrx 'SELECT count(*) FROM syscalls s CROSS JOIN "syscall.exit" e
	WHERE e.ts = s.ts + s.duration AND e.thread = s.thread AND e.cpu = 0')"
ktrace stats --json --cpu 0 --begin syscall.enter --end syscall.exit pairs.ktrx >stats 2>err
equal "stats --begin --cpu: pairs that end on the CPU, also if their threads moved" \
	"$(sed -n 's/.*"count":\([0-9]*\),"min".*/\1/p' stats)" \
	"$(cell pairs.ktrx 'SELECT count(*) FROM syscalls s CROSS JOIN "syscall.exit" e
	WHERE e.ts = s.ts + s.duration AND e.thread = s.thread AND e.cpu = 0')"
ktrace export --format json --cpu 0 pairs.ktrx -o cpu0.json 2>err
equal "export --cpu: complete slices are calls that begin and end on the CPU" \
	"$(cell pairs.ktrx 'SELECT count(*) FROM syscalls s CROSS JOIN "syscall.exit" e
	WHERE e.ts = s.ts + s.duration AND e.thread = s.thread AND e.cpu = 0 AND s.cpu = 0')" \
	"$(grep '"ph":"E"' cpu0.json | grep -vc '"end":')"
equal "slices have all kinds of durations" "$(cell v2.ktrx 'SELECT (SELECT count(*) FROM syscalls) + (SELECT count(*) FROM irqs) +
	(SELECT count(*) FROM faults) + (SELECT count(*) FROM locks) + (SELECT count(*) FROM wakeups)')" \
	"$(cell v2.ktrx 'SELECT count(*) FROM slices')"
equal "a call whose slots are lost has no duration" 1 \
	"$(cell v2.ktrx "SELECT count(*) FROM syscalls s JOIN losses l ON l.since >= s.ts AND l.ts > s.ts WHERE s.duration IS NULL")"
equal "no thread is in two states at a time" 0 "$(cell pairs.ktrx 'SELECT count(*) FROM thread_states a JOIN thread_states b
	ON b.thread = a.thread AND b.ts > a.ts AND b.ts < a.ts + a.duration')"
equal "no thread runs on two CPUs at a time" 0 "$(cell pairs.ktrx "SELECT count(*) FROM thread_states a JOIN thread_states b
	ON b.cpu = a.cpu AND b.ts > a.ts AND b.ts < a.ts + a.duration WHERE a.state = 'running' AND b.state = 'running'")"

# column TRACE QUERY: prints the first column of the answer on one line.
column() {
	sql --format csv "$1" "$2"
	sed 1d out | cut -d , -f 1 | paste -sd ' '
}

equal "groups by CPU: NULL is the first" ' 0 1' "$(column unseen.ktrx 'SELECT cpu, count(*) FROM events GROUP BY cpu ORDER BY cpu')"
equal "groups by CPU: NULL is the last in descending order" '1 0 ' \
	"$(column unseen.ktrx 'SELECT cpu, count(*) FROM events GROUP BY cpu ORDER BY cpu DESC')"
equal "different CPUs: NULL is the first" ' 0 1' "$(column unseen.ktrx 'SELECT DISTINCT cpu FROM events ORDER BY cpu')"
equal "a sleep during which slots were lost has no duration" ' 100000' \
	"$(column unseen.ktrx "SELECT duration FROM thread_states WHERE thread = 12 AND state = 'sleeping' ORDER BY ts")"
equal "a thread runs although slots of another CPU were lost" '200000' \
	"$(column unseen.ktrx "SELECT duration FROM thread_states WHERE thread = 12 AND state = 'running' AND duration NOT NULL")"
for condition in '= 9223372036854775807' '> 9223372036854775806' '<= 9223372036854775807 AND ts > 0' '< 9223372036854775807'; do
	equal "the largest time: ts $condition" 1 "$(cell apart.bin "SELECT count(*) FROM events WHERE ts $condition")"
done
for condition in "cpu = '10e-1'" "cpu IN ('10e-1', 7)" 'cpu = 1.0'; do
	equal "a number as text: $condition" "$(cell v2.ktrx 'SELECT count(*) FROM events WHERE cpu = 1')" \
		"$(cell v2.ktrx "SELECT count(*) FROM events WHERE $condition")"
done
equal "a number as text: type" "$(cell v2.ktrx 'SELECT count(*) FROM events WHERE type = 1')" \
	"$(cell v2.ktrx "SELECT count(*) FROM events WHERE type = '10e-1'")"

# The rings are large, and a query with a condition on the time reads only a part of them. If two conditions
# select the same event, SQLite detects this by the row id. The version 1 ring has empty slots, and its
# oldest record is in the middle.
python3 - <<'PY'
import struct
slots = 1 << 17
with open("long1.bin", "wb") as out:
    out.write(struct.pack("<4sIQIIII32x", b"KTRX", 1, 10**9, 1, slots, 32, 0))
    for n in range(slots):
        stamp = 1000 + (n + 5000) % slots * 10
        out.write(bytes(32) if n % 1000 == 7 else struct.pack("<QI20x", stamp, n % 4 == 0))
PY
"$root/build/bench/merge/gen_v2" long2.ram 2 160000 ram && "$root/build/bench/merge/gen_v2" long2.bin 2 160000 || exit 1
for trace in long1 long2; do
	ktrace export --format stream $trace.bin -o $trace.kts 2>/dev/null
	for file in $trace.*; do
		all=$(cell $file 'SELECT count(*) FROM events WHERE +ts > 1200000 OR +thread < 9')
		check "$file: the conditions select events" test "$all" -gt 1000
		equal "$file: an event that fulfils both conditions is counted once" "$all" \
			"$(cell $file 'SELECT count(*) FROM events WHERE ts > 1200000 OR thread < 9')"
		equal "$file: an event in two windows is counted once" \
			"$(cell $file 'SELECT count(*) FROM events WHERE +ts < 900000')" \
			"$(cell $file 'SELECT count(*) FROM events WHERE ts < 800000 OR ts BETWEEN 500000 AND 899999')"
		sql --format csv $file 'SELECT id, ts FROM events WHERE +ts BETWEEN 600000 AND 601000'
		mv out wanted
		sql --format csv $file 'SELECT id, ts FROM events WHERE ts BETWEEN 600000 AND 601000'
		same "$file: ids do not depend on the part that is read" wanted out
		check "$file: the window has events" test "$(wc -l <out)" -gt 2
	done
done
rm long2.*

# ---- Output formats ------------------------------------------------------------------------------
sql --json v2.ktrx 'SELECT ts, thread_name, cpu, cpu, NULL AS n, 1.5 AS f FROM events WHERE thread = 12 LIMIT 1'
equal "JSON" '{"schema":"ktrace-sql/1","strings":"untrusted","ts":0,"thread_name":"worker","cpu":0,"cpu_2":0,"n":null,"f":1.5}' "$(cat out)"
equal "a duration is never negative, even if the clock is set back" 0 \
	"$(cell set-back.ktrx 'SELECT duration FROM syscalls')"

# ---- Unknown numbers -----------------------------------------------------------------------------
equal "an unknown holder of a lock is NULL, another field with this number is not" "NULL/4294967295 7/1" \
	"$(cell holders.ktrx "SELECT group_concat(ifnull(holder, 'NULL') || '/' || tries, ' ') FROM \"lock.contend\"")"
equal "it is null in the fields of all events" 'null integer' \
	"$(cell holders.ktrx "SELECT group_concat(json_type(fields, '\$.holder'), ' ') FROM events")"
equal "JSON: it is null" 'null 7 ' "$(ktrace show --json holders.ktrx 2>err | sed -n 's/.*"holder":\([0-9a-z]*\).*/\1/p' | tr '\n' ' ')"
equal "export to JSON: it is null" 'null 7 ' \
	"$(ktrace export --format json -o - holders.ktrx 2>err | sed -n 's/.*"holder":\([0-9a-z]*\).*/\1/p' | tr '\n' ' ')"
ktrace export --format perfetto -o perfetto holders.ktrx 2>err
ktrace export --format fxt -o fxt holders.ktrx 2>err
equal "Perfetto and FXT have no value: the only such number is that of the other field" "1 1" \
	"$(python3 -c 'print(open("perfetto", "rb").read().count(b"\xff\xff\xff\xff\x0f"), open("fxt", "rb").read().count(b"\xff" * 4))')"
equal "a condition has the number" 1 "$(ktrace show --where 'holder == 4294967295' holders.ktrx 2>err | grep -c 'held by ?')"

# ---- More output formats -------------------------------------------------------------------------
sql --json v2.ktrx "SELECT 1 AS schema"
equal "JSON: a column does not replace the name of the schema" '{"schema":"ktrace-sql/1","strings":"untrusted","schema_2":1}' "$(cat out)"
sql v2.ktrx "SELECT 1 AS number, 'a' AS text UNION ALL SELECT 12, NULL"
equal "a table aligns numbers to the right" "number  text,     1  a,    12  " "$(paste -sd , out)"
sql --format csv v2.ktrx "SELECT '=1+2' AS a, ' +x' AS b, -3 AS c, '@y' AS d, 'a,\"b' AS e, '-' AS f"
equal "CSV: text that a spreadsheet would run gets an apostrophe" "'=1+2,\"' +x\",-3,'@y,\"a,\"\"b\",'-" "$(sed -n 2p out)"
for form in table csv json; do
	sql --format $form v2.ktrx "SELECT char(27) || '[2J' || char(10, 155, 8238) AS a"
	check "$form: control characters are escaped" sh -c '! LC_ALL=C grep -q "[^ -~]" out'
done

# ---- Errors and limits ----------------------------------------------------------------------------
# fails STATUS TEXT WORD…: checks the exit status and the message.
fails() {
	wanted=$1 text=$2
	shift 2
	sql "$@"
	equal "status of: $*" "$wanted" "$status"
	check "message of: $*: $text" grep -qF -e "$text" err
}
fails 2 'no such column: nam' v2.ktrx 'SELECT nam FROM events'
equal "a caret is below the wrong word" '         ^' "$(tail -n 1 err)"
fails 2 'did you mean events?' v2.ktrx 'SELECT * FROM event'
equal "a caret is below the name of a table that does not exist" '                ^' "$(tail -n 1 err)"
fails 2 'no such table: main.X' v2.ktrx "SELECT 'x', x.a FROM events, main.X"
equal "a caret is below a table's name behind other uses of it" '                                    ^' "$(tail -n 1 err)"
fails 2 'did you mean syscalls?' v2.ktrx '.schema syscall'
fails 2 'unknown command .tabels' v2.ktrx .tabels
fails 2 'too many words' v2.ktrx SELECT 1
fails 2 '.tables takes no name' v2.ktrx '.tables events'
fails 2 '.schema takes the name of one table' v2.ktrx '.schema "events" "syscalls"'
fails 2 '.schema takes the name of one table' v2.ktrx ".schema $(printf '%0300d' 0)"
fails 2 'unknown command .quitt' v2.ktrx '.quitt'
sql --format csv v2.ktrx 'SELECT 1 AS a; .schema losses; SELECT 2 AS b; .quit; SELECT 3 AS c'
equal "statements after a command are run, up to .quit" "0 a 1 b 2" "$status $(grep -x '[a-c0-9]' out | paste -sd ' ')"
ktrace sql v2.ktrx 'SELECT 1; SELECT nam' >/dev/full 2>err
equal "an output that cannot be written takes precedence over a wrong statement" 1 $?
fails 2 'cannot be used together' --json --format csv v2.ktrx 'SELECT 1'
for statement in "ATTACH 'made' AS m" 'CREATE TABLE t(x)' 'CREATE TEMP TABLE t(x)' "VACUUM INTO 'made'" 'PRAGMA temp_store = 1' BEGIN; do
	sql v2.ktrx "$statement"
	equal "refused: $statement" 2 "$status"
	check "refused: $statement: states why" grep -q 'only read' err
done
fails 2 'may not be modified' v2.ktrx 'DELETE FROM events'
fails 2 'not authorized' v2.ktrx "SELECT load_extension('x')"
check "no statement has written a file" test ! -e made
fails 3 'limit of 0.05 s' --timeout 0.05 v2.ktrx 'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT max(x) FROM t'
sql --timeout 9.3e18 v2.ktrx 'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < 20000) SELECT max(x) FROM t'
equal "the largest limit of time does not end a query" 0 "$status"
fails 3 'limit of 0.05 s' --timeout 0.05 pairs.ktrx 'SELECT count(*) FROM events a, events b, events c'
fails 3 'limit of memory (16 MB' --memory 16 v2.ktrx \
	'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x, zeroblob(10000) FROM t ORDER BY x DESC'
fails 3 'or 16 MB for one text' v2.ktrx 'SELECT length(hex(zeroblob(9000000)))'
for query in 'SELECT count(*) FROM events' 'SELECT name, count(*) FROM events GROUP BY name' 'SELECT recorded FROM counts' \
	'SELECT * FROM threads' 'SELECT * FROM processes' 'SELECT * FROM syscalls' 'SELECT * FROM thread_states' 'SELECT * FROM losses'; do
	fails 3 'limit of 1e-06 s' --timeout 0.000001 v2.ktrx "$query"
done
fails 1 'absent' absent 'SELECT 1'

# ---- Standard input -------------------------------------------------------------------------------
printf 'SELECT 1;\nSELECT\n2;.quit\nSELECT 3;\n' | ktrace sql --json v2.ktrx >out 2>err
equal "statements from standard input, each ended by a semicolon" '{"schema":"ktrace-sql/1","strings":"untrusted","1":1} {"2":2}' "$(head -n 2 out | paste -sd ' ')"
printf 'SELECT 1;\nSELECT x;\nSELECT 2;\n' | ktrace sql --json v2.ktrx >out 2>err
equal "a wrong statement ends the input" '2 {"schema":"ktrace-sql/1","strings":"untrusted","1":1}' "$? $(paste -sd ' ' out)"
ktrace sql v2.ktrx <. >out 2>err
equal "an input that cannot be read gives exit status 1" 1 $?
check "an input that cannot be read is reported" grep -qx 'ktrace sql: standard input: Is a directory' err
printf 'SELECT 1;\0SELECT 2;\n' | ktrace sql v2.ktrx >out 2>err
equal "a NUL byte in a statement is an error" 2 $?
check "a NUL byte is reported" grep -q 'a statement contains a NUL byte' err
cat >person.py <<'PY'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp("ktrace", ["ktrace", "sql", "v2.ktrx"])
seen = b""
prompts = 0
for keys in (b"SELECT 6 * 8;\x1b[D\x7f7\r", b"SELECT\r", b"x;\r", b"\x1b[A\x1b[A\x1b[A\r", b"\x04"):
    prompts += 1
    while seen.count(b"> \x1b[K") < prompts:
        seen += os.read(fd, 4096)
    os.write(fd, keys)
try:
    while True:
        more = os.read(fd, 4096)
        if not more:
            break
        seen += more
except OSError:
    pass
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
timeout -k 5 $kill_limit python3 person.py >out 2>err
equal "a session on a terminal ends with status 0" 0 $?
equal "keys edit the line, and recall it" 2 "$(tr -d '\r' <out | grep -cx ' *42')"
check "a wrong statement does not end the session" grep -q 'no such column: x' out
done_testing
