# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The trace unit in software records a guest's branches. Every view of ktrace hwt shows them, also together with
# the guest's events.
# HWT_ARCHES: architectures to test (default: x86_64 aarch64).
. test/tap.sh

ktrace=build/bin/ktrace

# functions FILE: prints the functions that are entered in the call tree, each of them once.
functions() {
	sed -n 's/^\[[^]]*\] *\([0-9.]* us\)\{0,1\} *\(!! \|=> \|-> \)\{0,1\}\([^ }][^ ]*\)\( {\)\{0,1\}$/\3/p' "$1" | sort -u
}

for arch in ${HWT_ARCHES:-x86_64 aarch64}; do
	kernel=build/demo/$arch/kernel.elf
	rm -f "$tmp"/out.*
	timeout -k 5 $kill_limit "$ktrace" run --timeout $limit --branches --out "$tmp/out.ktrx" -- $(sh scripts/qemu.sh "$arch" 2) \
		-append run=null-call </dev/null >"$tmp/console" 2>"$tmp/err"
	equal "$arch: the guest panics" 10 "$?"
	show() { "$ktrace" hwt --elf "$kernel" "$@" "$tmp/out.branches" 2>"$tmp/messages"; }

	show --functions >"$tmp/list"
	check "$arch: --functions lists many functions of the kernel" test "$(wc -l <"$tmp/list")" -gt 100
	check "$arch: --functions sorts the list" sh -c 'LC_ALL=C sort -c "$1"' - "$tmp/list"
	show --calls >"$tmp/calls"
	functions "$tmp/calls" >"$tmp/entered"
	check "$arch: --calls shows the scheduler with its duration" grep -qE '\[[^]]*\] +[0-9.]+ us .*schedule' "$tmp/calls"
	awk '{ print $2 }' "$tmp/list" | LC_ALL=C sort -u >"$tmp/names"
	LC_ALL=C sort -u "$tmp/entered" | LC_ALL=C comm -23 - "$tmp/names" >"$tmp/odd"
	equal "$arch: --calls enters only functions that --functions lists" "" "$(head -n 3 "$tmp/odd")"
	show --durations --json >"$tmp/durations"
	check "$arch: --durations --json has timed calls of the scheduler" grep -q '"function":"schedule",.*"calls":[0-9]*,"timed":[1-9]' "$tmp/durations"
	show --folded >"$tmp/folded"
	check "$arch: --folded: stacks end in functions that were run" awk '
		NR == FNR { run[$2] = 1; next } { n = split($1, path, ";"); if (!(path[n] in run)) exit 1; lines++ }
		END { exit lines < 100 }' "$tmp/list" "$tmp/folded"
	show --coverage >"$tmp/info"
	check "$arch: --coverage has only files of which a line ran" awk -F: '
		$1 == "SF" { file = $2; any = 0 } $1 == "DA" { split($2, da, ","); any += da[2] }
		$1 == "end_of_record" { if (any == 0) exit 1; if (file ~ /sched\.c$/) seen = 1 } END { exit !seen }' "$tmp/info"
	check "$arch: --coverage has the totals that lcov expects" awk -F'[:,]' '
		$1 == "SF" { n["FN"] = n["FNDA"] = n["FNH"] = n["DA"] = n["LH"] = 0 }
		$1 == "FN" { line[$3] = $2 } $1 == "FNDA" { if (!($3 in line)) exit 1; n["FNH"] += $2 > 0 }
		$1 == "DA" { n["LH"] += $3 > 0 } $1 == "FN" || $1 == "FNDA" || $1 == "DA" { n[$1]++ }
		$1 == "FNF" && (n["FN"] != $2 || n["FNDA"] != $2) || $1 == "FNH" && n["FNH"] != $2 { exit 1 }
		$1 == "LF" && n["DA"] != $2 || $1 == "LH" && n["LH"] != $2 { exit 1 } $1 == "FNH" { all += $2 }
		END { exit all < 100 }' "$tmp/info"
	sed -n 's/^FNDA:[1-9][0-9]*,//p' "$tmp/info" | LC_ALL=C sort -u >"$tmp/entered"
	sed 's/\..*//' "$tmp/names" | LC_ALL=C sort -u | LC_ALL=C comm -23 "$tmp/entered" - >"$tmp/odd"
	equal "$arch: --coverage: functions that were entered are in the list of --functions" "" "$(head -n 3 "$tmp/odd")"

	# hwt never overwrites an input file, even if it is given with a base address.
	cp "$kernel" "$tmp/copy.elf"
	nm -n "$kernel" >"$tmp/copy.map"
	for file in elf map; do
		option=$([ $file = elf ] && echo elf || echo symbols)
		cp "$tmp/copy.$file" "$tmp/before"
		"$ktrace" hwt --functions -w "$tmp/copy.$file" --$option "$tmp/copy.$file@0" "$tmp/out.branches" 2>"$tmp/messages"
		check "$arch: -w refuses to overwrite the file of --$option with a base" test $? -ne 0
		check "$arch: -w leaves the file of --$option with a base unchanged" cmp -s "$tmp/before" "$tmp/copy.$file"
	done

	# With a list of symbols, the output has the same names as with the ELF file, even if the
	# kernel was loaded at a different address.
	nm -n "$kernel" >"$tmp/System.map"
	symbols() { "$ktrace" hwt --symbols "$@" "$tmp/out.branches" 2>"$tmp/messages"; }
	symbols "$tmp/System.map" --functions >"$tmp/by_map"
	equal "$arch: --symbols System.map succeeds" 0 "$?"
	equal "$arch: --symbols System.map prints no message" "" "$(cat "$tmp/messages")"
	sed 's/^kernel\.elf /kernel /' "$tmp/list" >"$tmp/by_elf"
	same "$arch: --symbols System.map gives the same names as the ELF file" "$tmp/by_elf" "$tmp/by_map"
	sed 's/^00000000/00000001/' "$tmp/System.map" >"$tmp/moved.map"
	symbols "$tmp/moved.map" --functions >"$tmp/by_map"
	same "$arch: --symbols of a kernel that was moved gives the same names" "$tmp/by_elf" "$tmp/by_map"
	check "$arch: --symbols reports how far the kernel was moved" grep -q 'moved.map: the kernel ran 0x100000000 lower than listed: of [0-9]' "$tmp/messages"
	for view in --calls --folded --durations "-o pc,symbol,event_payload" "-o pc,symbol -i kernel -f schedule"; do
		show --last 20000 --before panic $view >"$tmp/by_elf"
		symbols "$tmp/moved.map@0xffffffff00000000" --last 20000 --before panic $view >"$tmp/by_map"
		same "$arch: --symbols with a base gives the same output of $view as the ELF file" "$tmp/by_elf" "$tmp/by_map"
	done
	awk '{ last = substr($1, 16); $1 = substr($1, 1, 15) (NR % 2 ? last : last == "4" ? "8" : "4"); print }' \
		"$tmp/System.map" >"$tmp/changed.map"
	symbols "$tmp/changed.map" --functions >"$tmp/by_map"
	check "$arch: a System.map of another build is refused" test $? -ne 0 -a ! -s "$tmp/by_map"
	check "$arch: the message about another build counts addresses that match" grep -qE \
		'changed.map: not the symbols of the kernel that ran: of [0-9]{3,} addresses .* calls, [0-9]+ are' "$tmp/messages"
	nm -n "build/demo/$(case $arch in x86_64) echo aarch64 ;; *) echo x86_64 ;; esac)/kernel.elf" >"$tmp/System.map"
	symbols "$tmp/System.map" --functions >"$tmp/by_map"
	check "$arch: a System.map of a kernel for another architecture is refused" test $? -ne 0 -a ! -s "$tmp/by_map"
	"$ktrace" hwt --elf "$kernel" --last 1000 -o id,event_type "$tmp/out.branches" >"$tmp/last" 2>"$tmp/messages"
	equal "$arch: --last shows branches of both CPUs" 2 "$(grep -c '^CPU [01]$' "$tmp/last")"
	show -s 1 -o id,event_type | grep -v ' run$' | tail -n 500 >"$tmp/all"
	awk '/^CPU/ { cpu = $2; next } cpu == 1 && $2 != "run"' "$tmp/last" | tail -n 500 >"$tmp/of_cpu"
	same "$arch: --last shows the same last branches as the whole list" "$tmp/all" "$tmp/of_cpu"

	# Calls must be shown between events: an event is recorded by a function that was entered on the same
	# CPU shortly before.
	"$ktrace" show --with "$tmp/out.branches" --elf "$kernel" "$tmp/out.ktrx" >"$tmp/shown" 2>"$tmp/messages"
	equal "$arch: show --with branches succeeds" 0 "$?"
	check "$arch: show --with branches has calls between events" awk '
		/hwt\.call/ { calls++ } /sched\.switch/ { switches++; if (calls) between++; calls = 0 }
		END { exit between < switches / 4 || switches < 4 }' "$tmp/shown"
	cp "$tmp/out.branches" "$tmp/other.branches"
	printf 'another.' | dd of="$tmp/other.branches" bs=1 seek=144 conv=notrunc 2>/dev/null # its nonce
	"$ktrace" show --with "$tmp/other.branches" --elf "$kernel" "$tmp/out.ktrx" >"$tmp/shown" 2>"$tmp/messages"
	check "$arch: show --with refuses branches of another boot" test $? -ne 0 -a ! -s "$tmp/shown"
	check "$arch: show --with branches of another boot: the message has the reason" grep -q 'from another boot than the trace' "$tmp/messages"
	cp "$kernel" "$tmp/copy.elf"
	"$ktrace" export --format perfetto --with "$tmp/out.branches" --with-elf "$tmp/copy.elf@0" "$tmp/out.ktrx" \
		-o "$tmp/copy.elf" 2>"$tmp/messages"
	check "$arch: export does not overwrite its input" cmp -s "$kernel" "$tmp/copy.elf"
	check "$arch: export over its input: the message has the reason" grep -q 'copy.elf is an input file' "$tmp/messages"
	"$ktrace" export --format perfetto --with "$tmp/out.branches" --with-elf "$kernel" "$tmp/out.ktrx" \
		-o "$tmp/exported" 2>"$tmp/messages"
	build/test/perfetto-text "$tmp/exported" >"$tmp/text"
	for cpu in 0 1; do
		check "$arch: the export has a track of CPU $cpu's functions" grep -q "name=\"CPU $cpu functions" "$tmp/text"
	done
	check "$arch: the export has spans of functions" grep -q 'track_event{type=1 .*categories="hwt" name="schedule"' "$tmp/text"

	# ktrace hwt runs the guest itself and records only one function.
	timeout -k 5 $kill_limit "$ktrace" hwt -c qemu -w "$tmp/one.rings" -b 64K -i kernel -f schedule -- \
		$(sh scripts/qemu.sh "$arch" 2) -append run=null-call </dev/null >"$tmp/console" 2>"$tmp/err"
	"$ktrace" hwt --elf "$kernel" --functions "$tmp/one.rings" >"$tmp/list" 2>"$tmp/messages"
	equal "$arch: hwt -f records only this function" "kernel.elf schedule" "$(cat "$tmp/list")"
done
done_testing
