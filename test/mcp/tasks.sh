#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Prepares ten tasks for a language model that has nothing but the tools of `ktrace mcp`: a trace of a run of
# the demo kernel with one bug, and a question. `make mcp-tasks` runs it. No model is run.
#
#	test/mcp/tasks.sh [DIRECTORY [TASK…]]
#
# DIRECTORY (build/mcp-tasks) gets the traces and the kernel's ELF file, for `ktrace mcp --dir FOLDER`. The file
# FOLDER.answers gets the lines with the bugs, so that the model cannot read it. The questions are printed.
# TASK: numbers of tasks; without them, all ten.
set -u
cd "$(dirname "$0")/../.." || exit 1
folder=${1-build/mcp-tasks}
[ $# -eq 0 ] || shift
wanted=" $* "

# bugs: for each task, a scenario of test/scenarios/list, the file with the bug in demo/kern/bug, and the line.
bugs() {
	cat <<-'LIST'
	abba transfer.c mutex_lock(&to->lock);
	self-irq interrupt_counts.c spin_unlock(&ipis->lock, irq_on);
	ipi-lock shootdown.c ipi_call_all(forget, (void *)(ARCH_WINDOW_BASE + page * PAGE_SIZE));
	lost-wakeup lost_wakeup.c job->next = spooler.first;
	sleep-spin sleep_spin.c write_out();
	null-call null_call.c device->operations->calibrate(device);
	stack stack.c return look_up(name, meaning) ? resolve(meaning) + 1 : 0;
	lock-order journal.c written_back = noted;
	dead-timer dead_timer.c return;
	kernel-spin kernel_spin.c while (!(status & READY))
	LIST
}

# line_of FILE TEXT: prints the number of the first line that is equal to the text.
line_of() {
	awk -v text="$2" '{ line = $0; sub(/^[ \t]*/, "", line) } line == text { print NR; exit }' "demo/kern/bug/$1"
}

rm -rf "$folder" && mkdir -p "$folder" || exit 1
cp build/demo/x86_64/kernel.elf "$folder/kernel.elf" || exit 1
: >"$folder.answers"
number=0
bugs >"$folder.bugs"
while read -r scenario file text; do
	number=$((number + 1))
	case $wanted in
	"  " | *" $number "*) ;;
	*) continue ;;
	esac
	line=$(line_of "$file" "$text")
	if [ -z "$line" ]; then
		echo "tasks.sh: demo/kern/bug/$file has no line '$text'" >&2
		exit 1
	fi
	sh test/scenarios/run.sh "$scenario/x86_64" </dev/null >"$folder.log" 2>&1 || {
		cat "$folder.log" >&2
		exit 1
	}
	cp "build/scenarios/$scenario-x86_64.ktrx" "$folder/task-$number.ktrx" || exit 1
	echo "$number demo/kern/bug/$file:$line $text" >>"$folder.answers"
	cat <<-QUESTION
	$number. task-$number.ktrx is a trace of a kernel that does not do what it should. kernel.elf is its ELF file. Which line of
	   its sources is the mistake? Answer with FILE:LINE, and with the events that prove it.
	QUESTION
done <"$folder.bugs"
rm -f "$folder.bugs" "$folder.log"
echo "Server: ktrace mcp --dir $folder. An answer is right if it names the file, and a line at most 3 from that in $folder.answers."
