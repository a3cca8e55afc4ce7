# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Profiles of guests without ktrace: known shares of functions, a CPU that is idle, and a guest that was running
# before. The number of samples is given, not the time, so a busy machine only needs longer.
. test/tap.sh
ktrace=build/bin/ktrace
export TMPDIR="$tmp" # a killed run leaves its files here

# guest ARCH: prints the command line of a guest with two CPUs, of which one is never started.
guest() {
	case $1 in
	x86_64) set -- "$1" ;;
	aarch64) set -- "$1" -M virt -cpu cortex-a57 ;;
	riscv64) set -- "$1" -M virt -bios none ;;
	esac
	echo "qemu-system-$* -smp 2 -m 64M -display none -monitor none -serial null -kernel build/test/bare/shares_$1.elf"
}

# member NAME: prints a number in the JSON object.
member() { grep -oE "\"$1\":[0-9]+" "$tmp/json" | head -n 1 | cut -d : -f 2; }

# total FUNCTION: prints the percentage of CPU 0's samples that are in this function or in a
# function that it called.
total() {
	echo $(($(grep -oE "\"name\":\"$1\",\"self\":[0-9]+,\"total\":[0-9]+" "$tmp/json" | head -n 1 | sed 's/.*://') * 100 / samples))
}

between() { [ "$2" -ge "$1" ] && [ "$2" -le "$3" ]; }

samples=80
for arch in x86_64 aarch64 riscv64; do
	status=0
	# shellcheck disable=SC2046
	timeout -k 5 $kill_limit "$ktrace" profile --samples $samples --json --svg "$tmp/svg" -- $(guest $arch) \
		>"$tmp/json" 2>"$tmp/err" </dev/null || status=$?
	equal "$arch: the status is 0" 0 "$status"
	[ "$status" -eq 0 ] || sed 's/^/# /' "$tmp/err"
	grep '^{' "$tmp/json" >"$tmp/object"
	check "$arch: the JSON is valid" python3 test/schema.py profile "$tmp/object"
	equal "$arch: there are as many samples as asked for" $samples "$(member samples)"
	# At first, firmware may use both CPUs.
	check "$arch: the CPU that never runs is idle: $(member idle)" between $((samples - 10)) "$(member idle)" $samples
	check "$arch: the other CPU runs the kernel: $(member kernel)" between $samples "$(member kernel)" $((samples + 10))
	# The true shares are 75 % and 25 %. These limits are five standard deviations away.
	check "$arch: three_parts takes 3/4: $(total three_parts) %" between 51 "$(total three_parts)" 99
	check "$arch: one_part takes 1/4: $(total one_part) %" between 1 "$(total one_part)" 49
	check "$arch: bare_main and its callees take nearly all of the time: $(total bare_main) %" between 80 "$(total bare_main)" 100
	check "$arch: the flame graph has three_parts and one_part" sh -c 'grep -q "three_parts: " "$1" && grep -q "one_part: " "$1"' sh "$tmp/svg"
done

# Profiles a guest that is running already.
# shellcheck disable=SC2046
timeout -k 5 $kill_limit $(guest x86_64) -qmp "unix:$tmp/qmp,server=on,wait=off" >"$tmp/qemu" 2>&1 &
qemu=$!
await test -S "$tmp/qmp"
check "a running guest is profiled" "$ktrace" profile --qmp "$tmp/qmp" --samples 20 --folded --out "$tmp/folded"
check "folded stacks begin with the outermost function" grep -qE '^long;bare_main;share_out;(three_parts|one_part);spin [0-9]+$' "$tmp/folded"
check "a line of folded stacks is frames and a number" sh -c '! grep -vqE "^[^;]+(;[^;]+)* [0-9]+$" "$1"' sh "$tmp/folded"
check "the guest runs again, and can be profiled again" "$ktrace" profile --qmp "$tmp/qmp" --samples 5 --out "$tmp/table"
check "the table has the functions" grep -qE '^ *[0-9.]+ % +[0-9.]+ %  spin$' "$tmp/table"
"$ktrace" profile --qmp "$tmp/qmp" --samples 3 --limit 1 --out "$tmp/limited" 2>"$tmp/err"
check "at most N functions are printed" sh -c '[ "$(grep -c " %  " "$2")" -eq 1 ]' sh x "$tmp/limited"
check "the rate and the time can be set" "$ktrace" profile --qmp "$tmp/qmp" --rate 20 --seconds 60 --samples 2 --out "$tmp/other"
check "a kernel can be named" "$ktrace" profile --qmp "$tmp/qmp" --samples 2 --kernel build/test/bare/shares_x86_64.elf --out "$tmp/table"
"$ktrace" profile --qmp "$tmp/qmp" --samples 5 --elf build/lib/ktrace-schedule.so --out "$tmp/table" 2>"$tmp/err"
check "another file has no names for the guest's code: a message asks whether the file is the kernel's" grep -q 'ktrace-schedule.so has no name for most of the code that ran: is it the kernel.s ELF file?' "$tmp/err"
check "a file that is no kernel is refused" sh -c '! "$1" profile --qmp "$2" --samples 2 --kernel "$3" 2>"$4"' sh "$ktrace" "$tmp/qmp" README.md "$tmp/err"

