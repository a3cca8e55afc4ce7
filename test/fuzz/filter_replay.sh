# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Expressions of --where, intact, cut off or changed, neither crash nor hang the parser. An event that an
# expression accepts is in the time window that the reader searches.
build/test/asan/filter_replay --truncate test/golden/filter
