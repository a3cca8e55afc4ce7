# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Expressions of --where, intact, cut off or changed, neither crash nor hang the parser. If an
# expression accepts an event, this event is in the time window to which the reader limits its search.
build/test/asan/filter_replay --truncate test/golden/filter
