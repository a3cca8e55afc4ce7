#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Provokes messages of the tools and prints each after the command that provokes it, to be read by people:
#
#	$ ktrace show absent
#	ktrace show: absent: No such file or directory
#	exit status 1
#
# Prints standard error in full, each line after MARK, and the first lines of standard output. WIDE=1 prints all of standard output.
# Needs `make host` and zstd(1).
set -u
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-messages.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
export TZ=UTC0 LC_ALL=C.UTF-8 HOME="$tmp"
PATH=$PWD/build/bin:$PATH
corpus=$PWD/test/corpus/a8ffd9c bad=$PWD/test/golden/bad golden=$PWD/test/golden
first=6 # lines of standard output
limit=10 # seconds for a command

heading() { printf '\n==== %s ====\n\n' "$1"; }

# Prints a command as a user would type it.
words() {
	printf '$'
	for word; do
		case $word in
		'' | *[!a-zA-Z0-9_./,:=@%+-]*) printf " '%s'" "$(printf %s "$word" | sed "s/'/'\\\\''/g")" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
	echo
}

# Prints a file. Replaces control characters, except tab and newline, by "?".
text() { tr '\000-\010\013-\037' '?' <"$1"; }

# Prints a command, runs it, and prints its output. If the command is "sh -c COMMAND", prints only COMMAND.
try() {
	if [ "$1" = sh ] && [ "$2" = -c ]; then printf '$ %s\n' "$3"; else words "$@"; fi
	timeout "$limit" "$@" </dev/null >"$tmp/.out" 2>"$tmp/.err"
	status=$?
	lines=$(wc -l <"$tmp/.out")
	if [ -n "${WIDE-}" ] || [ "$lines" -le "$first" ]; then
		text "$tmp/.out"
	else
		text "$tmp/.out" | head -n "$first"
		echo "[... $((lines - first)) more lines]"
	fi
	text "$tmp/.err" | sed "s/^/${MARK-}/"
	echo "exit status $status"
	echo
}

# Like try, but prints the whole output.
page() {
	words "$@"
	timeout "$limit" "$@" </dev/null 2>&1
	echo "exit status $?"
	echo
}

# ---- Files ----

cd "$tmp" || exit 1
for file in exit.ktrx deadlock.ktrx panic.ktrx exit.kts x86_64.v1 x86_64.ram x86_64.ktrace linux.ktrace x86_64.elf x86_64.branches; do
	zstd -q -d --sparse "$corpus/$file.zst" -o "$file" || exit 1
