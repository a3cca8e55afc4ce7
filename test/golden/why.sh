# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Compares the output of `ktrace why` word for word: text, JSON, contradictory traces and invalid command
# lines.
. test/tap.sh
. test/golden/golden.sh

golden=test/golden/why
corpus=$PWD/test/golden/proc
build/test/why-traces "$tmp" >/dev/null 2>&1 || exit 1
build/test/cmd-traces "$tmp" || exit 1

# slots COMMAND…: runs the command, and replaces the slots in the ids of events, which differ in each trace.
slots() {
	"$@" >slots
	slots_status=$?
	sed -E 's/"([0-9]+)[.][0-9]+"/"\1.N"/g' slots
	return $slots_status
}

stories="deadlock self-deadlock asleep-with-lock ipi-deadlock dead-owner order inversion lies
	yield-deadlock yield-ring yield-self yield-sleeper yield-turns
	answer-off answers-off answer-starves answer-lost answer-soon
	ask-absent ask-absent-idle ask-itself ask-itself-idle
	crowd crowd-older crowd-asleep crowd-late right-states always-4 always-1 xv6-numbers
	unwoken unwoken-busy stuck-device stuck-device-busy late rest
	retry-asleep retry-asleep-one retry-given-up retry-given-up-yield retry-given-up-busy
	retry-given-up-blocked retry-healthy retry-twenty slow-timeouts short-timeouts dead-timed dead-retry
	dead-given-up half-minute-locked hour-locked seconds-locked hour-event seconds-event hour-input slow-device
	polled-device polled-shortly stopped preempted
	ended ended-recorded ended-well mixed-up lost starved stale-idle"
for story in $stories; do
	golden $story ktrace why $story.ktrx
done
ktrace why "$tmp/ipi-deadlock.ktrx" >"$tmp/in-step"
ktrace why "$tmp/clocks-apart.ktrx" >"$tmp/apart"
check "why prints the same for CPUs whose clocks differ" diff "$tmp/in-step" "$tmp/apart"
golden no-init ktrace why no-init.ktrx
golden deadlock-json slots ktrace why --json deadlock.ktrx
golden dead-owner-json slots ktrace why --json dead-owner.ktrx
golden yield-deadlock-json slots ktrace why --json yield-deadlock.ktrx
golden answer-off-json slots ktrace why --json answer-off.ktrx
golden answers-off-json slots ktrace why --json answers-off.ktrx
golden ask-absent-json slots ktrace why --json ask-absent.ktrx
golden stopped-summary ktrace summary stopped.ktrx
check "summary --json reports that recording was stopped" sh -c 'ktrace summary --json "$0" | grep -q "\"stopped\":true"' "$tmp/stopped.ktrx"
golden lies-json slots ktrace why --json lies.ktrx
golden worst-inversion ktrace stats --worst 2 --of lock-wait worst-inversion.ktrx
golden worst-inversion-json ktrace stats --worst 1 --of lock-wait --json worst-inversion.ktrx
golden worst-run-queue ktrace stats --worst 1 --of run-queue worst-inversion.ktrx
golden life-off ktrace life lock 0x77 locks-off.ktrx
golden life-stopped ktrace life lock 0x77 stopped.ktrx
golden life-lost ktrace life lock 0xa000 worst-lost.ktrx
golden life-exit ktrace life thread 5 dead-owner.ktrx
golden worst-lost ktrace stats --worst 2 --of lock-wait worst-lost.ktrx
golden forward ktrace why forward.ktrx
golden earlier ktrace why --earlier forward.ktrx --earlier deadlock.ktrx backward.ktrx
golden earlier-absent ktrace why --earlier absent.ktrx backward.ktrx
golden earlier-alone ktrace why --earlier forward.ktrx --earlier backward.ktrx v1.bin
golden guarded ktrace why guarded.ktrx
golden v1 ktrace why v1.bin
golden v1-json slots ktrace why --json v1.bin
golden hostile ktrace why hostile.ktrx

golden no-elf ktrace why --elf absent.elf deadlock.ktrx
golden absent ktrace why absent.ktrx
golden none ktrace why
golden both ktrace why --qmp absent.sock deadlock.ktrx
golden two-machines ktrace why --qmp absent.sock --gdb absent.sock
golden no-machine ktrace why --qmp absent.sock
golden no-filter ktrace why --event sched deadlock.ktrx

# A process trace has no state of CPUs, threads and locks. This is not a mistake of the kernel's author.
for trace in "$corpus"/*.ktrace; do
	ktrace why "$trace" >"$tmp/text" 2>/dev/null
	equal "$(basename "$trace"): a process trace is no evidence about a machine: status" 11 $?
	check "$(basename "$trace"): the verdict states it" grep -q '^unknown (partial): a process trace shows' "$tmp/text"
	check "$(basename "$trace"): the advice is to use kdump" grep -q 'to be more certain: use kdump' "$tmp/text"
done

# Texts for people fit the width of a terminal and contain only printable characters.
for story in $stories; do
	ktrace why "$tmp/$story.ktrx" >"$tmp/text" 2>&1
	check "$story: no line is longer than 120 columns" awk 'length > 120 { bad = 1 } END { exit bad }' "$tmp/text"
	check "$story: the text has only printable characters" sh -c "! grep -q '[^[:print:]]' '$tmp/text'"
done

done_testing
