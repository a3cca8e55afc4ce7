# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Every file that a makefile or a script runs directly has the execute bit in a clean clone. The test reads
# the bits in the index, which a clone gets.
. test/tap.sh

git ls-files -s | awk '{ print $1, $4 }' >"$tmp/modes"
check "the index lists files" test -s "$tmp/modes"

# ---- Tests of this check -----------------------------------------------------------------------------
printf '100644 bench/plain.sh\n100755 bench/bit.sh\n' >"$tmp/sample-modes"
cat >"$tmp/sample.mk" <<'..'
BENCH_RUNS += bench/plain.sh
OTHER += bench/plain.sh
run: bench/plain.sh
NAMES := $(sort x) bench/plain.sh
OUTPUT := $(shell bench/plain.sh)
	@bench/plain.sh
	sh bench/plain.sh
	true && ./bench/plain.sh | sh
	X=1 timeout -k 5 300 \
		bench/plain.sh
	echo bench/plain.sh; bench/bit.sh
..
printf 'exec bench/plain.sh\n. bench/plain.sh\nx=$(bench/plain.sh)\n# bench/plain.sh\n' >"$tmp/sample.sh"
awk -f test/lint/runnable.awk "$tmp/sample-modes" "$tmp/sample.mk" "$tmp/sample.sh" | sed "s|^$tmp/||" >"$tmp/found"
cat >"$tmp/expected" <<'..'
sample.mk:1: bench/plain.sh
sample.mk:5: bench/plain.sh
sample.mk:6: bench/plain.sh
sample.mk:8: bench/plain.sh
sample.mk:9: bench/plain.sh
sample.sh:1: bench/plain.sh
sample.sh:3: bench/plain.sh
..
same "a file that is run directly without the execute bit is found" "$tmp/expected" "$tmp/found"

# ---- The tree -------------------------------------------------------------------------------------
git ls-files Makefile '*.mk' '*.sh' .ci/run >"$tmp/files"
xargs awk -f test/lint/runnable.awk "$tmp/modes" <"$tmp/files" >"$tmp/found"
check "what is run directly has the execute bit: $(head -n 5 "$tmp/found")" test ! -s "$tmp/found"

# If the first line of a file begins with "#!", users may run the file directly.
awk '{ print $2 }' "$tmp/modes" | xargs grep -lIm 1 '^#!' 2>>"$tmp/err" | xargs awk 'FNR == 1 && /^#!/ { print FILENAME } FNR > 1 { nextfile }' |
	sort >"$tmp/begins"
awk '$1 == "100755" { print $2 }' "$tmp/modes" | sort >"$tmp/bits"
comm -3 "$tmp/begins" "$tmp/bits" >"$tmp/found"
check "a file has the execute bit if and only if it begins with #!: $(head -n 5 "$tmp/found")" test ! -s "$tmp/found"

done_testing
