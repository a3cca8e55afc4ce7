#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Prints QEMU's accelerator for a guest of an architecture, kvm or tcg: scripts/accel.sh ARCH
#
# ACCEL in the environment: kvm or tcg is printed unchanged; auto (the default) selects kvm if it is usable.
# KVM is usable if the host has the guest's architecture, /dev/kvm can be opened, and a probe finishes in
# time. The probe runs five million rounds of an empty loop and switches the machine off. It takes 0.2 s on
# hardware, and 10 s where a nested KVM emulates each instruction. The result is cached in build/accel until
# the host reboots, or QEMU or /dev/kvm changes.
#
#	scripts/accel.sh --probe ARCH kvm|tcg    only runs the probe; status 0 if it finished in time
#
# In a virtual machine auto is tcg.
#
# KVM_DEVICE: device to use instead of /dev/kvm. CPU_INFO: file to use instead of /proc/cpuinfo.
# PROBE_SECONDS: limit for the probe (3).
set -eu
device=${KVM_DEVICE:-/dev/kvm}
cache=build/accel

usage() {
	echo "accel.sh: $1" >&2
	exit 2
}

# x86_64: runs a firmware image. The CPU starts in its last 16 bytes, which contain: mov ecx,5000000; loop;
# out 0xf4; hlt. QEMU's exit status is 33.
probe_x86_64() { # ACCELERATOR IMAGE
	head -c 65520 /dev/zero >"$2"
	printf '\146\271\100\113\114\000\147\342\375\260\020\346\364\364\364\364' >>"$2"
	status=0
	timeout -k 1 "${PROBE_SECONDS:-3}" qemu-system-x86_64 -accel "$1" -display none -nodefaults -no-reboot -m 16M -bios "$2" \
		-device isa-debug-exit,iobase=0xf4,iosize=4 </dev/null >/dev/null 2>&1 || status=$?
	[ "$status" -eq 33 ]
}

# aarch64: runs a kernel image that contains: mov x1,#0x4b4b40; subs; b.ne; a PSCI call SYSTEM_OFF by hvc.
# QEMU's exit status is 0.
probe_aarch64() {
	printf '\141\011\240\322\001\150\211\362\041\004\000\361\341\377\377\124' >"$2"
	printf '\000\200\260\122\000\001\200\162\002\000\000\324\000\000\000\024' >>"$2"
	cpu=cortex-a57
	[ "$1" = tcg ] || cpu=host
	timeout -k 1 "${PROBE_SECONDS:-3}" qemu-system-aarch64 -accel "$1" -M virt -cpu "$cpu" -display none -nodefaults \
		-no-reboot -m 16M -kernel "$2" </dev/null >/dev/null 2>&1
}

probe() { # ARCH ACCELERATOR
	mkdir -p "$cache"
	image=$cache/probe.$1.$$
	result=0
	"probe_$1" "$2" "$image" || result=1
	rm -f "$image"
	return $result
}

# Prints everything on which the cached result of the probe depends, so that the script can detect
# an outdated cache.
key() {
	cat /proc/sys/kernel/random/boot_id 2>/dev/null || uname -a
	"qemu-system-$1" --version 2>/dev/null | head -n 1
	ls -ln "$device" 2>&1
	id -u
}

automatic() { # ARCH
	# The demo kernel for riscv64 runs in machine mode, which KVM does not offer.
	case $1 in
	x86_64 | aarch64) ;;
	*) echo tcg; return ;;
	esac
	if [ "$(uname -m)" != "$1" ] || [ ! -r "$device" ] || [ ! -w "$device" ]; then
		echo tcg
		return
	fi
	# In a virtual machine, KVM is nested. Some nested KVMs pass the programs above, but cannot run
	# user mode.
	if grep -qw hypervisor "${CPU_INFO:-/proc/cpuinfo}"; then
		echo tcg
		return
	fi
	now=$(key "$1")
	kept=$cache/$1
	if [ -f "$kept" ] && [ "$(sed 1d "$kept")" = "$now" ]; then
		head -n 1 "$kept"
		return
	fi
	found=tcg
	if probe "$1" kvm; then found=kvm; fi
	printf '%s\n%s\n' "$found" "$now" >"$kept.$$" && mv "$kept.$$" "$kept"
	echo "$found"
}

if [ "${1-}" = --probe ]; then
	case ${2-}:${3-} in
	x86_64:kvm | x86_64:tcg | aarch64:kvm | aarch64:tcg) probe "$2" "$3" ;;
	*) usage "usage: accel.sh --probe x86_64|aarch64 kvm|tcg" ;;
	esac
	exit
fi
case ${1-} in
x86_64 | aarch64 | riscv64) ;;
*) usage "unknown architecture '${1-}' (x86_64, aarch64, riscv64)" ;;
esac
case ${ACCEL:-auto} in
auto) automatic "$1" ;;
tcg) echo tcg ;;
kvm)
	[ "$(uname -m)" = "$1" ] || usage "ACCEL=kvm: KVM runs guests of the host's architecture, $(uname -m), not $1"
	[ "$1" != riscv64 ] || usage "ACCEL=kvm: the demo kernel for riscv64 runs in machine mode, which KVM does not offer"
	echo kvm
	;;
*) usage "ACCEL=$ACCEL: no such accelerator; did you mean kvm, tcg or auto?" ;;
esac
