# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The kernel with threads, whose code doc/howto/threads.md explains, runs. why and doctor print what the page
# states, for this kernel and for its variant with a lost wakeup.
. test/tap.sh
. test/qemu/minimal_support.sh

page=doc/howto/threads.md

# run NAME STATUS VARIABLE=VALUE…: builds the kernel with these variables, boots it and checks its exit status. On a
# busy machine, a kernel that does not end needs more time until why finds its failure.
run() {
	name=$1 expected=$2
	shift 2
	check "$name: the kernel builds" make -s -C examples/threads OUT="$tmp/$name" CC='riscv64-linux-gnu-gcc -Werror' "$@"
	for seconds in $times; do
		ended=0 status=0
		build/bin/ktrace run --timeout "$seconds" --out "$tmp/$name.ktrx" -- qemu-system-riscv64 -M virt -bios none -nographic \
			-kernel "$tmp/$name/kernel.elf" >"$tmp/console" 2>"$tmp/err" </dev/null || ended=$?
		build/bin/ktrace why "$tmp/$name.ktrx" >"$tmp/$name.why" 2>>"$tmp/err" || status=$?
		[ "$status" -ne 10 ] || break
	done
	equal "$name: the kernel ends with status" "$expected" "$ended"
	check "$name: nothing is lost" grep -q 'nothing lost' "$tmp/err"
}

# places: prints the lines of the kernel that the first paragraph of the input names.
places() { sed '/^$/,$d' | grep -o '(kernel\.c:[0-9]*)' | sort; }

# sample N: prints the N-th sample output of the page that `ktrace why` printed.
sample() {
	awk -v wanted="$1" '/^<!-- output: / { count += / why / } /^```/ { inside = !inside; next }
		inside && count == wanted' "$page"
}

# The samples of the README for the same calls: the declarations are a port header, the other lines a function.
awk '/^   ```/ { inside = !inside; if (!inside && text ~ /ktrace_port\.h|KTRACE_INIT/) printf "%s", text; text = ""; next }
	inside { text = text substr($0, 4) "\n" }' <README.md >"$tmp/sample"
mkdir "$tmp/readme"
sed '/^ /d; /^$/d' "$tmp/sample" >"$tmp/readme/ktrace_port.h"
{
	echo '#include "ktrace.h"'
	echo 'struct thread { unsigned id; };'
	echo 'void sample(struct thread *prev, struct thread *next, struct thread *thread, int sleeps, void *queue, void *lock,'
	echo '	    unsigned cpu)'
	echo '{'
	grep '^ ' "$tmp/sample"
	echo '}'
} >"$tmp/readme/sample.c"
check "the samples of the README have a port header" grep -q 'define ktrace_arch_thread' "$tmp/readme/ktrace_port.h"
for call in KTRACE_INIT ktrace_cpu_online ktrace_switch ktrace_block ktrace_wake ktrace_wake_nobody ktrace_contend ktrace_acquire ktrace_release; do
	check "the samples of the README have the call: $call" grep -q "$call(" "$tmp/readme/sample.c"
done
check "the samples of the README compile" riscv64-linux-gnu-gcc -Wall -Wextra -Werror -ffreestanding -I"$tmp/readme" \
	-Ibuild/single -c -o "$tmp/readme/sample.o" "$tmp/readme/sample.c"

times=$limit
run sound 0
equal "sound: why finds nothing wrong" 0 "$status"
check "sound: why reports progress" grep -q '^busy (likely' "$tmp/sound.why"
equal "sound: the producer and the consumer pass each number" 1000 \
	"$(build/bin/ktrace show --event box "$tmp/sound.ktrx" 2>/dev/null | grep -cE 'box\.(put|take) *number [0-9]+$')"
build/bin/ktrace show "$tmp/sound.ktrx" >"$tmp/shown" 2>/dev/null
check "sound: no call of ktrace fails" sh -c "! grep -q 'boot.error' '$tmp/shown'"
check "sound: events have the names of their threads" grep -q 'PID=2(consumer) *box.take' "$tmp/shown"
build/bin/ktrace doctor "$tmp/sound.ktrx" >"$tmp/doctor" 2>/dev/null
equal "sound: doctor finds no mistake" 0 "$(grep -c '^wrong' "$tmp/doctor")"
sed -n 's/^ok *lit *//p' "$tmp/doctor" | sed 's/, /\n/g' >"$tmp/lit"
for view in rings thread-ids switch wake wake-nobody block threads ends holders names lock lock-state exit; do
	check "sound: doctor finds the hook: $view" grep -qx "$view" "$tmp/lit"
done
equal "the page has a sample of a run without a mistake" 1 "$(sample 1 | grep -c '^busy (likely')"

times="3 12 48 $limit"
check "early: the library builds" minimal_library examples/threads "$tmp/library"
run early 12 EARLY=1 SOURCES="kernel.c switch.S $tmp/library/ktrace.o"
equal "early: why reports an error" 10 "$status"
check "early: why finds the early wakeup" grep -q '^wakeup-race (likely): thread 2 (consumer) missed its wakeup' "$tmp/early.why"
sample 2 | places >"$tmp/documented"
places <"$tmp/early.why" >"$tmp/found"
check "early: the verdict names lines of the source" test -s "$tmp/found"
same "early: the page names the lines of the present source: make docs" "$tmp/documented" "$tmp/found"
done_testing
