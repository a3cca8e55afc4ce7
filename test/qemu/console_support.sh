# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# For the console_*.sh tests: typing at the demo kernel's serial line, and what it shows beside what the host shows of
# the same trace, both as lines "cpu0 group_event text".

ktrace=build/bin/ktrace
export TMPDIR="$tmp"

# boot ARCH "BOOT ARGUMENTS" [KEYS…] with what type_keys types: console in $tmp/lines, trace in $tmp/trace, exit status
# in $status.
boot() {
	boot_arch=$1 boot_arguments=$2
	shift 2
	: >"$tmp/console"
	status=0
	rm -f "$tmp/keys" "$tmp"/trace.*.ram
	mkfifo "$tmp/keys"
	exec 3<>"$tmp/keys" # the serial line stays open after the last key
	type_keys "$@" >&3 &
	typist=$!
	# shellcheck disable=SC2046
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --out "$tmp/trace" -- $(sh scripts/qemu.sh "$boot_arch" 2) \
		-append "$boot_arguments" <&3 >"$tmp/console" 2>"$tmp/err" || status=$?
	exec 3>&-
	kill "$typist" 2>/dev/null
	wait "$typist"
	sed 's/--More--\r *\r//g; s/^Booting from ROM\.*//' "$tmp/console" | tr -d '\r' >"$tmp/lines"
}

# occurs TEXT COUNT: it stands so often on the console.
occurs() { [ "$(grep -aoF -e "$1" "$tmp/console" | wc -l)" -ge "$2" ]; }

# records EVENT COUNT: each CPU of the guest that runs has recorded the event so often.
records() {
	"$ktrace" extract -o "$tmp/live" "$tmp"/trace.*.ram && "$ktrace" show --event "$1" "$tmp/live" >"$tmp/recorded" &&
		count_is_at_least "$2" "$tmp/recorded" ' CPU0 ' && count_is_at_least "$2" "$tmp/recorded" ' CPU1 '
}

# Each argument is awaited or typed: "await:COUNT:TEXT", "records:COUNT:EVENT", "key:C" (as for printf), or a command for
# the next prompt.
type_keys() {
	prompts=0
	for key; do
		case $key in
		await:*)
			key=${key#await:}
			await occurs "${key#*:}" "${key%%:*}"
			;;
		records:*)
			key=${key#records:}
			await records "${key#*:}" "${key%%:*}"
			;;
		key:*) printf '%b' "${key#key:}" ;;
		*)
			prompts=$((prompts + 1))
			await occurs 'db> ' "$prompts"
			printf '%s\r' "$key"
			;;
		esac
	done
}

# answer COMMAND: what was shown between this command and the next prompt.
answer() {
	awk -v command="db> $1" '/^db> / { on = $0 == command; next } on' "$tmp/lines"
}

# Lines of show ktr, as "cpu0 group_event text".
plain() { sed -nE 's/^(cpu[0-9]+) [0-9]+: ([0-9]+ [^ ]+:[0-9]+ )?([^ ]+)  (from\([^)]*\) )?(.*)$/\1 \3 \5/p'; }

# The same of the host, newest first; callers and what it adds to some events, threads' names and files' paths, are left
# out. Options as of ktrace show.
host() {
	"$ktrace" show "$@" "$tmp/trace" 2>/dev/null | tac |
		sed -nE 's/^\[ *[0-9.]+\] CPU([0-9]+) +[^.]* ([^ .]+)\.([^ ]+) +(.*)$/cpu\1 \2_\3 \4/p' |
		sed -E 's/( <- 0x[0-9a-f]+)+$//; / (sched_(switch|wake)|vfs_(read|write|close)) /s/ \([^()]*\)$//'
}
