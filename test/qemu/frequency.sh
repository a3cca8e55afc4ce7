# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A kernel that does not know its counter's frequency: the host measures it while the guest runs, and every
# command that reads the guest's memory prints seconds. The frequency of a guest that records nothing remains
# unknown, and times remain in ticks.
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/minimal_support.sh

# start NAME: starts the kernel in $tmp/NAME; stores the path of its RAM file in $ram.
start() {
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --stall 0 --out "$tmp/ktrace.ktrx" -- qemu-system-riscv64 -M virt \
		-bios none -smp 2 -nographic -kernel "$tmp/$1/build/kernel.elf" \
		-qmp "unix:$tmp/qmp,server=on,wait=off" </dev/null >"$tmp/console" 2>"$tmp/err" &
	guest=$!
	await_ram "$tmp"
	await sh -c '"$0" show --event example.hello --limit 1 "$1" >"$2/hello" 2>"$2/messages"' "$ktrace" "$ram" "$tmp"
}

for name in busy quiet; do
	cp -r examples/minimal "$tmp/$name"
done
# Hart 0 records about a thousand events a second.
sed -i 's/__asm__ volatile("wfi");/{ if (hart == 0) KTRACE(example, count, 0); for (volatile int n = 0; n < 100000; n++) ; }/' \
	"$tmp/busy/kernel.c"
library=$PWD/build/test/minimal
check "the library is built" test -e "$library/ktrace.o"
for name in busy quiet; do
	check "a kernel without frequency builds: $name" minimal_kernel "$tmp/$name" "$library"
done

# measured COMMAND…: stores the command's output in $tmp/out, and succeeds if the command has measured the
# frequency. It may fail on a busy host, if the guest did not run during the command.
measured() { "$@" >"$tmp/out" 2>"$tmp/messages"; grep -q 'measured while the guest runs' "$tmp/messages"; }

start busy
check "summary measures the frequency" eventually measured "$ktrace" summary --json "$ram"
hz=$(grep -o '"frequency":[0-9]*' "$tmp/out" | grep -o '[0-9]*')
check "the counter of QEMU's riscv64 machine runs at 10 MHz: $hz" test "$hz" -gt 9000000 -a "$hz" -lt 11000000
check "why measures the frequency" eventually measured "$ktrace" why "$ram"
check "why prints seconds" grep -q 'last event [0-9.]* [mu]*s ago' "$tmp/out"
check "why prints no ticks" sh -c "! grep -q ' ticks' '$tmp/out'"
check "why --qmp measures the frequency" eventually measured "$ktrace" why --qmp "$tmp/qmp"
check "why --qmp prints seconds" grep -q 'last event [0-9.]* [mu]*s ago' "$tmp/out"
followed_has_seconds() { "$ktrace" show --follow --limit 5 "$ram" | grep -q '^\[ *[0-9]*\.[0-9]*\] CPU0'; }
check "show --follow prints seconds" eventually followed_has_seconds
"$ktrace" summary --json --frequency 1000 "$ram" >"$tmp/json" 2>&1
check "--frequency replaces the measured frequency" grep -q '"frequency":1000,' "$tmp/json"
live_has_seconds() {
	"$ktrace" live --lines --tail 3 --interval 500ms --count 6 "$ram" | grep -q '^ *[0-9]*\.[0-9]\{6\} CPU0'
}
check "live prints seconds" eventually live_has_seconds
end_guest

# has_ended_counting: succeeds if both harts have recorded their last event. Afterwards they only wait.
has_ended_counting() { [ "$("$ktrace" show --event example.count "$ram" | grep -c ' 999$')" -eq 2 ]; }

start quiet
await has_ended_counting
"$ktrace" summary "$ram" >"$tmp/text" 2>"$tmp/messages"
check "summary reports that the frequency of a guest that records nothing is unknown" grep -q "clock frequency is unknown" "$tmp/messages"
end_guest
done_testing
