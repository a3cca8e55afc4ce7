# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Decodes with libipt or OpenCSD what the trace unit in software recorded, and compares it block by block with
# QEMU's own log of the executed code. The code is that of a kernel alone, or of programs at the same virtual
# addresses, some of which share pages. HWT_ARCHES: architectures to test (default: x86_64 aarch64).
. test/tap.sh
. test/qemu/run_support.sh
user='0x1000000000 0x2000000000' # addresses of the demo's programs

# boot ARCH CPUS APPEND PREFIX [OPTIONS]: runs the demo kernel in QEMU with its log in $tmp/log. PREFIX: a
# command that runs QEMU, or empty. OPTIONS: more options for QEMU.
boot() {
	arch=$1 cpus=$2 append=$3
	shift 3
	rm -f "$tmp/rings" "$tmp/log"
	# shellcheck disable=SC2046
	timeout -k 2 $kill_limit $1 $(demo "$arch" "$cpus") -d exec,nochain -D "$tmp/log" $2 -append "$append" \
		</dev/null >"$tmp/console" 2>&1
}

# equals ARCH CPUS WORKLOAD [OPTIONS OF THE UNIT [OPTIONS OF QEMU]]: compares all code that ran, except the firmware, which
# is most of the code that an x86 PC runs. The rings are small, because the code that initializes them is
# compared, too.
equals() {
	filter=
	[ "$1" = aarch64 ] || filter='-dfilter 0x100000..0x5ffffff,0x8000000..0xefffffff,0x100000000..0xffffffffffffffff'
	boot "$1" "$2" "run=$3 slots=512" '' "$filter ${5:-} -plugin build/lib/ktrace-pt.so,out=$tmp/rings,size=8M${4:-}"
	status=0
	build/test/hwt_blocks --both "$tmp/rings" "$tmp/log" >"$tmp/messages" 2>&1 || status=$?
	name="$1, $2 CPUs, $3${4:-}${5:+ $5}"
	case $status in
	0 | 4) pass "$name: the decoded blocks are those that QEMU ran" ;;
	*) fail "$name: the decoded blocks are those that QEMU ran" "$(cat "$tmp/messages")" ;;
	esac
	case $status in
	0 | 1) pass "$name: the same if the decoder divides runs" ;;
	*) fail "$name: the same if the decoder divides runs" "$(cat "$tmp/messages")" ;;
	esac
}

# programs ARCH CPUS WORKLOAD: compares the code of the user programs, each of which has its own
# address space.
programs() {
	boot "$1" "$2" "run=$3" "build/bin/ktrace run -q --timeout $limit --branches=$tmp/rings --out $tmp/out.ktrx --" \
		'-dfilter 0x1000000000+0x1000000000'
	check "$1, $2 CPUs, $3: the workload ended with status 0" grep -q "^init: ${3%%:*}: status 0" "$tmp/console"
	# shellcheck disable=SC2086
	check "$1, $2 CPUs, programs of $3: the decoded blocks are those that QEMU ran" \
		build/test/hwt_blocks "$tmp/rings" "$tmp/log" $user
}

# The unit makes a separate block from a branch in the last bytes of a page, and QEMU's log has no such
# block. The code of this kernel is moved, so that a branch that runs often is in the last bytes of a page.
check "a kernel has a branch at the end of a page" sh -c \
	'objdump -d --disassemble=ktrace_clock_beat build/test/cut.elf | grep -q "ff[2-9a-d]:.*j[a-z]* .*ktrace_clock_beat"'
KERNEL=build/test/cut.elf
export KERNEL
equals x86_64 1 calls ,exact=on
equals x86_64 2 pingpong
check "the comparison has blocks that the unit cut at the end of a page" grep -q ' cut [1-9].* in parts$' "$tmp/messages"
# If QEMU translates code once for all its addresses, the unit knows only the first of them.
KERNEL=build/test/alias.elf
equals x86_64 1 aliases
check "the log has the code at both of its addresses" sh -c \
	'for n in 00101000 40101000; do grep -qE "[/ ](0{8})?$n/" "$1" || exit 1; done' - "$tmp/log"
unset KERNEL

# If one thread runs all CPUs, QEMU may not report which CPU executes a block.
equals x86_64 2 calls '' '-accel tcg,thread=single'

# On x86_64, the kernel above has run two of these workloads.
for arch in ${HWT_ARCHES:-x86_64 aarch64}; do
	[ "$arch" = x86_64 ] || equals "$arch" 1 calls ,exact=on
	equals "$arch" 1 calls ,exact=off,returns=off,time=off
	equals "$arch" 1 fault ,exact=on
	equals "$arch" 4 calls ,exact=on
	[ "$arch" = x86_64 ] || equals "$arch" 2 pingpong
	programs "$arch" 2 pipeline
	programs "$arch" 4 make:4:5 # four compilers at a time, and five sources
done

# The comparison must fail if the end of the log is missing.
head -c -200000 "$tmp/log" >"$tmp/short"
build/test/hwt_blocks "$tmp/rings" "$tmp/short" $user >"$tmp/messages"
check "a log without its end: the comparison fails" test $? -ne 0
check "a log without its end: the comparison reports stray blocks" grep -q ' stray [1-9]' "$tmp/messages"
done_testing
