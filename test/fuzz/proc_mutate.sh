# SPDX-License-Identifier: MIT Runs the test of proc_replay.sh with copies that are cut off at every length,
# or in which each bit is changed once. In copies of bad inputs, one bit of each byte is changed.
export ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1
build/test/asan/proc_replay --mutate test/golden/proc/*.ktrace && build/test/asan/proc_replay --truncate test/golden/proc/bad
