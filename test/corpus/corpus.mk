# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/corpus/read.sh
CHECK_NEEDS += build/bin/ktrace
