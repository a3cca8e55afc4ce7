/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "capture/json_text.h"

#include <stdlib.h>

#include "base/escape.h"

char *capture_json_text(const json_t *json, size_t flags)
{
	char *raw = json ? json_dumps(json, flags) : NULL, *text = base_escape_json_document(raw);

	free(raw);
	return text;
}

int capture_json_write(const json_t *json, size_t flags, FILE *to)
{
	char *text = capture_json_text(json, flags);
	const int error = !text || fputs(text, to) == EOF || fputc('\n', to) == EOF;

	free(text);
	return error ? -1 : 0;
}

int capture_json_save(const json_t *json, const char *path)
{
	FILE *file = fopen(path, "we");
	int error;

	if (!file)
		return -1;
	error = capture_json_write(json, JSON_COMPACT, file);
	return fclose(file) == 0 ? error : -1;
}
