# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The ETMv4 decoder neither crashes nor hangs over streams that are intact, cut off, or changed.
exec build/test/asan/etm4_replay --truncate test/golden/etm4
