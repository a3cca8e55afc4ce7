# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The figures of `ktrace stats`, compared with figures computed from sorted lists of the output of `ktrace
# show --json`.
. test/tap.sh

PATH=$PWD/build/bin:$PATH
build/test/cmd-traces "$tmp" || exit 1
cd "$tmp" || exit 1
ktrace show --json pairs.ktrx >lines

# member NAME FILE: prints the first number that is the value of a JSON member with this name.
member() { tr ',' '\n' <"$2" | sed -n "s/^\"$1\":\([0-9.-]*\)\$/\1/p" | head -n 1; }

# rank PERCENT FILE: prints a percentile of the sorted numbers in FILE, by nearest rank.
rank() { awk -v p="$1" '{ v[NR] = $1 } END { r = int((NR * p + 99) / 100); print v[r ? r : 1] }' "$2"; }

# near "what" TRUE GOT: checks that the printed value GOT is at least the true value TRUE, and at most
# 1/128 greater.
near() { check "$1: $3 for $2" awk -v t="$2" -v g="$3" 'BEGIN { exit !(g >= t && g - t <= (t < 0 ? -t : t) / 128) }'; }

# Computes the duration of each call in nanoseconds: pairs calls and returns by thread. Times in the input
# have nine decimals.
awk -F'"' '{
	match($0, /"time":[0-9.]*/); split(substr($0, RSTART + 7, RLENGTH - 7), t, ".")
	match($0, /"thread":[0-9]*/); thread = substr($0, RSTART + 9, RLENGTH - 9)
	ns = t[1] * 1000000000 + t[2]
	if (/"event":"syscall.enter"/) begun[thread] = ns
	if (/"event":"syscall.exit"/) print ns - begun[thread], thread
}' lines | sort -n >calls
equal "calls in the trace" 4000 "$(wc -l <calls)"

ktrace stats --begin syscall.enter --end syscall.exit --json pairs.ktrx >all
equal "count of all calls" 4000 "$(member count all)"
equal "min of all calls" "$(sed 's/ .*//;q' calls)" "$(member min all)"
equal "max of all calls" "$(tail -n 1 calls | sed 's/ .*//')" "$(member max all)"
equal "mean of all calls" "$(awk '{ s += $1 } END { printf "%.3f", s / NR }' calls)" "$(member mean all)"
for p in 50 90 99; do
	near "p$p of more values than are kept" "$(rank $p calls)" "$(member p$p all)"
done
equal "inexact percentiles are reported" 1 "$(grep -c '"exact":false' all)"
equal "the bins contain every call" 4000 "$(tr '{' '\n' <all | sed -n 's/.*"to".*"count":\([0-9]*\).*/\1/p' | awk '{ s += $1 } END { print s }')"
longest=$(sed -n 's/.*"longest":{"begin":\([0-9.]*\),"end":\([0-9.]*\).*/\1 \2/p' all)
equal "the longest call is at the reported place" "$(member max all)" \
	"$(echo "$longest" | awk '{ printf "%d", ($2 - $1) * 1000000 + 0.5 }')000"

grep ' 13$' calls >of13
ktrace stats --begin syscall.enter --end syscall.exit --by thread,nr --pid 13 --until 10s --json pairs.ktrx >one
equal "count of one thread" "$(wc -l <of13)" "$(member count one)"
for p in 50 90 99; do
	equal "p$p of individually stored values is exact" "$(rank $p of13)" "$(member p$p one)"
done

ktrace stats --json pairs.ktrx >table
equal "the table has the same count of one thread" "$(wc -l <of13)" "$(grep '"number":1,' table | sed -n 's/.*"count":\([0-9]*\).*/\1/p')"
equal "the table has the same p99 of one thread" "$(rank 99 of13)" "$(grep '"number":1,' table | sed -n 's/.*"p99":\([0-9]*\).*/\1/p')"

sed -n 's/.*"result":\([0-9-]*\).*/\1/p' lines | sort -n >results
ktrace stats --value syscall.exit.result --json pairs.ktrx >value
equal "count of a field" "$(wc -l <results)" "$(member count value)"
equal "least value of a field" "$(head -n 1 results)" "$(member min value)"
equal "greatest value of a field" "$(tail -n 1 results)" "$(member max value)"
near "median of a field" "$(rank 50 results)" "$(member p50 value)"

ktrace stats --rate --interval 1ms --event syscall.enter --json pairs.ktrx >rate
grep '"event":"syscall.enter"' lines | sed 's/.*"time":\([0-9]*\)\.\([0-9]\{3\}\).*"cpu":\([0-9]*\).*/\1\2 \3/' |
	awk '{ n[$1 + 0]++; c[$1 + 0, $2]++ } END { for (t in n) print t, n[t], c[t, 0] + 0, c[t, 1] + 0 }' | sort -n >by_hand
sed -n 's/.*"time":\([0-9]*\)\.\([0-9]\{3\}\).*"events":\([0-9]*\),"cpus":{\(.*\)}}.*/\1\2 \3 \4/p' rate |
	awk '{ zero = one = 0; n = split($3, c, /[",:]+/)
		for (i = 2; i < n; i += 2) if (c[i] == 0) zero = c[i + 1]; else one = c[i + 1]
		print $1 + 0, $2, zero, one }' >by_stats
same "events by interval and CPU" by_hand by_stats

ktrace summary --json --since 500ms --cpu 1 pairs.ktrx >few
ktrace stats --rate --json --since 500ms --cpu 1 pairs.ktrx >rate
equal "a rate counts only the selected events" \
	"$(awk -v n="$(member events few)" -v s="$(member seconds few)" 'BEGIN { printf "%.3f", n / s }')" \
	"$(member per_second rate)"

done_testing
