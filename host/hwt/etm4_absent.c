/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* In place of etm4*.c where OpenCSD's headers are missing. */
#include "decoder.h"

const struct hwt_encoding *const hwt_encoding_etm4 = NULL;
