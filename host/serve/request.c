/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "serve/request.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"

/* ---- Method and headers ---- */

/* Returns whether `text` is "PREFIX127.0.0.1:PORT" or "PREFIXlocalhost:PORT". */
static bool is_here(const char *text, const char *prefix, uint16_t port)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	char wanted[64];

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		snprintf(wanted, sizeof(wanted), "%s%s:%u", prefix, names[n], port);
		if (strcmp(text, wanted) == 0)
			return true;
	}
	return false;
}

static int refuse(char why[SERVE_WHY], int status, const char *text)
{
	snprintf(why, SERVE_WHY, "%s", text);
	return status;
}

int serve_request_check(const char *method, const struct serve_headers *headers, uint16_t port,
			char why[SERVE_WHY])
{
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return refuse(why, SERVE_METHOD, "only GET and HEAD are allowed");
	if (headers->body)
		return refuse(why, SERVE_BAD, "a request must not have a body");
	if (headers->hosts != 1 || !headers->host || !is_here(headers->host, "", port))
		return refuse(why, SERVE_FORBIDDEN, "the Host header does not name this server");
	if (headers->origin && !is_here(headers->origin, "http://", port))
		return refuse(why, SERVE_FORBIDDEN, "the request comes from a page of another origin");
	if (headers->site && strcmp(headers->site, "same-origin") != 0 &&
	    strcmp(headers->site, "none") != 0 && !(headers->mode && strcmp(headers->mode, "navigate") == 0))
		return refuse(why, SERVE_FORBIDDEN, "the request comes from a page of another site");
	return SERVE_OK;
}

/* ---- Path and query ---- */

enum {
	FROM = 1 << 0,
	UNTIL = 1 << 1,
	LIMIT = 1 << 2,
	ID = 1 << 3,
	TIME = 1 << 4,
	WHERE = 1 << 5,
	NUMBER = 1 << 6,
};

static const struct {
	const char *name;
	unsigned bit;
} parameters[] = {
	{ "from", FROM }, { "until", UNTIL }, { "limit", LIMIT }, { "id", ID },
	{ "time", TIME }, { "where", WHERE }, { "n", NUMBER },
};
#define PARAMETERS (sizeof(parameters) / sizeof(parameters[0]))

static const struct {
	const char *path;
	/* parameters that the request must have, and parameters that it may have */
	unsigned needs, takes;
} whats[SERVE_WHATS] = {
	[SERVE_PAGE] = { "", 0, 0 },
	[SERVE_HEAD] = { "head", 0, 0 },
	[SERVE_BLOCKS] = { "blocks", NUMBER, NUMBER },
	[SERVE_OVERVIEW] = { "overview", 0, 0 },
	[SERVE_WINDOW] = { "window", FROM | UNTIL, FROM | UNTIL },
	[SERVE_VERDICT] = { "verdict", 0, 0 },
	[SERVE_EVENT] = { "event", ID, ID | TIME },
	[SERVE_EVENTS_LIST] = { "events", 0, FROM | UNTIL | LIMIT },
	[SERVE_SEARCH] = { "search", WHERE, WHERE | FROM | UNTIL | LIMIT },
};

/* A part of the request's path or query. */
struct word {
	const char *text;
	size_t length;
};

static bool is(struct word word, const char *text)
{
	return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

/*
 * Removes the text before `separator` and the separator from *rest, and returns this text. If there is no
 * separator, returns all of *rest.
 */
static struct word cut(struct word *rest, char separator)
{
	const char *end = rest->length ? memchr(rest->text, separator, rest->length) : NULL;
	const struct word word = { rest->text, end ? (size_t)(end - rest->text) : rest->length };
	const size_t used = word.length + (end != NULL);

	rest->text += used;
	rest->length -= used;
	return word;
}

/*
 * Compares the text with the token. The comparison always takes the same time, so that a client cannot guess
 * the token from the time that an answer takes.
 */
static bool is_token(struct word word, const char *token)
{
	unsigned char differs = 0;

	if (word.length != SERVE_TOKEN)
		return false;
	for (size_t n = 0; n < SERVE_TOKEN; n++)
		differs |= (unsigned char)(word.text[n] ^ token[n]);
	return differs == 0;
}

/*
 * Reads a decimal number without a sign. Returns false if the text contains anything else, or if the number
 * is too large.
 */
static bool read_number(struct word word, uint64_t *number)
{
	*number = 0;
	for (size_t n = 0; n < word.length; n++)
		if (word.text[n] < '0' || word.text[n] > '9' || __builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(word.text[n] - '0'), number))
			return false;
	return word.length > 0;
}

