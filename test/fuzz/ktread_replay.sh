# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# On bad input, the reader neither crashes nor hangs, and it keeps its limits of time and memory.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # creates temporary files faster than a disk
export ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1
build/test/asan/ktread_replay --truncate test/golden/ktread && build/test/asan/ktread_replay test/golden/bad
