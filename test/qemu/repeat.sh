# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace run --seed` makes runs that `ktrace run --replay` repeats, event by event, on each architecture.
. test/tap.sh
. test/qemu/run_support.sh
root=$PWD

# boot ARCH CPUS "BOOT ARGUMENTS" [OPTION…]: runs a guest; stores the trace in $out.
boot() {
	arch=$1 cpus=$2 arguments=$3
	shift 3
	rm -f "$out"
	# shellcheck disable=SC2046
	run "$@" -- $(demo "$arch" "$cpus") -append "$arguments"
}

# replay TRACE [OPTION…]: repeats the run of a trace. Stores the trace of the repeated run in $tmp/again,
# the exit status in $status, the messages in $tmp/err.
replay() {
	replayed=$1
	shift
	status=0
	rm -f "$tmp/again"
	timeout -k 5 $kill_limit "$ktrace" run --timeout $limit -o "$tmp/again" --replay "$replayed" "$@" \
		</dev/null >"$tmp/console" 2>"$tmp/err" || status=$?
}

# repeats NAME STATUS: replays $out, and checks that both runs have the same events and end with this
# status.
repeats() {
	equal "$1: status" "$2" "$status"
	message_has "to repeat the run: ktrace run --replay $out"
	replay "$out"
	equal "$1: status of the replay" "$2" "$status"
	message_has "the same run as $out: all "
	events=$(sed -n 's/.*: all \([0-9]*\) events that both traces have are equal$/\1/p' "$tmp/err")
	check "$1: events are compared: $events" test "$events" -gt 50
}

# events TRACE [SECONDS]: prints the events of a trace, CPU by CPU, with absolute times. SECONDS: only those
# before this virtual time.
events() {
	frequency=$("$ktrace" summary "$1" 2>/dev/null | sed -n 's/^clock  *\([0-9]*\) Hz$/\1/p')
	build/bin/ktrdump -cqtip -M "$1" 2>/dev/null |
		awk -v end="$(echo "${2:-1000000} $frequency" | awk '{ printf "%.0f", $1 * $2 }')" '$3 + 0 < end + 0'
}

# differ TRACE TRACE: succeeds if the traces have different events.
differ() {
	events "$1" >"$tmp/first"
	events "$2" >"$tmp/second"
	test -s "$tmp/first" && test -s "$tmp/second" && ! cmp -s "$tmp/first" "$tmp/second"
}

for arch in x86_64 aarch64 riscv64; do
	cpus=2
	[ $arch != aarch64 ] || cpus=4

	boot $arch $cpus "run=echo" --seed 7
	message_has "seed 7 ended at 0."
	ended=$(sed -n 's/.*seed 7 ended at \([0-9.]*\) s of virtual time;.*/\1/p' "$tmp/err")
	repeats "$arch, seed 7" 0
	cp "$out" "$tmp/seed7"

	boot $arch $cpus "run=echo" --seed 8
	check "$arch: another seed gives another run" differ "$tmp/seed7" "$out"
	boot $arch $cpus "seconds=0 exit=3" --deterministic
	message_has "seed 0 ended at 0."
	repeats "$arch, without a seed, guest with status 3" 1

	# The seed changes after half of the time in which the guest records. Before this change, the
	# events are the same as in a run whose seed does not change.
	half=$("$ktrace" summary "$tmp/seed7" 2>/dev/null | sed -n 's/^events .* in \([0-9.]*\) s,.*/\1/p' |
		awk -v end="$ended" '{ printf "%.6f", end - $1 / 2 }')
	boot $arch $cpus "run=echo" --seed 7 --then "$half,0"
	before=$(echo "$half" | awk '{ print $1 - 0.00001 }') # the guest measures its frequency with an error
	events "$tmp/seed7" "$before" >"$tmp/first"
	events "$out" "$before" >"$tmp/second"
	same "$arch: until the time of --then, the events are the same" "$tmp/first" "$tmp/second"
	check "$arch: dozens of events come before the time of --then: $(wc -l <"$tmp/first")" test "$(wc -l <"$tmp/first")" -gt 50
	check "$arch: after the time of --then, the events differ" differ "$tmp/seed7" "$out"
	repeats "$arch, seed 7 with --then" 0

	# In this guest, all threads sleep for ever. QEMU then advances the virtual time without
	# waiting.
	for seed in 1 2 3 4 5 6 7 8; do
		boot $arch 2 "run=wakeup-race watch=12" --seed $seed --deadline 3
		[ "$status" -ne 12 ] || break
	done
	message_has "the virtual deadline of 3 s was reached"
	message_has "seed $seed ended at 3.000000000 s"
	check "$arch: why finds the race" sh -c "'$ktrace' why '$out' 2>/dev/null | grep -q '^wakeup-race'"
	repeats "$arch, a hang that a deadline ends" 12
