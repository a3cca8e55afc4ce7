# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/fuzz/kdump.sh
CHECK_NEEDS += build/asan/bin/kdump build/test/cmd-mutate build/test/kdump-traces
