# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace show --follow on running guests: with a filter it shows the same events as the finished trace.
. test/tap.sh
. test/qemu/run_support.sh

# follow ARCH OPTION…: runs a guest. Runs show --follow on the guest's RAM as soon as the RAM file exists;
# stores the output in $tmp/live.
follow() {
	boot_beside "$1" "slots=65536 run=pipeline"
	shift
	status=0
	timeout -k 5 $kill_limit "$ktrace" show --follow "$@" "$ram" >"$tmp/live" 2>"$tmp/live.err" || status=$?
}

# plain FILE: prints timestamp, CPU, event and text of each line. Removes names of threads, because show
# may learn a name only after it has printed events of the thread.
plain() { grep -v '^---' "$1" | sed 's/^\(\[[^]]*\] CPU[0-9]*\) PID=\([0-9]*\)[^ ]*/\1 \2/; s/ ([^()]* -> [^()]*)$//; s/ ([^()]*)$//' | tr -s ' ' | sort; }

for arch in x86_64 aarch64 riscv64; do
	follow "$arch" --event 'process,sched.switch' --cpu 1
	wait "$guest"
	equal "$arch: show --follow ends with the guest" 0 "$status"
	"$ktrace" show --event 'process,sched.switch' --cpu 1 "$out" >"$tmp/final" 2>/dev/null
	plain "$tmp/live" >"$tmp/live.plain"
	plain "$tmp/final" >"$tmp/final.plain"
	check "$arch: the finished trace has events that match the filter" test -s "$tmp/final.plain"
	same "$arch: show --follow prints the same events as the finished trace" "$tmp/final.plain" "$tmp/live.plain"
	check "$arch: show --follow prints totals at its end" grep -q 'slots 0 were overwritten' "$tmp/live.err"
	check "$arch: show --follow prints names of threads" grep -q 'PID=[0-9]*(' "$tmp/live"
done

follow x86_64 --event 'sched.swtich'
kill "$guest"
wait "$guest"
equal "show --follow refuses an unknown event" 2 "$status"
check "show --follow suggests a name for an unknown event" grep -q "did you mean sched.switch?" "$tmp/live.err"
follow x86_64 --limit 3
kill "$guest"
wait "$guest"
equal "show --follow --limit prints so many events" 3 "$(grep -vc '^---' "$tmp/live")"
"$ktrace" show --follow "$out" >"$tmp/live" 2>"$tmp/live.err"
equal "show --follow of a finished trace succeeds" 0 $?
check "show --follow of a finished trace: a message says that it is shown once" grep -q 'contents once' "$tmp/live.err"
"$ktrace" show --follow --since 1 "$out" 2>"$tmp/live.err"
equal "show --follow refuses --since" 2 $?
done_testing
