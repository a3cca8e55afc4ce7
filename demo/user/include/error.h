/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef USER_ERROR_H
#define USER_ERROR_H

#include <stdint.h>

/*
 * Returns the text of an error, such as "No such file or directory". The error number may be positive or
 * negative.
 */
const char *error_text(int64_t error);

#endif