done

boot aarch64 2 "run=echo" --seed 7
cp "$out" "$tmp/seed7"
boot aarch64 2 "run=echo" --seed 7 --noise 50us
check "--noise gives another run" differ "$tmp/seed7" "$out"
repeats "--noise" 0

# ---- Files and versions that a replay needs

cp build/demo/aarch64/kernel.elf "$tmp/kernel.elf"
export KERNEL="$tmp/kernel.elf"
boot aarch64 2 "run=echo" --seed 7
repeats "a copy of the kernel" 0
echo >>"$tmp/kernel.elf"
replay "$out"
equal "the kernel has changed: status" 1 "$status"
message_has "$tmp/kernel.elf: changed since the run was recorded"
check "the kernel has changed: no trace is written" test ! -e "$tmp/again"
replay "$out" --force
equal "the kernel has changed, --force: status" 0 "$status"
message_has "the same run as $out"
cp build/demo/x86_64/kernel.elf "$tmp/kernel.elf"
replay "$out" --force
check "a kernel of another architecture: status $status" test "$status" -ne 0
rm "$tmp/kernel.elf"
replay "$out"
message_has "$tmp/kernel.elf: cannot be read, but the run needs this file"
unset KERNEL

# The recorded command line names a file by a path relative to the directory of the first run. The options of
# the replay name files by paths relative to the directory of the replay.
boot aarch64 2 "run=echo" --seed 7
mkdir "$tmp/elsewhere" "$tmp/elsewhere/ram"
(cd "$tmp/elsewhere" && timeout -k 5 $kill_limit "$root/$ktrace" run --timeout $limit --ram-dir ram --keep-ram --replay ../out.ktrx \
	</dev/null >"$tmp/console" 2>"$tmp/err")
equal "a replay in another directory: status" 0 $?
message_has "the same run as ../out.ktrx"
check "a replay in another directory: its trace is there" test -s "$tmp/elsewhere/replay.ktrx"
check "a replay in another directory: its RAM file is there" sh -c "ls '$tmp'/elsewhere/ram/*.ram"

LC_ALL=C sed 's/"qemu":"[0-9]/"qemu":"0/' "$out" >"$tmp/older"
replay "$tmp/older"
equal "a trace of another QEMU: status" 2 "$status"
message_has ", and the run was recorded with 0"
replay "$tmp/older" --force
equal "a trace of another QEMU, --force: status" 0 "$status"

# A digit of the version is changed, so that the recipe keeps its length.
LC_ALL=C sed 's/"ktrace":"[0-9]/"ktrace":"x/' "$out" >"$tmp/older"
replay "$tmp/older"
equal "a trace of another ktrace: status" 0 "$status"
message_has "WARNING: $tmp/older was recorded with ktrace x$(cut -c2- VERSION), and this is ktrace $(cat VERSION): the run may differ"
message_has "the same run as"

# The run had seed 7, but the recipe in its trace is for seed 8.
LC_ALL=C sed 's/"noise":{"seed":7/"noise":{"seed":8/' "$out" >"$tmp/false"
replay "$tmp/false"
equal "a replay that differs: status" 17 "$status"
check "a replay that differs: the first event that differs is named" \
	grep -qE 'the run differs from .* after [0-9]+ equal events, it has [a-z_]+[.][a-z_]+ at [0-9.]+ s on CPU' "$tmp/err"

# --expect ends this run at a moment of real time. Its replay ends at the same virtual time.
boot aarch64 2 "run=forever" --seed 7 --expect "demo: 2 CPUs"
equal "a run that ends when a text is seen: status" 0 "$status"
replay "$out"
message_has "the same run as $out"

# ---- Runs that cannot be repeated

boot aarch64 2 "run=echo"
replay "$out"
equal "a run without a seed: status" 1 "$status"
message_has "$out: the run cannot be repeated: it was not recorded with --seed or --deterministic"
# shellcheck disable=SC2046
run --seed 7 -- $(demo aarch64 2) -append "run=echo" -icount shift=0
equal "-icount: status" 2 "$status"
message_has "-icount: leave it out"
# shellcheck disable=SC2046
run --seed 7 -- $(demo aarch64 2) -append "run=echo" -enable-kvm
equal "-enable-kvm: status" 2 "$status"
message_has "with kvm it does not"
# shellcheck disable=SC2046
run --seed 7 -- $(demo aarch64 2) -append "run=echo" -netdev user,id=n
message_has "runs may differ because of -netdev user,id=n (packets arrive at other times)"

done_testing