# The paths of sockets are limited to 107 bytes.
long=$tmp/$(printf '%0100d' 0)
mkdir "$long"
# shellcheck disable=SC2046
check "TMPDIR may be longer than the path of a socket: ktrace starts QEMU" env TMPDIR="$long" \
	timeout -k 5 $kill_limit "$ktrace" profile --samples 2 --out "$tmp/table" -- $(guest x86_64)
check "TMPDIR may be longer than the path of a socket: QEMU runs already" env TMPDIR="$long" \
	"$ktrace" profile --qmp "$tmp/qmp" --samples 2 --out "$tmp/table"

# has_sampled PID: succeeds if this process has certainly taken samples. It waits (in the kernel) less than
# 100 times before the first sample, and then at least once for each sample.
has_sampled() { [ "$(sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$1/status")" -ge 200 ]; }

# After Ctrl-C, the command prints the samples that it has taken.
rm -f "$tmp/json"
status=0
"$ktrace" profile --qmp "$tmp/qmp" --json --out "$tmp/json" 2>"$tmp/err" &
profile=$!
await has_sampled $profile
kill -INT $profile
wait $profile || status=$?
equal "SIGINT ends the profile: status" 0 "$status"
check "what was sampled until SIGINT is printed: $(member samples)" test "$(member samples)" -ge 1
check "the guest runs after the profile" "$ktrace" profile --qmp "$tmp/qmp" --samples 2 --out "$tmp/table"

# When the guest ends, the profile ends as well.
rm -f "$tmp/json"
"$ktrace" profile --qmp "$tmp/qmp" --json --out "$tmp/json" 2>"$tmp/err" &
profile=$!
await has_sampled $profile
kill $qemu
wait $qemu 2>/dev/null
wait $profile
check "what was sampled until the end of QEMU is printed: $(member samples)" test "$(member samples)" -ge 1
check "no files are left" sh -c '! ls "$1" | grep -q "^ktrace-"' sh "$tmp"

# Profiles a guest that is paused at first, until QEMU's monitor continues it.
mkfifo "$tmp/monitor"
exec 9<>"$tmp/monitor"
# shellcheck disable=SC2046
timeout -k 5 $kill_limit $(guest x86_64) -S -qmp "unix:$tmp/qmp-paused,server=on,wait=off" -monitor stdio \
	<&9 >"$tmp/qemu" 2>&1 &
qemu=$!
await test -S "$tmp/qmp-paused"
"$ktrace" profile --qmp "$tmp/qmp-paused" --samples 2 --out "$tmp/table" 2>"$tmp/err" &
profile=$!
check "a guest that is paused is waited for: a message says so, and how to continue it" eventually \
	grep -q "the guest is paused: .*type cont in QEMU's monitor" "$tmp/err"
echo cont >&9
status=0
wait $profile || status=$?
equal "the guest is sampled when it runs" 0 "$status"
equal "the message is printed once for a pause" 1 "$(grep -c 'the guest is paused' "$tmp/err")"
kill $qemu
wait $qemu 2>/dev/null
exec 9>&-

# Tests guests that cannot be profiled.
check "a program that is not QEMU is refused" sh -c '"$1" profile -- true 2>&1 | grep -q "not a qemu-system program"' sh "$ktrace"
done_testing
