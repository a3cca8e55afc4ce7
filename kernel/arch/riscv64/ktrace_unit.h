/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The trace unit in software does not know RISC-V. */
#include "../generic/ktrace_unit.h"
