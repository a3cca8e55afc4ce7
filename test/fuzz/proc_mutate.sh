# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# As proc_replay.sh, cut anywhere and with every bit changed; what is bad already, with one bit of each byte.
export ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1
build/test/asan/proc_replay --mutate test/golden/proc/*.ktrace && build/test/asan/proc_replay --truncate test/golden/proc/bad
