/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <error.h>
#include <unistd.h>

const char *error_name(int64_t error)
{
	switch (error < 0 ? -error : error) {
#define ERROR(number, name) \
	case number:        \
		return #name;
#include "errors.def"
	default:
		return "an unknown error";
	}
}