done
cp "$bad"/* . && cp "$golden/hwt_views/beside.steps" . || exit 1
: >empty
printf abc >three
head -c 100000 /dev/zero >zeros
echo 'This is a text, not a trace.' >text
head -c 9000 exit.ktrx >cut.ktrx
head -c 3000 x86_64.v1 >cut.v1
head -c 9000 exit.kts >cut.kts
head -c 200 x86_64.ktrace >cut.ktrace
head -c 100000 x86_64.branches >cut.branches
head -c 5000 x86_64.elf >cut.elf
head -c 300000 x86_64.ram >cut.ram
{ echo rubbish; cat exit.ktrx; echo rubbish; } >around.ktrx
cp exit.ktrx unreadable && chmod 0 unreadable
mkdir folder
ln -s loop loop
printf 'ktrace-file boot.log 5\n~AAAA\n' >cut.log

# ---- Help ----

heading "--help"
page ktrace
commands=$(ktrace --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
for command in $commands; do
	page ktrace "$command" --help
done

heading "Words that are no commands"
try ktrace frobnicate
try ktrace shwo exit.ktrx
try ktrace --frobnicate

# ---- Usage ----

heading "Unknown options and missing arguments"
for command in $commands; do
	try ktrace "$command" --frobnicate
	case $command in
	live | open | take) ;; # these look for a guest, and wait for standard input
	*) try ktrace "$command" ;;
	esac
done
try ktrace show --limit
try ktrace export --format json exit.ktrx
try ktrace export -o out exit.ktrx
try ktrace show a b
try ktrace live a b
try ktrace take a b
try ktrace extract a b
try ktrace qemu-args vax
try ktrace record -f out absent-program
try ktrace run -- absent-program
try ktrace doctor -- absent-program

heading "Values that cannot be used"
try ktrace show --cpu 5-3 exit.ktrx
try ktrace show --cpu 9 exit.ktrx
try ktrace show --since soon exit.ktrx
try ktrace show --since 2ms --until 1ms exit.ktrx
try ktrace show --pid x exit.ktrx
try ktrace show --pid 99999 exit.ktrx
try ktrace show --limit 0 exit.ktrx
try ktrace show --form v3 exit.ktrx
try ktrace show --form v1 exit.ktrx
try ktrace show --machine vax exit.ktrx
try ktrace show --machine riscv64 exit.ktrx
try ktrace show --frequency 0 exit.ktrx
try ktrace show --v1-layout other x86_64.v1
try ktrace show --v1-layout spec exit.ktrx
try ktrace show --event shced exit.ktrx
try ktrace show --event sched.swtich exit.ktrx
try ktrace show --event frobnicate exit.ktrx
try ktrace show --calls absent.table exit.ktrx
try ktrace show --calls text exit.ktrx
try ktrace show --svg out --from 100s exit.ktrx
try ktrace show --elf absent exit.ktrx
try ktrace show --elf text exit.ktrx
try ktrace stats --value sched.nope exit.ktrx
try ktrace stats --value sched.switch.nope exit.ktrx
try ktrace stats --value sched.switch.name exit.ktrx
try ktrace stats --begin sched.wake --end sched.switch --by thread=nope exit.ktrx
try ktrace stats --begin nope --end sched.switch exit.ktrx
try ktrace stats --rate --interval 0 exit.ktrx
try ktrace export --format ctf exit.ktrx -o out
try ktrace live --interval 1 --count 0 x86_64.ram
try ktrace live --interval 99ms x86_64.ram
try ktrace live --frequency x x86_64.ram
try ktrace run --timeout soon -- true
try ktrace run --stall -1 -- true
try ktrace run --on-stall wait -- true
try ktrace run --events 'sched irq' -- true
try ktrace run --transport smoke -- true
try ktrace run --seed 7 --then soon -- true
try ktrace run --seed 7 --noise 2s -- true
try ktrace hunt --seeds 0 -- true
try ktrace doctor --seconds 0 -- true
try ktrace qemu-args --memory 0 x86_64
try ktrace extract --range 0x1000 --gdb absent
try ktrace extract --boot 99 x86_64.ram
try ktrace hwt -c vax exit.ktrx
try ktrace hwt -s 1- exit.ktrx
try ktrace record -p 0
try ktrace record -p 2147483647
try ktrace record -t cx true
try ktrace kdump -t x linux.ktrace
try ktrace kdump --table absent -f linux.ktrace
try ktrace kdump --format vax -f linux.ktrace

heading "Options that cannot be used together, or need each other"
try ktrace show --svg out --json exit.ktrx
try ktrace show --hex --json exit.ktrx
try ktrace show --settings --event sched exit.ktrx
try ktrace show --registers --limit 1 exit.ktrx
try ktrace show --from 1 exit.ktrx
try ktrace show --follow --json exit.ktrx
try ktrace show --follow exit.ktrx
try ktrace show --branches exit.ktrx
try ktrace stats --begin sched.wake exit.ktrx
try ktrace stats --by nr exit.ktrx
try ktrace stats --interval 1 exit.ktrx
try ktrace stats --rate --value sched.switch.state exit.ktrx
try ktrace stats --svg out exit.ktrx
try ktrace stats --subtract-cost --rate exit.ktrx
try ktrace decode --summary --timeline exit.ktrx
try ktrace why --json --all exit.ktrx
try ktrace why --qmp a --gdb b
try ktrace why --form ram --qmp a
try ktrace why --qmp a exit.ktrx
try ktrace extract --previous --boot 1 x86_64.ram
try ktrace extract --qmp a x86_64.ram
try ktrace extract --range 0x1000:0x1000 x86_64.ram
try ktrace extract --timeout 1 x86_64.ram
try ktrace run --expect-continue -- true
try ktrace run --keep-ram --transport virtio -- true
try ktrace run --stall 0 --on-stall kill -- true
try ktrace run --branches -- true
try ktrace run --noise 5us -- true
try ktrace run --deterministic --seed 7 -- true
try ktrace run --replay exit.ktrx
try ktrace run --replay exit.ktrx --seed 7
try ktrace run --replay exit.ktrx -- true
try ktrace hunt -- true
try ktrace doctor --list exit.ktrx
try ktrace doctor --seconds 1 exit.ktrx
try ktrace qemu-args --out out x86_64
try ktrace qemu-args --branches x86_64
try ktrace control --timeout 1s x86_64.ram
try ktrace live --json --tail 3 x86_64.ram
try ktrace live --event sched x86_64.ram
try ktrace take --force cut.log
try ktrace take --out out --dir folder cut.log
try ktrace record -d true
try ktrace record -C -p 1
try ktrace record -c -p 1 -f out
try ktrace record -p 1 true
try ktrace kdump --json --count -f linux.ktrace
try ktrace kdump --oneline -H -f linux.ktrace
try ktrace kdump -l --count -f linux.ktrace
try ktrace ktrdump -d -c -o out -M exit.ktrx
try ktrace ktrdump -A 1 -c -M exit.ktrx
try ktrace hwt --calls --functions x86_64.branches
try ktrace hwt --before panic x86_64.branches
try ktrace hwt --last x --elf x86_64.elf x86_64.branches

# ---- Files ----

heading "Files that cannot be opened or are no traces"
for file in absent empty three zeros text folder loop unreadable x86_64.elf; do
	try ktrace show "$file"
done
for command in summary stats check why decode extract control live kdump hwt doctor take; do
	for file in absent empty text folder; do
		case $command in
		live) try ktrace live --count 1 --interval 100ms "$file" ;;
		kdump) try ktrace kdump -f "$file" ;;
		extract) try ktrace extract -o out "$file" ;;
		*) try ktrace "$command" "$file" ;;
		esac
	done
done
for file in absent empty text folder; do
	try ktrace export --format json "$file" -o out
	try ktrace ktrdump -M "$file"
	try ktrace show --with "$file" exit.ktrx
	try ktrace why --elf "$file" exit.ktrx
	try ktrace why --earlier "$file" exit.ktrx
	try ktrace hwt --calls --elf "$file" x86_64.branches
	try ktrace hwt --calls --elf x86_64.elf "$file"
	try ktrace check --rules "$file" exit.ktrx
	try ktrace run --elf "$file" -- true
	try ktrace doctor --elf "$file" exit.ktrx
done

heading "Files that are cut short or damaged"
for file in cut.ktrx cut.v1 cut.kts cut.ktrace cut.ram around.ktrx; do
	try ktrace summary "$file"
	try ktrace show --limit 2 "$file"
done
try ktrace why cut.ktrx
try ktrace check cut.ktrx
try ktrace export --format json cut.ktrx -o out.json
try ktrace export --format perfetto cut.kts -o out.perfetto
try ktrace kdump -f cut.ktrace
try ktrace hwt --calls --elf x86_64.elf cut.branches
try ktrace hwt --calls --elf cut.elf x86_64.branches
for file in "$bad"/*; do
	try ktrace show --limit 2 "${file##*/}"
