# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# For the run_*.sh tests: the demo kernel, or a guest without ktrace, under `ktrace run`.

ktrace=build/bin/ktrace
out=$tmp/out.ktrx
export TMPDIR="$tmp" # what a killed run leaves behind goes with it

# A boot sector that switches the machine off: there is no ktrace in it.
printf '\272\004\006\270\000\040\357\364\353\375' >"$tmp/off.img"
truncate -s 510 "$tmp/off.img"
printf '\125\252' >>"$tmp/off.img"
no_ktrace="qemu-system-x86_64 -display none -drive format=raw,file=$tmp/off.img"

# run [OPTION…] -- COMMAND…: status in $status, what was said in $tmp/err, the guest's console in $tmp/console.
run() {
	status=0
	timeout -k 5 60 "$ktrace" run --timeout 30 --out "$out" "$@" </dev/null >"$tmp/console" 2>"$tmp/err" || status=$?
}

# demo ARCH [CPUS]: the line that boots the demo kernel, without its arguments.
demo() { sh scripts/qemu.sh "$@"; }

said() { check "it is said: $1" grep -qF -- "$1" "$tmp/err"; }

# The pid of the QEMU below process $1, which a shell or make may have started.
qemu_of() {
	for child in $(awk -v parent="$1" '$1 == "Name:" { name = $2 } $1 == "Pid:" { pid = $2 }
		$1 == "PPid:" && $2 == parent { print pid ":" name }' /proc/[0-9]*/status 2>/dev/null); do
		case $child in
		*:qemu-system-*) echo "${child%%:*}"; return ;;
		esac
		qemu_of "${child%%:*}"
	done
}

# Waits until the guest of the run with pid $1 has been up for a second.
await_guest() {
	guest=
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.2
		guest=$(qemu_of "$1" | head -n 1)
		[ -z "$guest" ] || break
	done
	sleep 1
}
