/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef USER_ERROR_H
#define USER_ERROR_H

#include <stdint.h>

/* "No such file or directory", of the error or of a call's result that is its negative. */
const char *error_text(int64_t error);

#endif
