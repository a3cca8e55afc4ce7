# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Each command with --json has a schema in spec/schema. Output of --json that golden files keep, and output for
# hostile traces, is valid by these schemas.
. test/tap.sh

valid() { check "$1" python3 test/schema.py "$2" "$tmp/sample"; }

# ---- Tests of this check
printf '{"schema":"ktrace-doctor/1","strings":"untrusted","ok":1,"dark":0,"wrong":0,"findings":[]}\nexit status 0\n' >"$tmp/sample"
valid "a valid object passes" doctor
for bad in '{"ok":1}' '{"schema":"ktrace-doctor/2","strings":"untrusted","ok":1}' '{"schema":"ktrace-doctor/1","strings":"untrusted","ok":"one"}' \
	'{"schema":"ktrace-doctor/1","strings":"untrusted","findings":[{"mark":7}]}' ''; do
	echo "$bad" >"$tmp/sample"
	check "a mistake is found: $bad" sh -c "! python3 test/schema.py doctor '$tmp/sample'"
done
check "the schemas are valid" python3 test/schema.py schemas

# ---- Output in golden files
grep -lE '^\{"schema":"ktrace-' -r test/golden/check test/golden/cmd test/golden/diff test/golden/doctor test/golden/hwt_views test/golden/kdump test/golden/why >"$tmp/kept"
check "golden files have output of --json: $(wc -l <"$tmp/kept")" test "$(wc -l <"$tmp/kept")" -ge 40
# shellcheck disable=SC2046
check "output in golden files is valid" python3 test/schema.py any $(cat "$tmp/kept")

# ---- Other output
build/test/cmd-traces "$tmp" >"$tmp/log" 2>&1 && build/test/danger-traces "$tmp" >"$tmp/log" 2>&1 && build/test/ktrdump-traces "$tmp" >"$tmp/log" 2>&1 || exit 1
ktrace=$PWD/build/bin/ktrace
mkdir "$tmp/json"
# sample COMMAND WORD…: stores the output of a command for the check.
samples=0
sample() {
	samples=$((samples + 1))
	(cd "$tmp" && "$ktrace" "$@" --json) >"$tmp/json/$1.$samples" 2>"$tmp/log"
}
for trace in v2.ktrx v1.bin hostile.ktrx stateless.ktrx written-over.ktrx typed.ktrx lowclock.bin; do
	sample show --ids "$trace"
	sample show --settings "$trace"
	sample summary "$trace"
	sample stats "$trace"
	sample stats --rate "$trace"
	sample why "$trace"
	sample check --all "$trace"
	sample check "$trace"
	sample sql "$trace" "SELECT *, 1 AS schema FROM events; SELECT x'00' AS bytes"
done
for trace in v2.ktrx hostile.ktrx; do
	sample doctor "$trace"
	sample control "$trace"
	sample stats --begin sched.wake --end sched.switch --by thread=next "$trace"
done
sample stats --value sched.wake.thread v2.ktrx
sample extract --machine x86_64 -o extracted ktr.ram
(cd "$tmp" && exec 9<>ktr.ram && "$ktrace" live --json --count 2 --interval 100ms ktr.ram 9<&-) >"$tmp/json/live.1" 2>"$tmp/log"
for file in "$tmp"/json/*; do [ -s "$file" ] || rm "$file"; done
for command in show summary stats sql why check doctor control extract live; do
	check "$command --json is valid: $(ls "$tmp/json/$command".* | wc -l) samples" python3 test/schema.py $command "$tmp/json/$command".*
done

# The events of this trace have no field "prev".
LC_ALL=C sed s/prev/prex/g "$tmp/hostile.ktrx" >"$tmp/unnamed.ktrx"
sample life thread 13 "$tmp/unnamed.ktrx"
check "life: a thread is found if sched.switch has no field prev" sh -c "'$ktrace' life thread 13 '$tmp/unnamed.ktrx' 2>&1 | grep -q PID=13"
check "life --json is valid" python3 test/schema.py life "$tmp/json/life.$samples"

# ---- Each command has a schema and a sample
build/bin/ktrace --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' >"$tmp/commands"
while read -r command; do
	build/bin/ktrace "$command" --help | grep -qE '^  *(-., )?--json( |$)' || continue
	check "$command: spec/schema/$command.json exists" test -f "spec/schema/$command.json"
	# The output of these commands needs a guest, so the tests of these commands validate it.
	check "$command: a test validates its output" sh -c "
		ls '$tmp/json' | grep -q '^$command\.' || grep -q 'ktrace-$command/' \$(cat '$tmp/kept') ||
		grep -qE 'test/schema\.py $command ' test/qemu/*.sh"
	echo "$command" >>"$tmp/with-json"
done <"$tmp/commands"
check "commands have --json: $(paste -sd ' ' "$tmp/with-json")" test "$(wc -l <"$tmp/with-json")" -ge 15
for schema in spec/schema/*.json; do
	name=$(basename "$schema" .json)
	[ "$name" != page ] || continue # the head of a page; golden/page.sh validates it
	check "$schema is of a command with --json" grep -qx "$name" "$tmp/with-json"
done
done_testing
