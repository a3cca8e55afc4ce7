/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* `ktrace extract`: the trace out of a guest's memory in a file, of a guest that runs, ran or was dumped. */
#ifndef CAPTURE_EXTRACT_H
#define CAPTURE_EXTRACT_H

#include "ktread/ktread.h"
#include "summary.h"

struct capture_extract_options {
	const char *path;
	const char *out;
	const char *machine;   /* of a RAM file; NULL: as the file tells */
	enum ktread_form form; /* KTREAD_FORM_AUTO, _RAM or _CORE */
};

/* 0, CAPTURE_E_ABSENT if there is no ktrace in the file, or another error; the message names the file. */
int capture_extract(const struct capture_extract_options *options, struct capture_summary *summary);

#endif
