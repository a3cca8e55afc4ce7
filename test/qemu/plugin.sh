# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The trace unit in software (build/lib/ktrace-pt.so) leaves a complete record of the executed code when QEMU
# is killed, and refuses arguments that it does not understand.
. test/tap.sh
plugin=build/lib/ktrace-pt.so

# If QEMU is killed, the hardware trace in the file is complete.
: >"$tmp/console"
$(sh scripts/qemu.sh x86_64 2) -plugin "$plugin,out=$tmp/rings" -append run=forever </dev/null >"$tmp/console" 2>&1 &
qemu=$!
await grep -q 'demo: 2 CPUs,' "$tmp/console"
kill -KILL "$qemu"
wait "$qemu" 2>/dev/null
build/test/hwt_blocks "$tmp/rings" >"$tmp/killed"
sed 's/^/# /' "$tmp/killed"
check "killed: the records of two CPUs have no gaps" test "$(grep -c ' gaps 0 .* instructions [1-9]' "$tmp/killed")" -eq 2

# refused NAME ARGUMENTS TEXT: checks that QEMU refuses to start if the plugin has these arguments, and
# that it prints TEXT.
refused() {
	timeout -k 2 $kill_limit $(sh scripts/qemu.sh x86_64 1) -plugin "$plugin,$2" </dev/null >"$tmp/messages" 2>&1
	status=$?
	check "$1: QEMU does not start" test "$status" -ne 0 -a "$status" -ne 124
	check "$1: a message has the reason: $(head -n 1 "$tmp/messages")" grep -q -- "$3" "$tmp/messages"
}

refused "an unknown argument" "out=$tmp/x,colour=red" 'colour=red: unknown argument'
refused "a ring that is no power of two" "out=$tmp/x,size=100000" 'size=100000: expected a power of two'
refused "five ranges" "range=1-2,range=1-2,range=1-2,range=1-2,range=1-2" 'at most 4'
refused "a file that cannot be made" "out=$tmp/none/x" 'No such file'
done_testing
