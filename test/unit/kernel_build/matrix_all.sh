#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Every level and setting, with every compiler.
MATRIX=all exec sh test/unit/kernel_build/matrix.sh
