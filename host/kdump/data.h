/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Data that a process read or wrote, in lines below its record as the BSDs have them. */
#ifndef KDUMP_DATA_H
#define KDUMP_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"

/* Text in quotation marks, made visible and folded to `columns`. */
void kdump_data_text(struct base_output *out, const uint8_t *bytes, size_t size, unsigned columns);
/* Offsets, hexadecimal digits, text. */
void kdump_data_hex(struct base_output *out, const uint8_t *bytes, size_t size, unsigned columns);
/* Is there a byte that no text has? */
bool kdump_data_is_binary(const uint8_t *bytes, size_t size);

#endif
