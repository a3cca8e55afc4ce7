# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A function that checks the loss in the trace of a demo kernel that has ended by itself.

# nothing_lost SUMMARY CPUS: succeeds if the summary reports no loss except for unfinished records. When a CPU
# switches the machine off, the other CPUs are not stopped first: each of them may leave one unfinished record
# of at most 8 slots.
nothing_lost() {
	awk -v most=$((($2 - 1) * 8)) '$1 == "loss" {
		print
		complete = $2 == "none" || ($2 == 0 && $5 <= most && $7 == 0 && !/without an id/)
	} END { exit !complete }' "$1"
}
