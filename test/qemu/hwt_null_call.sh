# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Finds the cause of a panic: a kernel calls through a NULL pointer. The panic reports the address that
# cannot be executed. The record of all branches has the branch that led there, without any help from the
# kernel.
# HWT_ARCHES: architectures to test (default: x86_64 aarch64).
. test/tap.sh

ktrace=build/bin/ktrace
for arch in ${HWT_ARCHES:-x86_64 aarch64}; do
	rm -f "$tmp"/out.*
	timeout -k 5 $kill_limit "$ktrace" run --timeout $limit --branches --out "$tmp/out.ktrx" -- $(sh scripts/qemu.sh "$arch" 2) \
		-append run=null-call </dev/null >"$tmp/console" 2>"$tmp/err"
	equal "$arch: the guest panics" 10 "$?"
	next="ktrace hwt --elf $PWD/build/demo/$arch/kernel.elf --calls --last 10000 --before panic $tmp/out.branches"
	check "$arch: run prints the next command" grep -qxF "ktrace run: which code ran: $next" "$tmp/err"
	PATH=$PWD/build/bin:$PATH sh -c "$next" >"$tmp/next" 2>"$tmp/messages"
	equal "$arch: the printed command succeeds" 0 "$?"
	sed 's/^/# /' "$tmp/messages"
	check "$arch: the printed command ends with the calls that led to the panic" awk '
		/ calibrat(e|or)( {)?$/ { cause = NR } / page_fault( {)?$/ { fault = NR } / panic( {)?$/ { panic = NR }
		END { exit !(cause && cause < fault && !panic && NR - cause < 100) }' "$tmp/next"
	"$ktrace" show --with "$tmp/out.branches" --elf "build/demo/$arch/kernel.elf" "$tmp/out.ktrx" >"$tmp/shown" 2>"$tmp/messages"
	equal "$arch: show --with branches succeeds" 0 "$?"
	sed 's/^/# /' "$tmp/messages"
	check "$arch: show --with branches has the event of the fault" grep -qE ' CPU1 .* mm\.fault_enter' "$tmp/shown"
	check "$arch: show --with branches has the call of the fault's handler" grep -qE ' CPU1 .* hwt\.call +page_fault,' "$tmp/shown"
	check "$arch: show --with branches has event and call of the fault before the call of panic" awk '
		/ mm\.fault_enter / { event = NR } / CPU1 .* hwt\.call +page_fault,/ { fault = NR } / CPU1 .* hwt\.call +panic,/ { panic = NR }
		END { exit !(fault && fault < panic && event < panic) }' "$tmp/shown"
	"$ktrace" hwt --elf "build/demo/$arch/kernel.elf" -s 1 --last 60 --before page_fault \
		-o symbol,event_type,source "$tmp/out.branches" >"$tmp/last" 2>"$tmp/messages"
	equal "$arch: hwt --last --before succeeds" 0 "$?"
	sed 's/^/# /' "$tmp/messages"
	# The compiler may have inlined calibrate() into its caller.
	grep -E '^calibrat(e|or)[+ ]' "$tmp/last" | tail -n 1 >"$tmp/cause"
	check "$arch: the thread's last branch is the fault" \
		grep -qE ' interrupt .*demo/kern/bug/null_call\.c:[0-9]+$' "$tmp/cause"
	sed 's/^/# /' "$tmp/cause"
	line=$(grep -n 'operations->calibrate(device);' demo/kern/bug/null_call.c | cut -d: -f1)
	check "$arch: after the fault there is only the way to the panic" awk -v cause="$(cat "$tmp/cause")" '
		$0 == cause { seen = 1; next } seen && /null_call\.c/ { bad = 1 } END { exit !seen || bad }' "$tmp/last"
	equal "$arch: the fault is in the line of the mistake" "$line" "$(sed 's/.*null_call\.c://' "$tmp/cause")"
done
done_testing
