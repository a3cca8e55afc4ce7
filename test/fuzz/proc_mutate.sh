# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The test of proc_replay.sh, cut off at every length and with every bit changed; bad inputs with one bit of
# each byte changed.
export ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1
build/test/asan/proc_replay --mutate test/golden/proc/*.ktrace && build/test/asan/proc_replay --truncate test/golden/proc/bad
