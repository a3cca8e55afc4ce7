# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Compares the output of every view and option of hwt for scripts of steps word for word; also for steps that
# are shown together with the events of a kernel's trace.
. test/tap.sh
. test/golden/golden.sh

golden=test/golden/hwt_views
cp test/golden/hwt_views/*.steps "$tmp" || exit 1
build/test/cmd-traces "$tmp" || exit 1
mkdir "$tmp/bin" && ln -s "$PWD/build/test/ktrace-script" "$tmp/bin/hwt" && ln -s hwt "$tmp/bin/ktrace" || exit 1
PATH=$tmp/bin:$PATH

for trace in kernel thread; do
	golden $trace-columns hwt $trace.steps
	golden $trace-json hwt --json -o time,id,pid,tid,symbol,pc,event_type,event_payload,source $trace.steps
	golden $trace-calls hwt --calls $trace.steps
	golden $trace-calls-json hwt --calls --json $trace.steps
	golden $trace-folded hwt --folded $trace.steps
	golden $trace-folded hwt --folded=instructions $trace.steps
	golden $trace-folded-time hwt --folded=time $trace.steps
	golden $trace-durations hwt --durations $trace.steps
	golden $trace-durations-json hwt --durations --json $trace.steps
	golden $trace-functions hwt --functions $trace.steps
	golden $trace-packets hwt -g $trace.steps
done
golden samples hwt samples.steps
golden samples-functions hwt --functions --json samples.steps
golden samples-calls hwt --calls samples.steps
golden samples-coverage hwt --coverage samples.steps

# Checks the effect of options that select a part of the trace.
golden last hwt --last 3 kernel.steps
golden last-before hwt --last 4 --before panic -o time,symbol,event_type kernel.steps
golden last-calls hwt --calls --last 5 --before panic kernel.steps
golden last-durations hwt --durations --last 12 -s 0 kernel.steps
golden targets hwt targets.steps
golden last-before-never hwt --last 1 --before timer -s 1 kernel.steps
golden last-before-lost hwt --last 1 --before check -s 0 kernel.steps
golden cpu hwt -s 1 -o offset,symbol kernel.steps
golden thread-index hwt -t 1 thread.steps
golden process hwt -P 42 -t 0 -o pid,tid,symbol thread.steps
golden function hwt -i kernel -f copy -o offset,id,symbol,event_type kernel.steps
golden window hwt --from 2us --to 5us -o time,symbol --json kernel.steps
golden backend hwt -c qemu --functions thread.steps
golden output sh -c 'hwt -w out --functions thread.steps; cat out'
golden raw sh -c 'hwt -r -w out -s 1 kernel.steps; wc -c <out'

# Checks the output for a hardware trace that is shown together with a kernel's trace of the same clock.
golden beside ktrace show --with beside.steps v2.ktrx
golden beside-branches ktrace show --branches --with beside.steps --limit 12 v2.ktrx
golden beside-json ktrace show --json --event hwt --with beside.steps v2.ktrx
golden beside-export ktrace export --format perfetto --with beside.steps v2.ktrx -o exported
build/test/perfetto-text "$tmp/exported" >"$tmp/text"
golden beside-perfetto grep "functions\|hwt" text
golden beside-chrome sh -c 'ktrace export --format json --with beside.steps v2.ktrx -o json; grep "\"pid\":4" json'
golden beside-thread ktrace show --pid 12 --event hwt,sched.switch --with beside-thread.steps v2.ktrx
golden beside-unknown-thread ktrace show --event "hwt,sched.switch,syscall" --cpu 0 --with threadless.steps v2.ktrx
golden beside-anchor ktrace show --event "hwt,sched.wake,irq" --cpu 0 --with anchor.steps v2.ktrx
golden beside-anchor-skew ktrace show --event "hwt,sched.wake,irq" --cpu 0 --with anchor-skew.steps v2.ktrx
sed 's/ktrace_event_sched_wake_record_slow/ktrace_fact_sched_wake/' "$tmp/anchor.steps" >"$tmp/anchor-fact.steps"
golden beside-anchor-fact ktrace show --event "hwt,sched.wake,irq" --cpu 0 --with anchor-fact.steps v2.ktrx
sed "s/^frequency/nonce 99\n&/" "$tmp/beside.steps" >"$tmp/boot.steps"
golden beside-other-boot ktrace show --with boot.steps v2.ktrx
golden beside-other-clock ktrace show --with kernel.steps v2.ktrx
cp "$tmp/beside.steps" "$tmp/same.steps"
golden beside-bad-output ktrace export --format json --with same.steps v2.ktrx -o same.steps
check "export does not overwrite the file of --with" cmp -s "$tmp/beside.steps" "$tmp/same.steps"
golden beside-summary ktrace summary --with beside.steps v2.ktrx

# In every view, hwt reports damage by a message and by the exit status.
golden damaged hwt damaged.steps
golden codeless hwt --calls codeless.steps
golden unread hwt --calls unread.steps
golden other hwt other.steps
golden damaged-packets hwt -g damaged.steps

# Checks the output of --help, and the messages about invalid arguments and invalid files.
golden help hwt --help
golden subcommand ktrace hwt --functions samples.steps
golden bad-none hwt
golden bad-file hwt nowhere
golden bad-script hwt v2.ktrx
golden bad-cpu hwt -s 7 kernel.steps
golden bad-list hwt -s one kernel.steps
golden bad-thread hwt -t 0 kernel.steps
golden bad-column hwt -o offset,colour kernel.steps
golden bad-folded hwt --folded=cycles kernel.steps
golden bad-views hwt --calls --functions kernel.steps
golden bad-function hwt -i kernel -f nothing kernel.steps
golden bad-half hwt -f copy kernel.steps
golden bad-function-twice hwt -i kernel -f copy -f panic kernel.steps
golden bad-image-twice hwt -i kernel -i prog -f copy kernel.steps
golden bad-before hwt --before panic kernel.steps
golden bad-before-name hwt --last 1 --before nosuch kernel.steps
golden bad-before-nameless hwt --last 1 --before panic nameless.steps
golden nameless hwt -o offset,pc nameless.steps
golden bad-process hwt -P 3 -o pc targets.steps
golden bad-process-none hwt -P 3 -o pc thread.steps
golden bad-late hwt --from 900ms -s 0 -o pc kernel.steps
golden bad-function-not-run hwt -i kernel -f panic -s 0 -o pc kernel.steps
cp "$tmp/kernel.steps" "$tmp/same.steps" && ln "$tmp/same.steps" "$tmp/same"
golden bad-output-input hwt -w same same.steps
check "-w does not overwrite the input file through another link" cmp -s "$tmp/kernel.steps" "$tmp/same.steps"
golden bad-last-packets hwt -g --last 3 kernel.steps
golden bad-last hwt --last 0 kernel.steps
golden bad-raw hwt -r -w out kernel.steps
golden bad-raw-where hwt -r kernel.steps
golden bad-window hwt --from 5us --to 2us kernel.steps
golden bad-time hwt --from soon kernel.steps
sed /^frequency/d "$tmp/kernel.steps" >"$tmp/unclocked.steps"
golden bad-ticks hwt --from 20us unclocked.steps
golden bad-backend hwt -c etm kernel.steps
golden bad-elf hwt --elf nowhere kernel.steps
golden bad-symbols hwt --symbols nowhere kernel.steps
golden bad-symbols-twice hwt --symbols one --symbols two kernel.steps
golden bad-symbols-packets hwt -g --symbols one kernel.steps
golden bad-symbols-recording hwt -c qemu -w out --symbols one -- qemu-system-x86_64
golden bad-json hwt --json --folded kernel.steps
golden bad-size hwt -b 1M kernel.steps
golden bad-two hwt kernel.steps thread.steps
golden bad-output hwt -w nowhere/out kernel.steps
golden bad-itself hwt -w kernel.steps kernel.steps
golden no-output sh -c 'hwt kernel.steps >/dev/full'

# Tests the options for recording a hardware trace.
for backend in pt coresight spe; do golden record-$backend hwt -c $backend -w out -- true; done
golden record-what hwt -c qemu -w out -- true
golden record-nothing hwt -c qemu -w out --
golden record-where hwt -c qemu -- qemu-system-x86_64
golden record-size hwt -c qemu -w out -b 100000 -- qemu-system-x86_64
golden record-cpu hwt -c qemu -w out -s 1 -- qemu-system-x86_64
golden record-function-twice hwt -c qemu -w out -i kernel -f copy -f panic -- qemu-system-x86_64
golden record-kvm hwt -c qemu -w out -- qemu-system-x86_64 -accel kvm

# The output is only text, even if names contain control characters. If the reader of the output ends, hwt
# prints no error.
for view in '' --calls --durations --folded --functions -g; do
	hwt $view "$tmp/kernel.steps" 2>/dev/null | LC_ALL=C tr -d '\12\40-\176' >"$tmp/unprintable"
	equal "the output is only text${view:+ with $view}" 0 "$(wc -c <"$tmp/unprintable" | tr -d ' ')"
done
sh -c 'hwt "$1"; hwt --calls "$1"' - "$tmp/samples.steps" 2>"$tmp/message" | head -c 1 >/dev/null
check "no message if the reader of the output has ended" sh -c '! grep -q "standard output" "$1"' - "$tmp/message"
done_testing
