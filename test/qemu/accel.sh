# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests which accelerator is used for a guest that is started by hand: the accelerator that ACCEL names, or
# KVM if a probe shows that it is usable. The probe ends in time even if QEMU hangs, and its result is kept.
# Also tests which variables make passes on.
. test/tap.sh

accel() { sh "$OLDPWD/scripts/accel.sh" "$@" 2>"$tmp/err"; }
qemu_line() { sh scripts/qemu.sh "$@" 2>"$tmp/err"; }

# ---- The printed line ------------------------------------------------------------------------------
here=$(uname -m)
check "without ACCEL scripts/qemu.sh chooses TCG" sh -c '! sh scripts/qemu.sh x86_64 | grep -q kvm'
check "ACCEL=tcg: scripts/qemu.sh chooses TCG" sh -c '! ACCEL=tcg sh scripts/qemu.sh x86_64 | grep -q kvm'
case $here in
x86_64 | aarch64)
	check "ACCEL=kvm: scripts/qemu.sh chooses KVM even if its device is absent" sh -c 'ACCEL=kvm KVM_DEVICE=/none sh scripts/qemu.sh "$1" | grep -q -- "-accel kvm"' \
		sh "$here"
	;;
esac
for arch in x86_64 aarch64 riscv64; do
	[ "$arch" = "$here" ] && [ "$arch" != riscv64 ] && continue
	ACCEL=kvm qemu_line $arch >"$tmp/line" && status=0 || status=$?
	equal "ACCEL=kvm for $arch here: status" 2 "$status"
	check "ACCEL=kvm for $arch here: a message gives the reason" grep -q 'ACCEL=kvm: ' "$tmp/err"
	equal "ACCEL=auto for $arch here chooses TCG" tcg "$(ACCEL=auto sh scripts/accel.sh $arch)"
done
ACCEL=kwm qemu_line x86_64 >"$tmp/line" && status=0 || status=$?
equal "ACCEL=kwm: status" 2 "$status"
check "ACCEL=kwm: the message suggests kvm" grep -q 'ACCEL=kwm: no such accelerator; did you mean kvm' "$tmp/err"
make -s run-ktrace ACCEL=kwm >"$tmp/out" 2>&1 && status=0 || status=$?
equal "make run-ktrace ACCEL=kwm: status" 2 "$status"
check "make run-ktrace ACCEL=kwm: the message suggests kvm" grep -q 'did you mean kvm' "$tmp/out"

# ---- The probe's programs run by TCG, which every machine has ------------------------------------------
# They run in a directory of their own, because other programs may probe at the same time.
mkdir "$tmp/probe"
for arch in x86_64 aarch64; do
	check "$arch: the probe runs and switches the machine off" sh -c 'cd "$1/probe" && PROBE_SECONDS=$2 sh "$OLDPWD/scripts/accel.sh" --probe "$3" tcg' \
		sh "$tmp" $limit $arch
done

# ---- Effects of the probe's result ------------------------------------------------------------------
# QEMU is replaced by a script that counts its calls and then runs $tmp/does; the KVM device is replaced by a
# file.
mkdir "$tmp/bin" "$tmp/work"
cat >"$tmp/bin/qemu-system-$here" <<..
#!/bin/sh
[ "\$1" = --version ] && { cat "$tmp/version"; exit; }
echo called >>"$tmp/calls"
. "$tmp/does"
..
chmod +x "$tmp/bin/qemu-system-$here"
PATH=$tmp/bin:$PATH
CPU_INFO=/dev/null KVM_DEVICE=$tmp/kvm PROBE_SECONDS=300 ACCEL=auto
export CPU_INFO KVM_DEVICE PROBE_SECONDS ACCEL
echo 1 >"$tmp/version"
: >"$tmp/calls"
cd "$tmp/work" || exit 1
calls() { wc -l <"$tmp/calls"; }
case $here in
x86_64) works='exit 33' ;;
*) works='exit 0' ;;
esac
echo "$works" >"$tmp/does"
equal "auto: TCG without the KVM device" tcg "$(accel "$here")"
equal "auto: without the KVM device no probe runs" 0 "$(calls)"
: >"$tmp/kvm"
case $here in
x86_64 | aarch64)
	equal "auto: KVM after a successful probe" kvm "$(accel "$here")"
	equal "auto: KVM in the second call, too" kvm "$(accel "$here")"
	equal "auto: the second call uses the kept result and runs no probe" 1 "$(calls)"
	echo 2 >"$tmp/version"
	echo 'exit 1' >"$tmp/does"
	equal "auto: TCG when the probe of another QEMU version fails" tcg "$(accel "$here")"
	equal "auto: another QEMU version is probed anew" 2 "$(calls)"
	echo 3 >"$tmp/version"
	echo "trap '' TERM; while :; do sleep 60; done" >"$tmp/does"
	equal "auto: TCG when the probe hangs and ignores SIGTERM" tcg "$(PROBE_SECONDS=1 accel "$here")"
	called=$(calls) # the probe may have been ended before it counted its call
	equal "auto: the result of the probe that hung is kept" "tcg $called" "$(accel "$here") $(calls)"
	rm "$tmp/kvm"
	equal "auto: TCG after the KVM device was removed" tcg "$(accel "$here")"
	;;
*) equal "auto: TCG on a host of another architecture" tcg "$(accel "$here")" ;;
esac
cd "$OLDPWD" || exit 1
check "no image of the probe is left" test -z "$(find "$tmp/work" "$tmp/probe" -name 'probe.*')"

# ---- Variables that make passes to the tests ---------------------------------------------------------
equal "make decode-ktrace passes ARGS on" "build/bin/ktrace-decode build/ktrace.ktrx --summary --pid 6" \
	"$(make -s -n decode-ktrace ARGS='--summary --pid 6')"
check "make run-ktrace passes ACCEL=tcg on" sh -c "make -s -n run-ktrace ACCEL=tcg | grep -q \"ACCEL='tcg' sh scripts/qemu.sh\""
check "make demo passes ACCEL=kvm on" sh -c "make -s -n demo ACCEL=kvm | grep -q \"ACCEL='kvm' sh scripts/demo.sh\""
done_testing