done
for file in "$golden"/proc/bad/*; do
	cp "$file" . && try ktrace kdump -f "${file##*/}"
done
try ktrace take -o - cut.log
try ktrace take -p -o - cut.log

heading "Files of the wrong kind"
try ktrace extract -o out exit.ktrx
try ktrace extract -o out x86_64.ram
try ktrace extract -o out three
try ktrace control exit.ktrx -sched
try ktrace control x86_64.ram nope
try ktrace control x86_64.ram sched.switch=loud
try ktrace control x86_64.ram debug.ktr.nope=1
try ktrace control --timeout 200ms x86_64.ram -sched
try ktrace live exit.ktrx
try ktrace kdump -f exit.ktrx
try ktrace hwt exit.ktrx
try ktrace hwt --calls x86_64.branches
try ktrace hwt --functions --elf x86_64.elf beside.steps
try ktrace show x86_64.branches
try ktrace show --with exit.ktrx exit.ktrx
try ktrace show --with beside.steps exit.ktrx
try ktrace decode linux.ktrace
try ktrace stats --begin sched.wake --end sched.switch linux.ktrace
try ktrace stats --subtract-cost x86_64.v1
try ktrace why linux.ktrace
try ktrace check linux.ktrace
try ktrace doctor x86_64.v1

heading "Machines that do not answer"
try ktrace why --qmp absent
try ktrace why --gdb absent
try ktrace why --gdb localhost:1
try ktrace extract --qmp absent -o out
try ktrace extract --gdb localhost:1 -o out

