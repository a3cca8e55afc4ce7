# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A trace unit in software: build/lib/ktrace-pt.so, a plugin of QEMU's.
