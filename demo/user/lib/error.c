/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <error.h>
#include <unistd.h>

const char *error_text(int64_t error)
{
	switch (error < 0 ? -error : error) {
#define ERROR(number, name, text) \
	case number:              \
		return text;
#include "errors.def"
	default:
		return "Unknown error";
	}
}