# ---- Rules ----

heading "Rules that cannot be used"
# rule TEXT: writes the rule to a file, and runs `ktrace check` with it.
rule() {
	printf '%s\n' "$1" >mine.rules
	printf '# %s\n' "$1"
	try ktrace check --rules mine.rules exit.ktrx
}
rule 'a: never sched.swtich'
rule 'a: never frobnicate'
rule 'a: nev sched.switch'
rule 'never sched.switch'
rule 'a: never'
rule 'a: always sched.switch'
rule 'a: always sched.switch has (nope == 1)'
rule 'a: always sched.switch has (next = 1)'
rule 'a: always sched.switch has (next == "x")'
rule 'a: always sched.switch has (next == 1'
rule 'a: every sched.wake then sched.switch within soon'
rule 'a: every sched.wake then sched.switch within 1ms by nope'
rule 'a: at most x sched.wake per 1s'
rule 'a: never sched.switch while nope > 0'
rule 'depth irq: up irq.enter'
rule 'a: never sched.switch extra'
try sh -c "printf 'a: never sched.wake\na: never sched.switch\n' >mine.rules; ktrace check --rules mine.rules exit.ktrx"

# ---- Output ----

heading "Output that cannot be written"
for command in show summary stats check why; do
	try sh -c "ktrace $command exit.ktrx >/dev/full"
done
try sh -c 'ktrace --help >/dev/full'
try sh -c 'ktrace show --help >/dev/full'
try sh -c 'ktrace kdump -f linux.ktrace >/dev/full'
try sh -c 'ktrace hwt --calls --elf x86_64.elf x86_64.branches >/dev/full'
try sh -c 'ktrace show exit.ktrx | head -n 1'
# The shell writes to /dev/full: with the option -o /dev/full, the command would replace the device by a file.
try sh -c 'ktrace export --format json exit.ktrx -o - >/dev/full'
try sh -c 'ktrace export --format perfetto exit.ktrx -o - >/dev/full'
for out in folder absent/out exit.ktrx; do
	try ktrace export --format json exit.ktrx -o "$out"
	try ktrace export --format perfetto exit.ktrx -o "$out"
	try ktrace show --svg "$out" exit.ktrx
	[ -f "$out" ] || try ktrace extract -o "$out" x86_64.ram
	[ -f "$out" ] || try ktrace record -f "$out" true
done
try ktrace run -o folder -- true
try ktrace run -o absent/out -- true
try ktrace hunt -o absent/out -- true
try ktrace take -d absent cut.log
try ktrace take -o folder cut.log
