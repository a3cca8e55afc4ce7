# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Output of `ktrace check`: violations with the events before them, rules that cannot be decided, and invalid rule files.
. test/tap.sh
. test/golden/golden.sh

golden=test/golden/check
build/test/cmd-traces "$tmp" || exit 1

cat >"$tmp/some.rules" <<'END'
# Checks the output for rules that are kept, violated, undecided, overdue and not checked.
results: always syscall.exit has (result >= 0)
calls: never syscall.enter after syscall.enter unless syscall.exit by @thread
wakes: every sched.wake then sched.switch within 30us by thread/next
one-wake: at most 20 sched.wake per 1s
unknown: never user.note (text == "all is well", good == 1)
depth irq: up irq.enter, down irq.exit by @cpu
in-irq: never sched.switch while irq > 0 by @cpu
optional
other: never sched.swtich
END
golden some ktrace check --rules some.rules v2.ktrx
golden some-all ktrace check --rules some.rules --all v2.ktrx
golden some-json ktrace check --rules some.rules --all --json v2.ktrx
golden some-hostile ktrace check --rules some.rules hostile.ktrx
echo 'any: never User.*' >"$tmp/any.rules"
golden any-hostile ktrace check --all --rules any.rules hostile.ktrx
golden default ktrace check --json v2.ktrx
echo 'awake: never sched.wake while thread is runnable' >"$tmp/awake.rules"
golden stateless ktrace check --rules awake.rules stateless.ktrx
golden stateless-json ktrace check --json --rules awake.rules stateless.ktrx
golden v1 ktrace check --json --rules some.rules v1.bin

# The ends of the dump and of the stream are missing. The missing events could violate any rule.
head -c 3000 "$tmp/v2.ktrx" >"$tmp/short.ktrx"
cp test/golden/bad/stream-cut.kts "$tmp"
golden short ktrace check --rules some.rules short.ktrx
golden short-json ktrace check --json --rules some.rules short.ktrx
echo 'far: never sched.switch (next == 99)' >"$tmp/far.rules"
# The dump is cut so early that none of its records can be read.
head -c 1500 "$tmp/v2.ktrx" >"$tmp/unread.ktrx"
golden unread ktrace check unread.ktrx
golden unread-json ktrace check --json --rules some.rules unread.ktrx
golden short-stream ktrace check --json --rules far.rules stream-cut.kts

echo 'a: never sched.swtich' >"$tmp/event.rules"
golden bad-event ktrace check --rules event.rules v2.ktrx
printf 'ok: never sched.wake\na: always syscall.exit has\n\t(resullt < 0)\n' >"$tmp/field.rules"
golden bad-field ktrace check --rules field.rules v2.ktrx
printf 'a: nev\033er b\n' >"$tmp/word.rules"
golden bad-word ktrace check --rules word.rules v2.ktrx
golden no-rules ktrace check --rules absent.rules v2.ktrx
golden no-filter ktrace check --event sched v2.ktrx
golden where ktrace check --rules some.rules --where "cpu == 0 and time > 20us" v2.ktrx
golden where-nothing ktrace check --rules some.rules --where "cpu == 7" v2.ktrx
golden where-wrong ktrace check --where "cpu = 1" v2.ktrx
golden where-unknown ktrace check --where "cpu == 1 and nrr == 3" v2.ktrx
head -c 2000000 /dev/zero >"$tmp/zero.rules"
golden zeros ktrace check --rules zero.rules v2.ktrx

# status NUMBER "what" COMMAND…: checks the exit status of a command.
status() {
	expected=$1 what=$2
	shift 2
	(cd "$tmp" && "$@") >/dev/null 2>&1
	equal "$what" "$expected" $?
}
echo 'none: never user.*' >"$tmp/none.rules"
echo 'some: always syscall.exit has (nr < 4096)' >"$tmp/kept.rules"
: >"$tmp/empty.ktrx"
status 0 "rules that hold: 0" ktrace check --rules kept.rules v2.ktrx
status 1 "a rule that is violated: 1" ktrace check --rules none.rules v2.ktrx
status 2 "a rule that is wrong: 2" ktrace check --rules event.rules v2.ktrx
status 2 "an option that does not exist: 2" ktrace check --frobnicate v2.ktrx
status 0 "rules that hold in the readable part of a dump: 0" ktrace check --rules kept.rules short.ktrx
status 3 "a trace that does not exist: 3" ktrace check --rules kept.rules absent.ktrx
status 3 "a dump in which no record can be read: 3" ktrace check --rules kept.rules unread.ktrx
status 3 "an empty file: 3" ktrace check --rules kept.rules empty.ktrx
status 3 "a report that cannot be written: 3" sh -c 'ktrace check --rules kept.rules v2.ktrx >/dev/full'

done_testing
