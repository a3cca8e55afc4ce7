# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Guests whose CPUs have clocks of their own; the test builds its kernels itself.
SCRIPT_TESTS += test/qemu/clock.sh
CHECK_NEEDS += host
