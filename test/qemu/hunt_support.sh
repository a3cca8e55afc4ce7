# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Functions for tests of `ktrace hunt`. Requires run_support.sh.

# hunt DIRECTORY [OPTION…] -- COMMAND…: stores the exit status in $status, the summary in $tmp/summary, the messages
# in $tmp/err.
hunt() {
	folder=$tmp/$1
	shift
	status=0
	timeout -k 5 $((kill_limit * 4)) "$ktrace" hunt --timeout $limit --out "$folder" "$@" </dev/null >"$tmp/summary" 2>"$tmp/err" || status=$?
}

# summary_has TEXT: checks that the summary of the last hunt has the text.
summary_has() { check "the summary has: $1" grep -qF -- "$1" "$tmp/summary"; }

# seeds DIRECTORY: prints, in ascending order, the seeds whose results are in the directory.
seeds() { sed -n 's/^{"seed":\([0-9]*\),.*/\1/p' "$tmp/$1/results.jsonl" | sort -n | xargs; }
