# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The user programs of the demo kernel pass their own checks, and its shell runs what is typed. Each
# architecture is tested with 2 CPUs, and also with 1 or 4 CPUs or both. UNIX_ARCHES: architectures to test.
# UNIX_CPUS: numbers of CPUs (make soak: 1 2 4).
. test/tap.sh
. test/qemu/run_support.sh

programs="$(basename -s .c demo/user/programs/*.c) sh:/etc/tools"

# boot ARCH CPUS ARGUMENTS: runs a guest; stores the console in $tmp/console, without carriage returns in
# $tmp/lines, the exit status in $status. The program badness uses all memory, so a small machine is faster.
boot() {
	status=0
	timeout -k 5 $kill_limit build/bin/ktrace run -q --timeout $limit --out "$tmp/trace" -- $(demo "$1" "$2") \
		-m 32M -append "debug=ktrace $3" >"$tmp/console" 2>"$tmp/err" || status=$?
	tr -d '\r' <"$tmp/console" >"$tmp/lines"
}

# type_to_shell LINE…: types each line after one more prompt has appeared. Before the first prompt, the
# machine's firmware would take the keys. $prompts is the number of prompts so far.
type_to_shell() {
	for line; do
		prompts=$((prompts + 1))
		await count_is_at_least "$prompts" "$tmp/console" '^\$ '
		printf '%s\n' "$line"
	done
}

# interrupt_in_shell COMMAND: types a command that never ends by itself. Then types Ctrl-C until the shell
# reports that the command has ended.
interrupt_in_shell() {
	printf '%s\n' "$1"
	for _ in $(seq 400); do
		! grep -q 'ended by signal' "$tmp/console" || break
		sleep 0.3
		printf '\003'
	done
}

# edit_in_shell: types letters and lines and erases them. Types an end of input to a program, and Ctrl-C to
# another one.
edit_in_shell() {
	type_to_shell "$(printf 'xy\b\becho er\b\be\177erased')" "$(printf 'echo lost\025echo kept')" \
		"$(printf 'cat > /tmp/lines\nfirst\nlast\n\004')" 'cat /tmp/lines'
	interrupt_in_shell 'cat'
	printf 'exit 4\n'
}

# after_shell STATUS: waits until a shell has ended with this status. Sets $prompts to the number of prompts until then.
after_shell() {
	await grep -q "^init: sh: status $1" "$tmp/console"
	prompts=$(awk -v end="^init: sh: status $1" '$0 ~ end { exit } /^\$ / { n++ } END { print n + 0 }' "$tmp/console")
}

# use_shells: types to three shells, which run one after the other.
use_shells() {
	prompts=0
	type_to_shell 'echo typed | cat > /tmp/typed' 'cat /tmp/typed' 'exit 3'
	after_shell 3
	edit_in_shell
	after_shell 4
	type_to_shell 'sysctl thread.last_id=4194302' 'ktrace -f /tmp/last -p 1' 'echo one too many' 'exit 5'
}

# console_has NAME LINE: checks that the console has this line.
console_has() { check "$1" grep -qxF -- "$2" "$tmp/lines"; }

# show_console: if a check has failed since the last call, prints the end of the console and ktrace's messages.
reported=0
show_console() {
	[ "$tap_failed" -gt "$reported" ] || return 0
	reported=$tap_failed
	grep -av '^account' "$tmp/lines" | tail -n 40 | cat -v | sed 's/^/# console: /'
	tail -n 10 "$tmp/err" | cat -v | sed 's/^/# ktrace: /'
}

# always_ends_well PROGRAM: succeeds if the program ran in each of the four rounds, and exited with status
# 0 each time.
always_ends_well() {
	grep "^init: $1: " "$tmp/lines" >"$tmp/ends"
	[ "$(wc -l <"$tmp/ends")" -ge 4 ] && ! grep -vxF "init: $1: status 0" "$tmp/ends"
}

# numbers ARCH: prints the numbers of CPUs with which guests are tested. The guest that runs four rounds
# has 2 CPUs.
numbers() {
	case $1 in
	x86_64) echo 1 4 ;;
	aarch64) echo 4 ;;
	riscv64) echo 1 ;;
	esac
}

for arch in ${UNIX_ARCHES:-x86_64 aarch64 riscv64}; do
	for cpus in ${UNIX_CPUS:-$(numbers $arch)}; do
		boot "$arch" "$cpus" "run=$(echo $programs | tr ' ' ,)" </dev/null
		for program in $programs; do
			console_has "$arch, $cpus CPUs: ${program%:*} ends with status 0" "init: ${program%:*}: status 0"
		done
		equal "$arch, $cpus CPUs: the machine ends by itself" 0 "$status"
		check "$arch, $cpus CPUs: the machine leaves a trace" build/bin/ktrace summary "$tmp/trace"
		show_console
	done

	: >"$tmp/console"
	use_shells | boot "$arch" 2 run=sh,sh,sh
	console_has "$arch: the shell runs what is typed" "typed"
	console_has "$arch: the shell ends with the status that was typed" "init: sh: status 3"
	console_has "$arch: typed letters can be erased" "erased"
	console_has "$arch: a typed line can be erased" "kept"
	equal "$arch: Ctrl-D ends the input of a program" "first last" \
		"$(sed -n '/cat \/tmp\/lines$/,$p' "$tmp/lines" | grep -xE 'first|last' | paste -sd ' ')"
	console_has "$arch: Ctrl-C ends the program" "sh: ended by signal 2"
	console_has "$arch: Ctrl-C does not end the shell" "init: sh: status 4"
	console_has "$arch: a system call fails if no thread id is left" "ktrace: /tmp/last: Cannot allocate memory"
	console_has "$arch: the shell reports that it cannot create a process if no thread id is left" "sh: cannot start a process: error 12"
	console_has "$arch: existing processes continue if no thread id is left" "init: sh: status 5"
	show_console

	# The kernel keeps some freed memory for later use: as much as was ever in use at the same time.
	# This amount may grow in some rounds, because CPUs interleave differently. A leak grows in each of
	# the four rounds. Sockets linger after their program has ended, so sleepers run before the free
	# pages are counted.
	naps=$(printf ',sleeper%.0s' 1 2 3 4 5 6 7 8 9 10)
	round=$(echo $programs | tr ' ' ,)$naps,sysctl:vm.free_pages
	boot "$arch" 2 "run=$round,$round,$round,$round" </dev/null
	for program in $programs; do
		check "$arch, 2 CPUs: ${program%:*} ends with status 0 in each round" always_ends_well "${program%:*}"
	done
	equal "$arch, 2 CPUs: the machine ends by itself" 0 "$status"
	check "$arch, 2 CPUs: the machine leaves a trace" build/bin/ktrace summary "$tmp/trace"
	sed -n 's/^vm\.free_pages: //p' "$tmp/lines" >"$tmp/free"
	check "$arch: programs give back their memory ($(paste -sd ' ' "$tmp/free") pages free)" \
		awk 'NR > 1 && $1 > before - 16 { kept = 1 } { before = $1 } END { exit !(NR == 4 && kept) }' "$tmp/free"
	show_console
done
done_testing
