# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# /dev/hwt in the demo kernel: refusals, pauses, owners that die, permission, mappings
# (demo/user/programs/hwtest.c checks them and prints what failed). Also tests messages about an absent trace
# unit, and the options of `ktrace run` for the trace unit.
# HWT_ARCHES: architectures to test (default: all three).
. test/tap.sh

ktrace=build/bin/ktrace

# boot "OPTIONS" ARCH CPUS PROGRAMS: runs the programs in a guest; stores the console in $tmp/console.
boot() {
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit $1 --out "$tmp/rings" -- $(sh scripts/qemu.sh "$2" "$3") \
		-append "run=$4" </dev/null 2>"$tmp/err" | tr -d '\r' >"$tmp/console"
	grep 'failed' "$tmp/console" | sed 's/^/# /'
}

# console_has NAME LINE: checks that the console has this line.
console_has() { check "$1" grep -qxF -- "$2" "$tmp/console"; }

has_unit() { [ "$1" != riscv64 ]; }

for arch in ${HWT_ARCHES:-x86_64 aarch64 riscv64}; do
	boot "" "$arch" 2 hwtest,hwt:recursion
	console_has "$arch, no trace unit: all checks of hwtest pass" "init: hwtest: status 0"
	console_has "$arch, no trace unit: hwt fails with status 1" "init: hwt: status 1"
	if has_unit "$arch"; then
		console_has "$arch, no trace unit: hwt prints the reason" \
			"hwt: qemu: absent: no answer: QEMU does not run with ktrace's plugin and its option ram="
	else
		console_has "$arch, no trace unit: hwt prints the reason" \
			"hwt: qemu: absent: there is no trace unit in software for this architecture"
		continue
	fi
	for cpus in 1 4; do
		boot --trace-unit "$arch" "$cpus" hwtest
		console_has "$arch, $cpus CPUs: the kernel finds the trace unit" "hwtest: qemu: there"
		console_has "$arch, $cpus CPUs: all checks of hwtest pass" "init: hwtest: status 0"
	done
	boot --trace-unit "$arch" 2 \
		hwt:-f:collatz:mapped,hwt:-f:nothing:mapped,hwt:-f:0x3000-0x4000:mapped,hwt:-f:main:-f:sort:-f:grow:-f:fell:-f:check:recursion
	console_has "$arch: hwt -f refuses a function that the program does not have" "hwt: /bin/mapped: no function named nothing"
	console_has "$arch: hwt warns if there are more functions than ranges" \
		"hwt: warning: the trace unit has too few ranges: 1 of 5 are not traced"
	equal "$arch: hwt runs the program in the three other cases" 3 "$(grep -cx 'init: hwt: status 0' "$tmp/console")"

	boot --trace-unit "$arch" 2 \
		hwt:-f:nothing:mapped,hwt:nosuch,hwt:-s:9:recursion,hwt:-b:100:recursion,hwt:-t:x:recursion,hwt:-s:x:recursion,hwt:-P:4711,hwt:-c:none:recursion,ls:/,ls:/tmp
	equal "$arch: when hwt does not run the command, it leaves no file and prints a message" "4, no file" \
		"$(grep -cx 'hwt: the command was not run' "$tmp/console"), $(grep 'hwt.out' "$tmp/console" || echo no file)"
	console_has "$arch: hwt -s refuses a CPU that does not exist" "hwt: -s 9: not all of these CPUs exist"
	check "$arch: the message about an unknown CPU lists no trace units" awk '/-s 9: not all/ { exit last ~ /: (there|absent)/ } { last = $0 }' \
		"$tmp/console"
	console_has "$arch: hwt -b names the value that it refuses" "hwt: -b 100: expected a multiple of 4096"
	console_has "$arch: hwt -t names the value that it refuses" "hwt: -t x: expected a number of milliseconds"
	console_has "$arch: hwt -s names the value that it refuses" "hwt: -s x: expected CPU numbers below 64, separated by commas"
	console_has "$arch: hwt -P names the process that does not exist" "hwt: -P 4711: No such process"
	console_has "$arch: hwt -c names the unit that does not exist" "hwt: -c none: No such device"

	# The guest's kdump does not know records of hardware trace. It prints their types, sizes and bytes.
	boot --trace-unit "$arch" 2 hwt:-w:/tmp/trace:mapped,kdump:-m:4:-f:/tmp/trace
	check "$arch: kdump shows a record of an unknown type" grep -qE '^ *[0-9]+ .* UNKNOWN\([0-9]+\)  [0-9]+ bytes$' "$tmp/console"
	equal "$arch: kdump shows the bytes of each record of an unknown type" "$(grep -c UNKNOWN "$tmp/console")" \
		"$(grep -A1 UNKNOWN "$tmp/console" | grep -cE '^       0x0000 [0-9a-f]{4} [0-9a-f]{4} ')"
	console_has "$arch: kdump counts the records of unknown types" "kdump: /tmp/trace: $(grep -c UNKNOWN "$tmp/console") records have an unknown type"

	boot --trace-unit "$arch" 2 hwt:-s:1:hwt:recursion,hwt:-s:0:hwt:-s:0:recursion,hwt:hwt:-s:0:recursion
	console_has "$arch: while CPUs are traced, hwt refuses to trace a process" "hwt: another context (/dev/hwt_*) traces CPUs by the same trace unit"
	equal "$arch: hwt -s refuses a CPU while it or a process is traced" 2 "$(grep -cxF \
		'hwt: -s 0: another context (/dev/hwt_*) traces one of these CPUs already, or a process by the same trace unit' \
		"$tmp/console")"
done

# refused NAME MESSAGE COMMAND…: checks that the command fails with this message.
refused() {
	name=$1 what=$2
	shift 2
	"$@" </dev/null >"$tmp/out" 2>"$tmp/err"
	equal "$name: status" 2 "$?"
	check "$name: the message has the reason" grep -qF -- "$what" "$tmp/err"
}
refused "run --trace-unit for RISC-V" "riscv64: no trace unit for this architecture" \
	"$ktrace" run --trace-unit --out "$tmp/x" -- $(sh scripts/qemu.sh riscv64 1)
refused "run --branches with KVM" "the trace unit needs code that QEMU itself runs" \
	"$ktrace" run --branches="$tmp/b" --out "$tmp/x" -- $(sh scripts/qemu.sh x86_64 1) -accel kvm:tcg
mkdir "$tmp/bin"
cp "$ktrace" "$tmp/bin"
refused "run --branches without the plugin" "the trace unit is missing" \
	"$tmp/bin/ktrace" run --branches --out "$tmp/x" -- $(sh scripts/qemu.sh x86_64 1)
refused "qemu-args for RISC-V" "riscv64: no trace unit for this architecture" "$ktrace" qemu-args riscv64 --trace-unit
# The options become words of a shell command. QEMU requires that each comma is doubled.
eval "set -- $("$ktrace" qemu-args x86_64 --ram r --branches=b,c)"
while [ $# -gt 0 ] && [ "$1" != -plugin ]; do shift; done
here=$(pwd -P | sed 's/,/,,/g')
equal "qemu-args --branches prints the options of the plugin" "$here/build/bin/../lib/ktrace-pt.so,ram=$here/r,out=$here/b,,c" "${2-}"
done_testing