static bool read_id(struct word word, struct serve_request *request)
{
	const struct word ring = cut(&word, '.');

	return read_number(ring, &request->ring) && request->ring <= UINT32_MAX &&
	       read_number(word, &request->slot);
}

static int digit(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	letter |= 0x20;
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/*
 * Decodes %XX, and turns + into a space. Returns false if the text is too long, is not UTF-8, or contains
 * control characters.
 */
static bool decode(struct word word, char to[SERVE_WHERE + 1])
{
	size_t length = 0;
	uint32_t code;

	for (size_t n = 0; n < word.length; n++) {
		unsigned char byte = (unsigned char)word.text[n];

		if (byte == '%') {
			const int high = n + 2 < word.length ? digit(word.text[n + 1]) : -1;
			const int low = n + 2 < word.length ? digit(word.text[n + 2]) : -1;

			if (high < 0 || low < 0)
				return false;
			byte = (unsigned char)(high << 4 | low);
			n += 2;
		} else if (byte == '+') {
			byte = ' ';
		}
		if (length == SERVE_WHERE || byte < 0x20 || byte == 0x7f)
			return false;
		to[length++] = (char)byte;
	}
	to[length] = '\0';
	for (size_t n = 0, step; n < length; n += step) {
		step = base_utf8_decode(to + n, length - n, &code);
		if (!step)
			return false;
	}
	return length > 0;
}

static bool read_value(struct serve_request *request, unsigned bit, struct word value)
{
	switch (bit) {
	case FROM:
		return read_number(value, &request->from);
	case UNTIL:
		return read_number(value, &request->until);
	case LIMIT:
		return read_number(value, &request->limit) && request->limit > 0 &&
		       request->limit <= SERVE_EVENTS_MOST;
	case NUMBER:
		return read_number(value, &request->number);
	case ID:
		return read_id(value, request);
	case TIME:
		request->has_time = true;
		return read_number(value, &request->time);
	default:
		return decode(value, request->where);
	}
}

static int read_parameter(struct serve_request *request, struct word pair, unsigned *given,
			  char why[SERVE_WHY])
{
	const struct word name = cut(&pair, '=');

	for (size_t n = 0; n < PARAMETERS; n++) {
		const unsigned bit = parameters[n].bit;

		if (!is(name, parameters[n].name) || !(whats[request->what].takes & bit))
			continue;
		if (*given & bit)
			snprintf(why, SERVE_WHY, "%s is given twice", parameters[n].name);
		else if (!read_value(request, bit, pair))
			snprintf(why, SERVE_WHY, "the value of %s is invalid", parameters[n].name);
		else
			why[0] = '\0';
		*given |= bit;
		return why[0] ? SERVE_BAD : SERVE_OK;
	}
	return refuse(why, SERVE_BAD, "the request has an unknown parameter");
}

static int read_query(struct serve_request *request, struct word query, char why[SERVE_WHY])
{
	unsigned given = 0;

	while (query.length) {
		const int status = read_parameter(request, cut(&query, '&'), &given, why);

		if (status != SERVE_OK)
			return status;
	}
	for (size_t n = 0; n < PARAMETERS; n++)
		if (whats[request->what].needs & ~given & parameters[n].bit) {
			snprintf(why, SERVE_WHY, "%s is missing", parameters[n].name);
			return SERVE_BAD;
		}
	if (request->from > request->until)
		return refuse(why, SERVE_BAD, "from must not be later than until");
	return SERVE_OK;
}

int serve_request_parse(struct serve_request *request, const char *target, size_t length, const char *token,
			char why[SERVE_WHY])
{
	struct word rest = { target, length }, path;

	*request = (struct serve_request){ .until = UINT64_MAX, .limit = SERVE_EVENTS };
	if (length > SERVE_TARGET_MOST)
		return refuse(why, SERVE_TOO_LONG, "the address is too long");
	if (cut(&rest, '/').length || !is_token(cut(&rest, '/'), token))
		return refuse(why, SERVE_ABSENT, "there is nothing at this address");
	if (rest.text[-1] != '/')
		return refuse(why, SERVE_MOVED, "the address of the page ends in a slash");
	path = cut(&rest, '?');
	for (unsigned n = 0; n < SERVE_WHATS; n++)
		if (is(path, whats[n].path)) {
			request->what = (enum serve_what)n;
			return read_query(request, rest, why);
		}
	return refuse(why, SERVE_ABSENT, "there is nothing at this address");
}
