# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The reader of process traces neither crashes nor hangs, and keeps to its limits of time and memory, over bad
# input.
export ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1
exec build/test/asan/proc_replay test/golden/proc/*.ktrace test/golden/proc/bad
