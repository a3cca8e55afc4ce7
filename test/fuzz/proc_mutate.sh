# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Runs the test of proc_replay.sh with copies of each trace: cut off at every length, or with one bit
# changed. There are fewer copies of bad inputs: for each byte, one copy in which one of its bits is
# changed, and copies cut off at every fourth length.
export ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1
build/test/asan/proc_replay --mutate test/golden/proc/*.ktrace && build/test/asan/proc_replay --truncate test/golden/proc/bad
