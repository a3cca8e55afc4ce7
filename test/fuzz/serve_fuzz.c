/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Fuzz target of requests to the server of `ktrace open`: the bytes are the path and the query of a request.
 * If they begin with /TOKEN/, this is replaced by the server's token. The values of an accepted request must
 * be within their limits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "serve/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char token[] = "0123456789abcdef0123456789abcdef";

static void check(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "serve: %s\n", what);
	abort();
}

static void check_request(const struct serve_request *request, const char *target)
{
	const size_t length = strlen(request->where);
	uint32_t code;

	check(target[0] == '/' && memcmp(target + 1, token, SERVE_TOKEN) == 0 &&
		      target[1 + SERVE_TOKEN] == '/',
	      "a request without the token is accepted");
	check(request->what < SERVE_WHATS, "an unknown request is accepted");
	check(request->from <= request->until, "a time from the end to the begin is accepted");
	check(request->limit > 0 && request->limit <= SERVE_EVENTS_MOST, "the limit is wrong");
	check(request->ring <= UINT32_MAX, "the ring is wrong");
	check(length <= SERVE_WHERE, "the expression is too long");
	check((request->what == SERVE_SEARCH) == (length > 0), "only a search has an expression");
	for (size_t n = 0, step; n < length; n += step) {
		step = base_utf8_decode(request->where + n, length - n, &code);
		check(step > 0 && code >= 0x20, "the expression is no text");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char mark[] = "/TOKEN/";
	const int marked = size >= sizeof(mark) - 1 && memcmp(bytes, mark, sizeof(mark) - 1) == 0;
	const size_t skipped = marked ? sizeof(mark) - 1 : 0;
	struct serve_request *request = malloc(sizeof(*request)); /* heap: the sanitizer detects overruns */
	char *target = malloc(size + SERVE_TOKEN + 3), why[SERVE_WHY];
	size_t length = 0;
	int status;

	if (request && target) {
		if (marked)
			length = (size_t)sprintf(target, "/%s/", token);
		memcpy(target + length, bytes + skipped, size - skipped);
		length += size - skipped;
		memset(why, 'x', sizeof(why));
		target = realloc(target, length ? length : 1);
		status = serve_request_parse(request, target, length, token, why);
		if (status == SERVE_OK)
			check_request(request, target);
		else
			check((status == SERVE_MOVED || status >= 400) && status < 600 &&
				      strnlen(why, sizeof(why)) < sizeof(why),
			      "a refusal has no reason");
	}
	free(target);
	free(request);
	return 0;
}
