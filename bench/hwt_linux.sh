#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Traces a Linux kernel: Debian's cloud kernel boots under the trace unit in software, runs some processes and
# powers off. Decoding the whole trace may take at most 1.5 times as long as libipt's block decoder alone, and
# `ktrace hwt --functions` at most 60 s of processor time. A program that runs in 50 processes, each at its
# own addresses, must be found in all of them. The kernel is downloaded from Debian's archive once; a short
# run downloads nothing.
set -eu
folder=build/bench/linux rings=build/bench/linux/rings.ktru
not_measured() {
	echo "hwt of Linux  not measured: $1" >&2
	echo '{"bench": "hwt-linux", "measured": false}'
	exit 0
}

kernel=$(ls "$folder"/boot/vmlinuz-* 2>/dev/null | head -n 1)
if [ -z "$kernel" ]; then
	[ -z "${BENCH_SHORT-}" ] || not_measured "no kernel in $folder, and a short run downloads none"
	package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: //p' | head -n 1)
	[ -n "$package" ] || not_measured "Debian has no linux-image-cloud-amd64 for this machine"
	mkdir -p "$folder"
	(cd "$folder" && apt-get download -qq "$package" >/dev/null 2>&1 && dpkg-deb -x "$package"_*.deb . && rm "$package"_*.deb) ||
		not_measured "cannot download $package"
	kernel=$(ls "$folder"/boot/vmlinuz-* | head -n 1)
fi

# entry NAME MODE FILE: converts a file to an entry of a cpio archive (newc format) and writes it to stdout.
entry() {
	size=$(wc -c <"$3")
	printf '070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X' 1 "$2" 0 0 1 0 "$size" 0 0 0 0 $((${#1} + 1)) 0
	printf '%s' "$1"
	head -c $((4 - (110 + ${#1}) % 4)) /dev/zero
	cat "$3"
	head -c $(((4 - size % 4) % 4)) /dev/zero
}
${CC:-gcc} -O1 -static-pie -fPIE -nostdlib -ffreestanding -fno-stack-protector -o "$folder/init" bench/hwt/init.c
{ entry init $((0100755)) "$folder/init" && entry 'TRAILER!!!' 0 /dev/null; } >"$folder/initrd"

timeout -k 2 300 build/bin/ktrace hwt -c qemu -b 256M -w "$rings" -- qemu-system-x86_64 -accel tcg -m 512 -nographic -no-reboot \
	-kernel "$kernel" -initrd "$folder/initrd" -append 'console=ttyS0 panic=-1' </dev/null >"$folder/console" 2>&1 || true
grep -q 'Power down' "$folder/console" || { tail -n 5 "$folder/console" >&2; echo "bench/hwt_linux.sh: the guest did not power down; console output: $folder/console" >&2; exit 1; }
status=0
build/bench/hwt/decode "$rings" 1.5 3 || status=1
build/bench/cputime build/bin/ktrace hwt --functions "$rings" >"$folder/functions" 2>"$folder/seconds" || status=1
awk -v short="${BENCH_SHORT-}" '{
	held = short != "" || $1 <= 60
	printf "{\"bench\": \"hwt-linux\", \"functions_s\": %.1f, \"most\": 60, \"held\": %s}\n", $1, held ? "true" : "false"
	printf "  functions of a whole boot of Linux %22.1f s of processor time, at most 60%s\n", $1, held ? "" : ": MISSED" > "/dev/stderr"
	exit !held
}' "$folder/seconds" || status=1

build/bin/ktrace hwt --elf "$folder/init" --durations "$rings" 2>"$folder/found" | awk '$NF == "work" { print $1 }' >"$folder/calls"
calls=$(cat "$folder/calls") places=$(sed -n 's/.*found by its code at \([0-9]*\) addresses.*/\1/p' "$folder/found")
held=true
[ "${calls:-0}" = 50 ] && [ "${places:-0}" = 51 ] || { held=false; status=1; }
echo "{\"bench\": \"hwt-linux\", \"calls\": ${calls:-0}, \"places\": ${places:-0}, \"held\": $held}"
echo "  processes in which the program is found: ${places:-0} of 51; calls of its function: ${calls:-0} of 50" >&2
rm -f "$rings"
exit $status
