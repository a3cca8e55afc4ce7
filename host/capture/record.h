/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A small file of keys and values, by which `ktrace run` and the QEMU shim that it planted talk across
 * whatever make or script lies between them. Written whole or not at all (rename).
 */
#ifndef CAPTURE_RECORD_H
#define CAPTURE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

struct capture_record {
	char *bytes; /* "key=value\0" one after the other */
	size_t length;
	bool failed; /* out of memory: capture_record_save() will say so */
};

__attribute__((format(printf, 3, 4))) void capture_record_set(struct capture_record *record, const char *key,
							      const char *format, ...);
/* Value of `key`, "" if there is none. Owned by the record. */
const char *capture_record_get(const struct capture_record *record, const char *key);
void capture_record_free(struct capture_record *record);

/* 0 or CAPTURE_E_SYSTEM. */
int capture_record_save(const struct capture_record *record, const char *path);
/* 0, CAPTURE_E_ABSENT if there is no such file yet, CAPTURE_E_SYSTEM or CAPTURE_E_FORMAT. */
int capture_record_load(struct capture_record *record, const char *path);

#endif
