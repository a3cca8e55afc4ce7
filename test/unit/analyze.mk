# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The test looks up its own functions, in its own file: a position-independent one, loaded anywhere.
UNIT_TESTS += analyze_symbols
UNIT_SRCS_analyze_symbols := test/unit/analyze_symbols.c host/analyze/symbols.c host/analyze/symbols_library.c
UNIT_CFLAGS_analyze_symbols := -Ihost -fpie -pie
UNIT_LDLIBS_analyze_symbols := -ldl -Wl,--build-id=sha1
