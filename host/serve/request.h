/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Parses requests of a browser, and decides whether a request is allowed. These functions use only their
 * arguments, and trust no byte of a request.
 */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* number of characters of a token, which is 128 bits in hexadecimal */
#define SERVE_TOKEN	  32u
#define SERVE_TARGET_MOST 12800u /* maximum number of bytes of a request's path and query */
#define SERVE_WHERE	  4096u	 /* maximum number of bytes of an expression */
#define SERVE_WHY	  160u	 /* size of the buffer for a message */
#define SERVE_EVENTS	  1000u	 /* number of events in an answer if the request specifies none */
#define SERVE_EVENTS_MOST 100000u

/* What a request asks for. spec/page.md describes each value. */
enum serve_what { /* the answers to the first four are in memory (calls.c) */
		  SERVE_PAGE,
		  SERVE_HEAD,
		  SERVE_BLOCKS,
		  SERVE_OVERVIEW,
		  SERVE_WINDOW,
		  SERVE_VERDICT,
		  SERVE_EVENT,
		  SERVE_EVENTS_LIST,
		  SERVE_SEARCH,
		  SERVE_WHATS,
};

/* HTTP status codes. */
enum {
	SERVE_OK = 200,
	SERVE_MOVED = 308, /* the request lacks the trailing slash of the page's address: redirect to it */
	SERVE_BAD = 400,
	SERVE_FORBIDDEN = 403,
	SERVE_ABSENT = 404,
	SERVE_METHOD = 405,
	SERVE_CHANGED = 409,
	SERVE_TOO_WIDE = 413,
	SERVE_TOO_LONG = 414,
	SERVE_BROKEN = 500,
	SERVE_BUSY = 503,
};

struct serve_request {
	enum serve_what what;
	uint64_t from, until; /* times in ns since the first event, both included */
	uint64_t limit;	      /* maximum number of events in the answer */
	uint64_t number;      /* number of a block */
	uint64_t ring, slot;  /* the two numbers that are the event's id */
	bool has_time;	      /* true if `time` is the time of the event that has this id */
	uint64_t time;
	char where[SERVE_WHERE + 1]; /* expression; "" if there is none */
};

/*
 * Parses the path and the query of a request, such as "/0123…/event?id=1.20". `token` has SERVE_TOKEN
 * characters. Returns SERVE_OK, or a status with a message in `why`. A request without the token gets
 * SERVE_ABSENT, as if its path did not exist.
 */
int serve_request_parse(struct serve_request *request, const char *target, size_t length, const char *token,
			char why[SERVE_WHY]);

/* Headers of a request. A member is NULL if there is no such header. */
struct serve_headers {
	unsigned hosts; /* number of Host headers */
	const char *host, *origin;
	const char *site, *mode; /* values of the headers Sec-Fetch-Site and Sec-Fetch-Mode */
	bool body;		 /* true if the request has a body */
};

/*
 * Checks the method and the headers of a request to the server at 127.0.0.1:`port`. Returns SERVE_OK, or a
 * status with a message in `why`. Refuses:
 * - methods other than GET and HEAD, and a body;
 * - a Host other than 127.0.0.1:PORT and localhost:PORT. A page of another server whose name an attacker
 *   lets resolve to 127.0.0.1 sends the attacker's name (DNS rebinding);
 * - requests that a page of another origin makes, except that it may open the page: then the token protects.
 */
int serve_request_check(const char *method, const struct serve_headers *headers, uint16_t port,
			char why[SERVE_WHY]);

#endif
