# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/serve/server.sh
CHECK_NEEDS += build/asan/bin/ktrace build/test/cmd-traces build/test/ktrdump-traces
