# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Compares ktrace's description of SPE packets with published listings of `perf report --dump-raw-trace`. SPE_LISTINGS names a directory
# with the listings, in files *.txt. They are not part of ktrace.
. test/tap.sh

if [ -z "${SPE_LISTINGS-}" ] || [ ! -d "${SPE_LISTINGS-}" ]; then
	skip "published packets of SPE" "SPE_LISTINGS names no directory of listings"
	done_testing
fi

# bits(text): returns the lower 56 bits of an address: a packet contains only these bits.
words='function bits(text) { sub(/^0x/, "", text); text = "00000000000000" text; return substr(text, length(text) - 13) }'

for listing in "$SPE_LISTINGS"/*.txt; do
	build/test/spe-listing "$listing" "$tmp/trace" || exit 1
	build/bin/ktrace hwt -g "$tmp/trace" 2>"$tmp/message" | awk "$words"'
		$2 == "pad" || $1 == "CPU" { next }
		$2 ~ /^(pc|target)$/ { print $2, bits($3), $4, $5; next }
		$2 == "data-virtual" { print $2, bits($3); next }
		$2 == "data-physical" { print $2, bits($3), $4; next }
		{ $1 = ""; sub(/^ /, ""); print }' >"$tmp/ours"
	# In the listing, the text of a packet follows its bytes.
	sed 's/^[^:]*: *//; s/^\([0-9a-f][0-9a-f] \{1,\}\)*//' "$listing" | awk "$words"'
		BEGIN {
			split("LD load general;LD GP-REG load general;ST store general;ST GP-REG store general;" \
				"ST SIMD-FP store simd-fp;LD AT AR load extended atomic ordered;B COND branch conditional;" \
				"B IND branch indirect;INSN-OTHER other", rows, ";")
			for (n in rows) {
				match(rows[n], /[a-z]/)
				operation[substr(rows[n], 1, RSTART - 2)] = substr(rows[n], RSTART)
			}
			latency["ISSUE"] = "issue-latency"
			latency["TOT"] = "total-latency"
			latency["XLAT"] = "translation-latency"
		}
		{ sub(/ +$/, "") }
		$1 == "PAD" { next }
		$1 == "PC" { print "pc", bits($2), $3, $4; next }
		$1 == "TGT" { print "target", bits($2), $3, $4; next }
		$1 == "VA" { print "data-virtual", bits($2); next }
		$1 == "PA" { print "data-physical", bits($2), $3; next }
		$1 == "LAT" { print latency[$3], $2; next }
		$1 == "TS" { print "timestamp", $2; next }
		$1 == "CONTEXT" { print "context", $3, $2; next }
		$1 == "DATA-SOURCE" { printf "source 0x%x\n", $2; next }
		$1 == "EV" { $1 = "events"; sub(/LLC-REFILL/, "llc-miss"); print tolower($0); next }
		$0 in operation { print "operation", operation[$0]; next }
		{ print "not known to the test: " $0 }' >"$tmp/theirs"
	sed 's/  */ /g' "$tmp/ours" >"$tmp/ours.plain"
	same "$(basename "$listing"): $(wc -l <"$tmp/theirs") packets" "$tmp/theirs" "$tmp/ours.plain"
done
done_testing
