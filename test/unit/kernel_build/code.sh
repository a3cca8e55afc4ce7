#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Checks the code of a site: no lock prefix, fence or rdtscp on x86_64, the barriers that other CPUs need, and
# no byte of an event that is left out. matrix.sh checks the size of stack frames.
. test/tap.sh
. test/unit/kernel_build/common.sh

source=test/unit/kernel_build/site.c
hooks=test/unit/kernel_build/hooks.c
facts=test/unit/kernel_build/facts.c
port=-Itest/unit/kernel_build/port

# code ARCH OBJECT FUNCTION: prints the function's instructions, one per line, without padding
code() {
	$(objdump_of "$1") -d --no-show-raw-insn --no-addresses "$2" 2>/dev/null |
		awk -v name="<$3>:" '/^<[^.].*>:$/ { on = $1 == name; next } on && /^[[:space:]]/' |
		sed 's/^[[:space:]]*//; s/[[:space:]][[:space:]]*/ /g; s/ *[#<].*//; s/ *\/\/.*//' |
		grep -vE '^(nop|nopw|nopl|cs|data16)'
}

# ordered FILE PATTERN…: checks that lines of the file match the patterns, in this order
ordered() {
	file=$1
	at=0
	shift
	for pattern; do
		next=$(awk -v at="$at" -v pattern="$pattern" 'NR > at && $0 ~ pattern { print NR; exit }' "$file")
		[ -n "$next" ] || { echo "no $pattern after line $at:"; cat "$file"; return 1; }
		at=$next
	done
}

# called OBJECT: prints the functions of ktrace that the object calls, one per line
called() { nm -u "$1" | sed -n 's/^ *U \(ktrace_.*\)/\1/p'; }

# events_in OBJECT: prints how many sections of the object contain events
events_in() {
	readelf -SW "$1" >"$tmp/sections"
	grep -q '\.text' "$tmp/sections" || { echo "no sections in $1"; return; }
	grep -c ktrace_events "$tmp/sections"
}

absent() { ! grep -E "$2" "$1"; }

for compiler in gcc clang; do
	for arch in x86_64 aarch64 riscv64; do
		have $compiler $arch || { skip "$arch $compiler" "not installed"; continue; }
		check "$arch $compiler: a site compiles" compile $compiler $arch $source "$tmp/site.o" -O2 $port
		code $arch "$tmp/site.o" site >"$tmp/code"
		case $arch in
		x86_64)
			check "$arch $compiler: no fence, lock or rdtscp" \
				absent "$tmp/code" '^lock|fence|rdtscp|^cpuid'
			equal "$arch $compiler: one add, relative to gs" 1 "$(grep -c 'xadd.*%gs:0x8' "$tmp/code")"
			;;
		aarch64)
			check "$arch $compiler: add, store barrier, stores, release" \
				ordered "$tmp/code" '^stxr' '^dmb ishst' 'cntvct_el0' '^st(p|r|ur) ' '^stlr '
			;;
		riscv64)
			check "$arch $compiler: add, store barrier, stores, release" \
				ordered "$tmp/code" '^amoadd.d' '^fence w,w' '^rdtime' '^sw ' '^fence w,w' '^sd '
			;;
		esac
		for level in -O1 -O2; do
			compile $compiler $arch $source "$tmp/out.o" $level -DKTRACE_DISABLE=1
			equal "$arch $compiler $level: left out, the row takes no byte" 0 "$(events_in "$tmp/out.o")"
			code $arch "$tmp/out.o" site_out >"$tmp/site_out"
			code $arch "$tmp/out.o" nothing >"$tmp/nothing"
			check "$arch $compiler $level: left out, the reference function exists" test -s "$tmp/nothing"
			same "$arch $compiler $level: left out, the site takes no byte" "$tmp/nothing" "$tmp/site_out"
			equal "$arch $compiler $level: left out, nothing is called" '' "$(nm -u "$tmp/out.o")"
		done
		compile $compiler $arch $source "$tmp/out.o" -O0 -DKTRACE_DISABLE=1
		equal "$arch $compiler -O0: left out, nothing is called" '' "$(nm -u "$tmp/out.o")"
	done
done

