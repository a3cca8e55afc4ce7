# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace retrace` repeats a run, and names the code that writes and reads a variable of the demo kernel. The
# guest's behaviour does not change: the events are the same.
. test/tap.sh
. test/qemu/run_support.sh
source=demo/kern/bug/wakeup_race.c # writes the flag `full` in each turn, and reads it

# record ARCH [CPUS]: records a run in which the flag is written; stores the trace in $out.
record() {
	# shellcheck disable=SC2046
	run --seed 7 --deadline 1 -- $(demo "$1" "${2:-2}") -append "debug=ktrace run=wakeup-race seconds=1"
}

# retrace TRACE [OPTION…]: stores the output in $tmp/accesses, the messages in $tmp/err, the exit status in
# $status.
retrace() {
	retraced=$1
	shift
	status=0
	timeout -k 5 $kill_limit "$ktrace" retrace --out "$tmp/again" "$@" "$retraced" </dev/null >"$tmp/accesses" 2>"$tmp/err" ||
		status=$?
}

# refused TEXT [OPTION…]: checks that retrace exits with status 2, and that its message contains
# TEXT.
refused() {
	text=$1
	shift
	retrace "$out" "$@"
	equal "$*: status" 2 "$status"
	message_has "$text"
}

# lines_of FILE: prints the source lines that are in the list of accesses, without duplicates.
lines_of() {
	sed -n "s|.*(\(.*$source\):\([0-9]*\))\$|\2|p" "$1" | sort -u | while read -r line; do sed -n "${line}p" $source; done
}

for arch in x86_64 aarch64 riscv64; do
	record $arch
	retrace "$out" --who-wrote full --last 1000
	equal "$arch: status" 0 "$status"
	message_has "the same run as $out: all "
	sed 1d "$tmp/accesses" >"$tmp/writes"
	count=$(grep -c . "$tmp/writes")
	check "$arch: the flag is written several times: $count" test "$count" -ge 2
	equal "$arch: each write is in the source of the flag" "$count" "$(grep -c "($source:[0-9]*)\$" "$tmp/writes")"
	lines_of "$tmp/writes" >"$tmp/lines"
	equal "$arch: every line that wrote the flag assigns it" "$(grep -c . "$tmp/lines")" "$(grep -c 'full = ' "$tmp/lines")"
	equal "$arch: both assignments are found" 2 "$(grep -c . "$tmp/lines")"
	equal "$arch: both CPUs write" "0 1" "$(awk '{ print $2 }' "$tmp/writes" | sort -u | xargs)"
	equal "$arch: the values are those of a flag" "0x00 0x01" "$(awk '{ print $6 }' "$tmp/writes" | sort -u | xargs)"
	check "$arch: times do not decrease" sort -c -n "$tmp/writes"
	cp "$tmp/accesses" "$tmp/first"
	command=$(sed -n 's/^ktrace retrace: to see the events around the last access: ktrace //p' "$tmp/err")
	check "$arch: a command shows the events around the last access: $command" sh -c "'$ktrace' $command 2>/dev/null | grep -q '^> '"

	retrace "$out" --who-wrote full --last 1000
	same "$arch: a second retrace prints the same accesses" "$tmp/first" "$tmp/accesses"
done

# Tests the last accesses, read accesses, and JSON.
record x86_64
retrace "$out" --who-wrote full -n 1
equal "--last 1: a heading and one access" 2 "$(grep -c . "$tmp/accesses")"
message_has "the last 1 are printed"
retrace "$out" --who-read full --last 1000
check "--who-read prints reads" grep -q ' read ' "$tmp/accesses"
check "--who-read prints no writes" sh -c '! grep -q " write " "$0"' "$tmp/accesses"
retrace "$out" --who-wrote full --who-read full --json --last 1000
check "JSON has writes" grep -q '"access":"write","range":"full"' "$tmp/accesses"
check "JSON has reads" grep -q '"access":"read","range":"full"' "$tmp/accesses"
check "JSON has the source" grep -q "\"file\":\"$source\",\"line\":[0-9]*}\$" "$tmp/accesses"
check "JSON is valid" python3 -c 'import json, sys
for line in open(sys.argv[1]): json.loads(line)' "$tmp/accesses"

# Tests a number instead of a name, and a range that no instruction accesses.
address=$(nm build/demo/x86_64/kernel.elf | sed -n 's/^0*\([0-9a-f]*\) . full$/0x\1/p')
retrace "$out" --who-wrote "$address,1" --last 1000
cp "$tmp/accesses" "$tmp/by_number"
retrace "$out" --who-wrote full --last 1000
same "an address and a name give the same accesses" "$tmp/accesses" "$tmp/by_number"
retrace "$out" --who-wrote 0xffffffffffffff00,16
equal "no access: status" 0 "$status"
check "no access: no output" test ! -s "$tmp/accesses"
message_has "no access by an instruction"

refused "expected --who-wrote, --who-read, --functions or --branches"
refused "has no such name" --who-wrote no_such_variable
refused "has no such name; did you mean ktrace_state" --who-wrote ktrace_sttae
refused "places have this name; gdb prints the address of one: print &'FILE'::devices" --who-wrote devices
refused "gdb prints the address of a part: print &cpus[1].queue" --who-wrote "cpus[1].queue"
refused "not a number from 1 to 4096" --who-wrote full,4097
refused "the range ends after the last address" --who-wrote 0xfffffffffffffff9
refused "the range ends after the last address" --who-wrote 0xffffffffffffffff,2
refused "the offset is too large" --who-wrote full+0xffffffffffffffff
refused "more than 8 ranges" --who-wrote full --who-read 1 --who-read 2 --who-read 3 --who-read 4 --who-read 5 --who-read 6 \
	--who-read 7 --who-read 8
refused "--out must not be the trace of the first run" --who-wrote full -o "$out"

# Tests a kernel whose file has changed.
cp build/demo/x86_64/kernel.elf "$tmp/kernel.elf"
KERNEL=$tmp/kernel.elf record x86_64
echo >>"$tmp/kernel.elf"
retrace "$out" --who-wrote full
equal "changed kernel: status" 1 "$status"
message_has "changed since the run was recorded"
retrace "$out" --who-wrote full --force --elf build/demo/x86_64/kernel.elf
equal "changed kernel, --force: status" 0 "$status"
check "changed kernel, --elf: the source is named" grep -q "($source:[0-9]*)\$" "$tmp/accesses"
done_testing
