# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The trace read inside the demo kernel, by somebody at its serial line.
SCRIPT_TESTS += test/qemu/console_prompt.sh test/qemu/console_echo.sh
