# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The user programs of the demo kernel pass their own checks, on 1, 2 and 4 CPUs of each architecture; and its shell
# does what is typed.
# UNIX_ARCHES, UNIX_CPUS: which (defaults: all three; 1 2 4).
. test/tap.sh

programs="$(basename -s .c demo/user/programs/*.c) sh:/etc/tools"

# boot ARCH CPUS ARGUMENTS: the console in $tmp/console, the machine's exit status in $status.
boot() {
	status=0
	timeout -k 5 120 build/bin/ktrace run -q --timeout 100 --out "$tmp/trace" -- $(sh scripts/qemu.sh "$1" "$2") \
		-append "debug=ktrace $3" >"$tmp/console" 2>"$tmp/err" || status=$?
	tr -d '\r' <"$tmp/console" >"$tmp/lines"
}

# Types each line when there is a prompt for it; before the first, the machine's firmware would take the keys.
type_to_shell() {
	prompts=0 patience=300
	for line; do
		prompts=$((prompts + 1))
		while [ "$(grep -c '^\$ ' "$tmp/console")" -lt "$prompts" ] && [ "$patience" -gt 0 ]; do
			patience=$((patience - 1))
			sleep 0.1
		done
		printf '%s\n' "$line"
	done
}

said() { check "$1" grep -qxF -- "$2" "$tmp/lines"; }

for arch in ${UNIX_ARCHES:-x86_64 aarch64 riscv64}; do
	for cpus in ${UNIX_CPUS:-1 2 4}; do
		boot "$arch" "$cpus" "run=$(echo $programs | tr ' ' ,)" </dev/null
		for program in $programs; do
			said "$arch, $cpus CPUs: ${program%:*}" "init: ${program%:*}: status 0"
		done
		equal "$arch, $cpus CPUs: the machine ends by itself" 0 "$status"
		check "$arch, $cpus CPUs: and leaves a trace" build/bin/ktrace summary "$tmp/trace"
		[ "$status" -eq 0 ] || grep -v '^account' "$tmp/lines" | tail -n 40 | sed 's/^/# /'
	done

	: >"$tmp/console"
	type_to_shell 'echo typed | cat > /tmp/typed' 'cat /tmp/typed' 'exit 3' | boot "$arch" 2 run=sh
	said "$arch: the shell runs what is typed" "typed"
	said "$arch: and leaves with its status" "init: sh: status 3"
done
done_testing
