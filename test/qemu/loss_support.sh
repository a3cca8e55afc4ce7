# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# What may be missing in the trace of a demo kernel that has ended by itself.

# nothing_lost SUMMARY CPUS: the rings were large enough. Nobody stops the other CPUs when one switches the machine off: each
# may be at a record then, of 8 slots at most, which stays unfinished.
nothing_lost() {
	awk -v most=$((($2 - 1) * 8)) '$1 == "loss" {
		print
		complete = $2 == "none" || ($2 == 0 && $5 <= most && $7 == 0 && !/without an id/)
	} END { exit !complete }' "$1"
}
