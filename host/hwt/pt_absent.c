/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* In place of pt*.c where libipt's header is missing. */
#include "decoder.h"

const struct hwt_encoding *const hwt_encoding_pt = NULL;
