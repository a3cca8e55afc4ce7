# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# QEMU's CPUs have no hardware that traces branches. The demo kernel probes for it, continues to run, and
# reports what is missing.
. test/tap.sh

for arch in x86_64 aarch64 riscv64; do
	timeout -k 5 $kill_limit build/bin/ktrace run -q --timeout $limit --out "$tmp/trace" -- $(sh scripts/qemu.sh $arch 2) \
		-append "debug=ktrace run=cat:/dev/hwt" </dev/null 2>"$tmp/err" | tr -d '\r' >"$tmp/console"
	check "$arch: the kernel continues after the probe" grep -qx 'init: cat: status 0' "$tmp/console"
	case $arch in
	x86_64) equal "$arch: the kernel reports why Intel PT is absent" 'pt: absent: no Intel PT: CPUID leaf 7, EBX bit 25 is 0' "$(grep '^pt: ' "$tmp/console")" ;;
	aarch64)
		equal "$arch: the kernel reports why SPE is absent" 'spe: absent: no Statistical Profiling Extension: ID_AA64DFR0_EL1.PMSVer is 0' \
			"$(grep '^spe: ' "$tmp/console")"
		equal "$arch: the kernel reports why CoreSight is absent" 'coresight: absent: no CoreSight: the kernel describes no components' \
			"$(grep '^coresight: ' "$tmp/console")"
		;;
	riscv64) equal "$arch: the kernel reports no trace hardware" '' "$(grep -E '^(pt|spe|coresight): ' "$tmp/console")" ;;
	esac
done

done_testing
