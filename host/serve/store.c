/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The page and its data, in memory. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "page/page.h"
#include "serve/answers.h"
#include "serve/server.h"

#define BYTES_MOST ((size_t)1 << 30)

int serve_store_start(struct serve_server *server)
{
	server->store.job.descriptor = -1;
	server->page = serve_constant(page_template, page_template_size, SERVE_HTML);
	return server->page ? serve_job_start(&server->store.job, server->options->name, serve_build,
					      &server->source, NULL)
			    : ENOMEM;
}

/* Removes the page's data from the store. */
static void empty(struct serve_store *store)
{
	serve_job_free(&store->job);
	for (uint32_t n = 0; n < store->blocks; n++)
		MHD_destroy_response(store->block[n]);
	free(store->block);
	if (store->overview)
		MHD_destroy_response(store->overview);
	if (store->head)
		MHD_destroy_response(store->head);
	*store = (struct serve_store){ .job = { .descriptor = -1 }, .done = true, .reading = store->reading };
}

void serve_store_free(struct serve_server *server)
{
	empty(&server->store);
	if (server->page)
		MHD_destroy_response(server->page);
	server->page = NULL;
}

/* Makes the data again from everything that the guest has recorded so far. */
static void renew(struct serve_server *server)
{
	struct serve_store *store = &server->store;
	int error;

	empty(store);
	store->reading++;
	error = serve_job_start(&store->job, server->options->name, serve_build, &server->source, NULL);
	store->done = error != 0;
	if (error)
		snprintf(store->error, sizeof(store->error), "%s", strerror(error));
}

/* Ends the process. `why`: the reason why it has not made all data; NULL: it has made all data. */
static void end(struct serve_server *server, bool closed, const char *why)
{
	struct serve_store *store = &server->store;

	if (!serve_job_end(&store->job, closed) && !why && !store->error[0])
		why = "the data of the page could not be made";
	if (why)
		snprintf(store->error, sizeof(store->error), "%s", why);
	if (store->error[0])
		fprintf(stderr, "%s: %s: %s\n", server->options->name, server->options->path, store->error);
	store->done = true;
	serve_job_free(&store->job);
}

/* Adds the number of the reading to a response. Data with the same number belongs together. */
static struct MHD_Response *number(const struct serve_store *store, struct MHD_Response *response)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, store->reading);
	if (response)
		MHD_add_response_header(response, "Ktrace-Reading", text);
	return response;
}

static struct MHD_Response *copy(const struct serve_store *store, const unsigned char *bytes, size_t size,
				 enum serve_kind kind)
{
	unsigned char *own = malloc(size + 1);

	if (!own)
		return NULL;
	memcpy(own, bytes, size);
	return number(store, serve_response(own, 0, size, kind));
}

/* Processes a frame. Returns NULL, or the reason why it is the last frame. */
static const char *take(struct serve_server *server, const struct serve_frame *frame,
			const unsigned char *bytes)
{
	struct serve_store *store = &server->store;
	struct MHD_Response **larger;

	store->bytes += frame->size;
	if (store->bytes > BYTES_MOST)
		return "the data of the page has more than 1 GB";
	switch (frame->kind) {
	case SERVE_FRAME_ZERO:
		memcpy(&server->source.zero, bytes, sizeof(server->source.zero));
		return NULL;
	case SERVE_FRAME_HEAD:
		store->head = copy(store, bytes, frame->size, SERVE_JSON);
		return store->head ? NULL : "out of memory";
	case SERVE_FRAME_OVERVIEW:
		store->overview = copy(store, bytes, frame->size, SERVE_BYTES);
		return store->overview ? NULL : "out of memory";
	case SERVE_FRAME_BLOCK:
		larger = base_grow(store->block, &store->room, (size_t)store->blocks + 1, sizeof(*larger));
		if (larger)
			store->block = larger;
		if (larger && (larger[store->blocks] = copy(store, bytes, frame->size, SERVE_BYTES))) {
			store->blocks++;
			return NULL;
		}
		return "out of memory";
	default:
		snprintf(store->error, sizeof(store->error), "%.*s", (int)frame->size, (const char *)bytes);
		return NULL;
	}
}

void serve_store_step(struct serve_server *server)
{
	struct serve_store *store = &server->store;
	struct serve_frame frame;
	const char *why = NULL;
	size_t at = 0;
	bool closed;

	if (store->job.pid <= 0)
		return;
	closed = serve_job_read(&store->job);
	while (!why && store->job.length - at >= sizeof(frame)) {
		memcpy(&frame, store->job.bytes + at, sizeof(frame));
		if (store->job.length - at - sizeof(frame) < frame.size)
			break;
		why = take(server, &frame, store->job.bytes + at + sizeof(frame));
		at += sizeof(frame) + frame.size;
	}
	serve_job_drop(&store->job, at);
	if (closed || why)
		end(server, closed && !why, why);
}

/* Answers a call with a response from the store. */
static bool give(struct serve_call *call, struct MHD_Response *response)
{
	call->is_shared = true;
	call->response = response;
	call->status = SERVE_OK;
	return true;
}

bool serve_store_answer(struct serve_server *server, struct serve_call *call)
{
	struct serve_store *store = &server->store;
	const struct serve_request *request = &call->request;

	if (request->what == SERVE_PAGE) {
		if (server->options->live && store->done)
			renew(server);
		return give(call, server->page);
	}
	if (request->what == SERVE_HEAD && store->head)
		return give(call, store->head);
	if (request->what == SERVE_OVERVIEW && store->overview)
		return give(call, store->overview);
	if (request->what == SERVE_BLOCKS && request->number < store->blocks)
		return give(call, store->block[request->number]);
	if (!store->done)
		return false;
	call->status = store->error[0] ? SERVE_BROKEN : SERVE_ABSENT;
	call->response =
		number(store, serve_refusal(store->error[0] ? store->error : "the page has no such data"));
	return true;
}