# Hooks and facts: with their code, and left out at compile time.
for compiler in gcc clang; do
	for arch in x86_64 aarch64 riscv64; do
		have $compiler $arch || { skip "$arch $compiler: hooks" "not installed"; continue; }
		compile $compiler $arch $hooks "$tmp/out.o" -O2
		equal "$arch $compiler: every hook is called" 25 "$(called "$tmp/out.o" | wc -l)"
		for out in KTRACE_STATE=0 KTRACE_DISABLE=1; do
			compile $compiler $arch $hooks "$tmp/out.o" -O2 -D$out
			code $arch "$tmp/out.o" hooks >"$tmp/hooks"
			code $arch "$tmp/out.o" nothing >"$tmp/nothing"
			check "$arch $compiler $out: the reference function exists" test -s "$tmp/nothing"
			same "$arch $compiler $out: hooks take no byte" "$tmp/nothing" "$tmp/hooks"
			equal "$arch $compiler $out: no hook is called" '' "$(nm -u "$tmp/out.o")"
		done

		compile $compiler $arch $facts "$tmp/out.o" -O2
		equal "$arch $compiler: every fact is recorded" 14 "$(called "$tmp/out.o" | grep -c ktrace_fact_)"
		equal "$arch $compiler: every fact that is off keeps the state" 14 "$(called "$tmp/out.o" | grep -vc ktrace_fact_)"
		check "$arch $compiler: facts declare events" test "$(events_in "$tmp/out.o")" -gt 0
		compile $compiler $arch $facts "$tmp/out.o" -O2 -DKTRACE_STATE=0
		equal "$arch $compiler: facts without state are recorded" 14 "$(called "$tmp/out.o" | grep -c ktrace_fact_)"
		equal "$arch $compiler: facts without state keep none" 0 "$(called "$tmp/out.o" | grep -vc ktrace_fact_)"
		compile $compiler $arch $facts "$tmp/out.o" -O2 -DKTRACE_SELECT=1
		equal "$arch $compiler: facts without events record none" 0 "$(called "$tmp/out.o" | grep -c ktrace_fact_)"
		equal "$arch $compiler: facts without events keep the state" 14 "$(called "$tmp/out.o" | grep -vc ktrace_fact_)"
		equal "$arch $compiler: facts without events declare none" 0 "$(events_in "$tmp/out.o")"
		compile $compiler $arch $facts "$tmp/out.o" -O2 -DKTRACE_DISABLE=1
		code $arch "$tmp/out.o" facts >"$tmp/facts"
		code $arch "$tmp/out.o" nothing >"$tmp/nothing"
		same "$arch $compiler: facts that are left out take no byte" "$tmp/nothing" "$tmp/facts"
		equal "$arch $compiler: facts that are left out call nothing" '' "$(nm -u "$tmp/out.o")"
	done
done

# Hooks of process traces: if the process is not traced, a hook only executes a load and a branch.
proc=test/unit/kernel_build/proc.c
for compiler in gcc clang; do
	for arch in x86_64 aarch64 riscv64; do
		have $compiler $arch || { skip "$arch $compiler: process traces" "not installed"; continue; }
		compile $compiler $arch $proc "$tmp/proc.o" -O2
		code $arch "$tmp/proc.o" untraced >"$tmp/code"
		case $arch in
		x86_64) equal "$arch $compiler: a hook reads one word" 1 "$(grep -cE '^(test[lbw]?|mov[lbw]?) .*0x8\(%rdi\)' "$tmp/code")" ;;
		aarch64) equal "$arch $compiler: a hook reads one word" 1 "$(grep -cE '^ldr' "$tmp/code")" ;;
		riscv64) equal "$arch $compiler: a hook reads one word" 1 "$(grep -cE '^(lw|c.lw)' "$tmp/code")" ;;
		esac
		check "$arch $compiler: a hook that records nothing is short" test "$(wc -l <"$tmp/code")" -le 12
	done
done

# Hooks of hardware trace: if the thread is not traced, a hook executes only a load and a branch. If the hooks
# are left out, they have no code.
hwt=test/unit/kernel_build/hwt.c
for compiler in gcc clang; do
	for arch in x86_64 aarch64 riscv64; do
		have $compiler $arch || { skip "$arch $compiler: hardware trace" "not installed"; continue; }
		compile $compiler $arch $hwt "$tmp/hwt.o" -O2
		code $arch "$tmp/hwt.o" hwt_untraced >"$tmp/code"
		case $arch in
		x86_64) equal "$arch $compiler: the switch looks at one word" 1 "$(grep -cE '^(cmpq?|test|mov) .*\(%rdi\)' "$tmp/code")" ;;
		aarch64) equal "$arch $compiler: the switch looks at one word" 1 "$(grep -cE '^ldr' "$tmp/code")" ;;
		riscv64) equal "$arch $compiler: the switch looks at one word" 1 "$(grep -cE '^(ld|c.ld)' "$tmp/code")" ;;
		esac
		check "$arch $compiler: a hook that records nothing is short" test "$(wc -l <"$tmp/code")" -le 8
		check "$arch $compiler: every hook is there" test "$(nm -u "$tmp/hwt.o" | grep -c ktrace_hwt_do_)" -eq 9
		for level in -O0 -O2; do
			compile $compiler $arch $hwt "$tmp/hwt.o" $level -DKTRACE_HWT_HOOKS=0
			equal "$arch $compiler $level: left out, nothing is called" '' "$(nm -u "$tmp/hwt.o")"
		done
		code $arch "$tmp/hwt.o" hwt_hooks >"$tmp/hooks"
		code $arch "$tmp/hwt.o" nothing >"$tmp/nothing"
		same "$arch $compiler: left out, hooks take no byte" "$tmp/nothing" "$tmp/hooks"
	done
done

# One group of events is left out, and one is selected.
compile gcc x86_64 $source "$tmp/out.o" -O2 -DKTRACE_NO_test=1 -DKTRACE_NO_text=1
equal "a group left out by name" '' "$(nm -u "$tmp/out.o")"
compile gcc x86_64 $source "$tmp/out.o" -O2 -DKTRACE_SELECT=1 -DKTRACE_WITH_other=1
equal "a group not chosen" '' "$(nm -u "$tmp/out.o")"
compile gcc x86_64 $source "$tmp/out.o" -O2 -DKTRACE_SELECT=1 -DKTRACE_WITH_test=1
check "a group chosen" sh -c "readelf -SW $tmp/out.o | grep -q ktrace_events"

done_testing
