#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Traces programs of the demo kernel with the trace unit in software, and compares the result with QEMU's own
# log of executed code: scripts/demo_hwt.sh [ARCH…]. Prints a line for each program, "x86_64 recursion:
# functions equal: 33". If any differs, prints the difference; the status is then 1.
#
# The guest's `hwt` traces the program in a context of thread mode; `ktrace hwt --functions` on the host
# decodes the trace. In the same run QEMU logs each block of code that it executes (-d exec,nochain) at
# addresses that only this program uses. The program is linked to addresses that no other program uses
# (USER_SUBJECT_START in demo/user/user.mk). So everything in the log belongs to the traced thread, whatever
# CPU it ran on. For the log, names come from nm; for the trace, from the decoder's own table.
#
# The last lines of an architecture are for the kernel: the functions that CPU 1 ran, in a context of CPU
# mode, while two processes sent each other signals. The log is compared from each ENABLE to the next DISABLE.
# No function of a program may be in the trace. Functions that would take most of the log are left out. The
# script also prints which trace units the kernel found, and what the other trace units lack.
#
# HWT_PROGRAMS: programs to trace (all in demo/user/subjects). HWT_KERNEL=no: skip the kernel.
# HWT_KTRACE: program to use instead of build/bin/ktrace.
set -u
ktrace=${HWT_KTRACE:-build/bin/ktrace}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-hwt.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
programs=${HWT_PROGRAMS-$(basename -s .c demo/user/subjects/*.c)}
failed=0

names() { # ARCH FILE
	case $1 in
	x86_64) nm "$2" ;;
	*) "$1-linux-gnu-nm" "$2" ;;
	esac | awk '$2 ~ /^[tT]$/ { print $1, 0, $3 }'
}

# Reads block addresses (16 digits each) from standard input. Prints the names of the functions that
# contain these addresses, sorted and without duplicates.
named() { # ARCH FILE
	{ names "$1" "$2"; sed 's/$/ 1/'; } | LC_ALL=C sort | awk '$2 == 0 { name = $3 } $2 == 1 { print name }' |
		LC_ALL=C sort -u
}

# Reads QEMU's log from standard input. Prints the addresses of the translated blocks that were run by one
# CPU, or by all CPUs. A line of the log is "Trace 0: 0x7f… [cs_base/pc/flags/…] name". QEMU logs a block
# before it runs the block. If QEMU stops the CPU before that, it logs "Stopped execution of TB chain before
# 0x7f… [pc] name" without the CPU, and logs the block again later, perhaps on another CPU. If the last logged
# block of exactly one CPU is this block, the line belongs to that CPU.
blocks() { # [CPU]
	LC_ALL=C awk -v wanted="$1${1:+:}" '
		function flush(cpu) {
			if (cpu in block && (wanted == "" || cpu == wanted)) { split(place[cpu], part, "/"); print part[2] }
		}
		$1 == "Trace" { flush($2); place[$2] = $4; block[$2] = $3; next }
		$1 == "Stopped" {
			found = ""
			for (cpu in block) if (block[cpu] == $7) found = found == "" ? cpu : "several"
			if (found in block) delete block[found]
		}
		END { for (cpu in block) flush(cpu) }'
}

# boot ARCH "QEMU OPTIONS" WORDS…: runs the guest's program hwt with the arguments WORDS and writes
# its trace to $tmp/trace.
boot() {
	arch=$1 options=$2
	shift 2
	rm -f "$tmp/log" "$tmp/trace"
	timeout -k 5 660 "$ktrace" run -q --timeout 600 --trace-unit --out "$tmp/rings" -- $(sh scripts/qemu.sh "$arch" 2) \
		$options -append "run=cat:/dev/hwt,hwt:-w:/tmp/trace:$(echo "$*" | tr ' ' :),give:/tmp/trace" </dev/null 2>"$tmp/err" |
		tr -d '\r' >"$tmp/console"
	"$ktrace" take -d "$tmp" "$tmp/console" 2>>"$tmp/err"
	grep -q '^init: hwt: status 0' "$tmp/console" && [ -s "$tmp/trace" ] && return
	echo "$arch $*: it was not traced" >&2
	grep -v '^~' "$tmp/console" | tail -n 5 | sed 's/^/    /' >&2
	sed 's/^/    /' "$tmp/err" >&2
	return 1
}

# decode WORDS…: decodes $tmp/trace and writes the names of the functions that ran to $tmp/decoded. WORDS
# are options of ktrace hwt.
decode() {
	"$ktrace" hwt --functions "$@" "$tmp/trace" 2>"$tmp/messages" >"$tmp/decoded" || { sed 's/^/    /' "$tmp/messages" >&2; return 1; }
}

program() { # ARCH PROGRAM
	file=build/demo/$1/root/bin/$2
	boot "$1" "-d exec,nochain -dfilter 0x1800000000+0x40000000 -D $tmp/log" "$2" && decode -R "build/demo/$1/root" || return
	blocks "" <"$tmp/log" | LC_ALL=C sort -u | named "$1" "$file" >"$tmp/logged"
	sed -n "s/^$2 //p" "$tmp/decoded" | LC_ALL=C sort -u >"$tmp/traced"
	if [ -s "$tmp/traced" ] && cmp -s "$tmp/logged" "$tmp/traced"; then
		echo "$1 $2: functions equal: $(wc -l <"$tmp/traced")"
	else
		echo "$1 $2: functions differ: $(wc -l <"$tmp/logged") executed, $(wc -l <"$tmp/traced") decoded"
		diff "$tmp/logged" "$tmp/traced" | sed 's/^/    /' >&2
		return 1
	fi
}

# Prints address ranges for -dfilter: the kernel's code without the functions in $loops, which run so often
# that they would fill most of the log.
loops='memmove|memset|console_write|arch_console_putc'
kernel_ranges() { # ARCH FILE
	names "$1" "$2" | LC_ALL=C sort | awk -v loops="^($loops)\$" '
		function number(hex, n, i) { for (i = 1; i <= 16; i++) n = n * 16 + index("123456789abcdef", substr(hex, i, 1)); return n }
		$3 !~ loops && from == "" { from = $1 }
		$3 ~ loops && from != "" { printf "0x%s..%.0f,", from, number($1) - 1; from = "" }
		{ last = $1 }
		END { print "0x" from "..0x" last }'
}

# The third argument is a file of block addresses in the order in which the blocks ran. Prints the sorted
# names of the functions that ran from ENABLE to DISABLE. If several functions have the same address, uses
# the first name in alphabetical order.
#
# QEMU logs a block before it executes it. If an interrupt comes at this moment, the block is not executed,
# and its thread may continue on another CPU. So a block that is followed by the entry of a trap may not
# have run. If the log has only such blocks of a function, the function is not printed; its name is written
# to $tmp/doubtful.
between() { # ARCH FILE
	: >"$tmp/doubtful"
	names "$1" "$2" | LC_ALL=C sort -k1,1 -k3,3 | LC_ALL=C awk -v loops="^($loops)\$" -v doubtful="$tmp/doubtful" '
		NR == FNR { if ($1 != last) { at[++n] = last = $1; first[n] = $3 } next }
		!($1 in known) {
			low = 1
			for (high = n + 1; high - low > 1;) {
				middle = int((low + high) / 2)
				if (("x" at[middle]) <= ("x" $1)) low = middle; else high = middle
			}
			known[$1] = first[low]
		}
		{ name = known[$1] }
		name == "qemu_enable" { on = 1 }
		before != "" && !(name == "trap_stubs" || tolower(name) == "vectors") { run[before] }
		{ before = on ? name : "" }
		on { seen[name] }
		name == "qemu_disable" { on = 0 }
		END {
			if (before != "") run[before]
			for (name in seen)
				if (!(name in run)) print name >doubtful
				else if (name !~ loops) print name
		}' - "$3" | LC_ALL=C sort
}

# Replaces each name by the first name of its group, in alphabetical order. Names with the same address
# form a group. If a name has several addresses, the groups of these addresses are joined.
canonical() { # ARCH FILE NAMES
	names "$1" "$2" | LC_ALL=C sort -k1,1 -k3,3 | LC_ALL=C awk -v loops="^($loops)\$" '
		function first(name) { while (name in of && of[name] != name) name = of[name]; return name }
		NR == FNR {
			if ($1 == last) {
				one = first(before)
				other = first($3)
				if (("x" one) < ("x" other)) of[other] = one; else of[one] = other
			}
			last = $1
			before = $3
			next
		}
		$1 !~ loops { print first($1) }' - "$3" | LC_ALL=C sort -u
}

kernel() { # ARCH
	file=build/demo/$1/kernel.elf
	mkfifo "$tmp/pipe" || return
	blocks 1 <"$tmp/pipe" >"$tmp/blocks" &
	boot "$1" "-d exec,nochain -D $tmp/pipe -dfilter $(kernel_ranges "$1" "$file")" -s 1 signals
	status=$?
	wait
	rm -f "$tmp/pipe"
	[ "$status" -eq 0 ] && decode --elf "$file" || return
	between "$1" "$file" "$tmp/blocks" >"$tmp/names"
	canonical "$1" "$file" "$tmp/names" >"$tmp/logged"
	canonical "$1" "$file" "$tmp/doubtful" | LC_ALL=C comm -23 - "$tmp/logged" >"$tmp/left_out"
	sed -n 's/^kernel\.elf //p' "$tmp/decoded" >"$tmp/names"
	canonical "$1" "$file" "$tmp/names" | LC_ALL=C comm -23 - "$tmp/left_out" >"$tmp/traced"
	if [ -s "$tmp/traced" ] && cmp -s "$tmp/logged" "$tmp/traced" && ! grep -qv '^kernel\.elf ' "$tmp/decoded"; then
		echo "$1 CPU 1: functions equal: $(wc -l <"$tmp/traced")"
		sed -nE "s/^(qemu|pt|coresight|spe): (there|absent)/$1 &/p" "$tmp/console"
	else
		echo "$1 CPU 1: functions differ: $(wc -l <"$tmp/logged") executed, $(wc -l <"$tmp/traced") decoded"
		diff "$tmp/logged" "$tmp/traced" | sed 's/^/    /' >&2
		grep -v '^kernel\.elf ' "$tmp/decoded" | sed 's/^/    wrong: /' >&2
		return 1
	fi
}

for arch in ${*:-x86_64 aarch64}; do
	for program in $programs; do
		program "$arch" "$program" || failed=1
	done
	[ "${HWT_KERNEL-}" = no ] || kernel "$arch" || failed=1
done
exit "$failed"
