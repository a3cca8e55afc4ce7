# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The decoder of ETMv4 neither crashes nor hangs over streams that are whole, cut, or changed.
exec build/test/asan/etm4_replay --truncate test/golden/etm4
