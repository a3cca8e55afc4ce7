# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# hwt --memory finds code in the guest's memory when no file is given for it. The branches of a CPU's kernel
# code are the same, whether they are decoded with the guest's saved memory or with the kernel's ELF file.
# A file of another kind is not accepted as memory.
# HWT_ARCHES: architectures to test (default: x86_64 aarch64).
. test/tap.sh

ktrace=build/bin/ktrace

# branches OPTION…: prints the address and the type of each branch. Leaves out runs of instructions,
# because the decoders divide the instructions into runs at different places.
branches() {
	"$ktrace" hwt -o pc,event_type,event_payload "$@" "$tmp/trace" 2>"$tmp/messages" |
		awk 'NR > 1 && $2 != "run" { print (match($0, /, at 0x[0-9a-f]+/) ? substr($0, RSTART + 5, RLENGTH - 5) : $1), $2 }'
}

for arch in ${HWT_ARCHES:-x86_64 aarch64}; do
	rm -rf "$tmp/ram" "$tmp/trace"
	mkdir "$tmp/ram"
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --trace-unit --keep-ram --ram-dir "$tmp/ram" --out "$tmp/out.ktrx" -- \
		$(sh scripts/qemu.sh "$arch" 2) -append run=hwt:-s:1:-w:/tmp/trace:recursion,give:/tmp/trace </dev/null 2>"$tmp/err" |
		tr -d '\r' >"$tmp/console"
	"$ktrace" take -d "$tmp" "$tmp/console" 2>>"$tmp/err"
	check "$arch: hwt records kernel code of a CPU" test -s "$tmp/trace"
	branches --elf "build/demo/$arch/kernel.elf" >"$tmp/by-file"
	branches --memory "$(echo "$tmp"/ram/*.ram)" >"$tmp/by-memory"
	check "$arch: the ELF file gives thousands of branches" test "$(wc -l <"$tmp/by-file")" -gt 2000
	check "$arch: memory gives the same branches as the ELF file" cmp -s "$tmp/by-file" "$tmp/by-memory"
	branches >"$tmp/by-nothing"
	check "$arch: without file and memory, hwt reports that code is unknown" grep -q 'the code is unknown at [0-9]* place' "$tmp/messages"
	"$ktrace" hwt --memory "$tmp/console" "$tmp/trace" >/dev/null 2>"$tmp/messages"
	equal "$arch: --memory refuses a file that is not a guest's memory" 1 "$?"
done
done_testing
