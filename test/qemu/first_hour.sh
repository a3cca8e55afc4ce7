# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The files and commands of doc/first-hour.md do what the page says.
. test/tap.sh

folder=$tmp/first-hour
timeout -k 5 $kill_limit sh scripts/first_hour.sh "$folder" >"$tmp/out" 2>"$tmp/err"
equal "all commands of the page succeed" 0 $?
check "two events of the first boot are shown" \
	test "$(build/bin/ktrace show "$folder/hello.ktrx" 2>/dev/null | grep -c 'boot.hello *from hart [01]')" -eq 2
check "doctor names the port header" grep -q 'ktrace_port.h: #define ktrace_arch_cpu' "$tmp/out"
check "without the bug the kernel ends well" sh -c "build/bin/ktrace summary '$folder/bank.ktrx' 2>/dev/null | grep -qx 'guest  *exited with status 0'"
check "each hart has its ring" sh -c "build/bin/ktrace summary '$folder/bank.ktrx' 2>/dev/null | grep -q '^CPU1  *[0-9]* *[1-9]'"
check "how long locks were held is shown" sh -c "build/bin/ktrace stats '$folder/bank.ktrx' 2>/dev/null | grep -q '^lock held'"
check "with the bug the run times out" grep -qx 'status 12' "$tmp/out"
check "why finds the deadlock" grep -q '^deadlock (certain): CPU [01] and CPU [01] ' "$tmp/out"
check "no call of ktrace fails" sh -c "! build/bin/ktrace show '$folder/bank.ktrx' 2>/dev/null | grep -q boot.error"

# verdict_places: prints the lines of the kernel that the first paragraph of why's output names.
verdict_places() { sed -n '/^deadlock (certain)/,/^$/p' | grep -o '(kernel\.c:[0-9]*)' | sort; }
verdict_places <doc/first-hour.md >"$tmp/documented"
verdict_places <"$tmp/out" >"$tmp/found"
check "the verdict names lines of the kernel" test -s "$tmp/found"
same "the page names the lines of the present kernel: make docs" "$tmp/documented" "$tmp/found"
done_testing
