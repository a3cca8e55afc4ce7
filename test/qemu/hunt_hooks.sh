# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# With --noise hooks, CPUs stop at ktrace's hooks. Such runs can be repeated. A kernel without hooks is refused.
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/hunt_support.sh

# repeats NAME TRACE: replays the run of a trace, and checks that the events are the same.
repeats() {
	status=0
	timeout -k 5 $kill_limit "$ktrace" run --timeout $limit -o "$tmp/again" --replay "$2" </dev/null >"$tmp/console" 2>"$tmp/err" || status=$?
	message_has "the same run as $2: all "
	events=$(sed -n 's/.*: all \([0-9]*\) events that both traces have are equal$/\1/p' "$tmp/err")
	check "$1: events are compared: $events" test "$events" -gt 50
}

guest="$(demo x86_64 2) -append run=echo"

# ---- A run with delays at hooks

run --seed 12 --noise hooks,30us -- $guest
equal "a run: status" 0 "$status"
check "a run: the recipe has the kind" sh -c "grep -aqF '\"noise\":{\"seed\":12,\"mean\":30000,\"kind\":\"hooks\"}' '$out'"
check "a run: the recipe has the addresses of hooks" sh -c "grep -aqE '\"hooks\":\\[(\"0x[0-9a-f]+\",?){10,}\\]' '$out'"
check "a run: no warning" sh -c "! grep -q WARNING '$tmp/err'"
repeats "a run" "$out"
cp "$out" "$tmp/hooks"
run --seed 12 --noise 30us -- $guest
"$ktrace" show "$tmp/hooks" >"$tmp/first" 2>/dev/null
"$ktrace" show "$out" >"$tmp/second" 2>/dev/null
check "hooks make another run than timers" sh -c "test -s '$tmp/first' && test -s '$tmp/second' && ! cmp -s '$tmp/first' '$tmp/second'"

# ---- A hunt: the first run fails, because the guest does not print the expected text

hunt both --noise both --expect "a text that is not written" --first --jobs 1 -- $guest
equal "a hunt: status" 10 "$status"
check "a hunt: the recipe has the kind" sh -c "grep -aqF '\"kind\":\"both\"' '$folder/seed-0.ktrx'"
check "a hunt: the list of results has the kind" sh -c "head -n 1 '$folder/results.jsonl' | grep -qF '\"kind\":\"both\"'"

# ---- Kernels in which no hook is found

kernel=build/demo/x86_64/kernel.elf
objcopy --strip-all $kernel "$tmp/stripped.elf"
objcopy $(nm $kernel | sed -n 's/.* [Tt] \(ktrace_[lft].*\)/--redefine-sym \1=a_\1/p') $kernel "$tmp/hookless.elf"
printf 'no ELF file' >"$tmp/image"
refuse() {
	other=$(KERNEL=$tmp/$1 sh scripts/qemu.sh x86_64 2)
	run --seed 1 --noise hooks -- $other
	equal "$1: status" 2 "$status"
	message_has "$2"
	check "$1: the guest was not started" test ! -s "$tmp/console"
	hunt "refused-$1" --noise hooks --seeds 1 -- $other
	equal "$1, hunt: status" 1 "$status"
	message_has "$2"
}
refuse stripped.elf "$tmp/stripped.elf has no symbol ktrace_root"
refuse hookless.elf "$tmp/hookless.elf calls no hook for locks or threads"
refuse image "--noise hooks needs the kernel's ELF file"
run --seed 1 --noise hooks -- qemu-system-x86_64 -display none
equal "no kernel: status" 2 "$status"
message_has "the QEMU command line names no kernel"

# ---- Places of hooks

other=$(KERNEL=$tmp/stripped.elf sh scripts/qemu.sh x86_64 2)
run --seed 12 --noise hooks --elf $kernel -- $other -append run=ls
equal "--elf names a file with symbols: status" 0 "$status"
check "--elf: no warning" sh -c "! grep -q 'executed no hook' '$tmp/err'"
objcopy --change-addresses 0x100000 $kernel "$tmp/moved.elf"
run --seed 12 --noise hooks --elf "$tmp/moved.elf" -- $other -append run=ls
message_has "WARNING: --noise hooks had no effect: the guest executed no hook"
hunt moved --noise hooks --elf "$tmp/moved.elf" --expect "a text that is not written" --first -- $other -append run=ls
message_has "WARNING: --noise hooks had no effect: the guest executed no hook"
done_testing
