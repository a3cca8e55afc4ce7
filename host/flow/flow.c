/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Opens recordings, reads the selected steps of their streams, and finds the addresses of a function. */
#include "flow/flow.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/index.h"
#include "ktread/ktread.h"

/*
 * number of steps at the beginning of a stream in which a timestamp is searched for; units write the time
 * wherever decoding can begin
 */
#define LOOK_FOR_STAMP 65536u

struct flow_reader {
	struct flow *flow;
	struct hwt_decoder *decoder;
	const struct hwt_stream *stream;
	/*
	 * Two ranges of offsets. The losses from `done_from` to `done_to` have been counted already. The
	 * bytes from `from` to `to` were read since the last seek.
	 */
	uint64_t done_from, done_to, from, to;
};

/* Text of this thread's last error. */
static _Thread_local char message[512];

static int fail(int status, const char *text)
{
	snprintf(message, sizeof(message), "%s", text ? text : "out of memory");
	return status;
}

const char *flow_message(void)
{
	return message;
}

int flow_open(struct flow **flow, const char *path, const char *root)
{
	struct flow *f = calloc(1, sizeof(*f));
	int status = f ? hwt_file_open(&f->file, path) : KTREAD_E_MEMORY;

	*flow = NULL;
	if (status < 0) {
		fail(status, f ? hwt_file_message(f->file) : NULL);
		flow_close(f);
		return status;
	}
	status = hwt_images_new(&f->images, f->file, root);
	if (status < 0)
		fail(status, hwt_images_message(f->images));
	else
		status = flow_functions_new(&f->functions, f->images);
	if (status < 0) {
		flow_close(f);
		return status;
	}
	f->frequency = hwt_file_frequency(f->file);
	*flow = f;
	return 0;
}

void flow_close(struct flow *flow)
{
	if (!flow)
		return;
	flow_functions_free(flow->functions);
	hwt_images_free(flow->images);
	hwt_file_close(flow->file);
	free(flow->range);
	free(flow);
}

uint32_t flow_stream_id(const struct hwt_stream *stream)
{
	return stream->context.mode == KTRX_HWT_MODE_THREAD ? stream->unit : stream->cpu;
}

int flow_address(const struct hwt_step *step, uint64_t *address)
{
	*address = step->kind == HWT_SAMPLE ? step->sample->pc : step->address;
	return step->kind == HWT_RUN || step->kind == HWT_ASYNC ||
	       ((step->kind == HWT_ON || step->kind == HWT_OFF || step->kind == HWT_GAP ||
		 step->kind == HWT_NOTE || step->kind == HWT_OVERFLOW) &&
		step->has_address) ||
	       (step->kind == HWT_SAMPLE && step->sample->has >> HWT_SAMPLE_PC & 1);
}

void flow_count_stream(struct flow *flow, const struct hwt_stream *stream)
{
	flow->loss.missing += stream->missing;
	flow->loss.packets += stream->lost;
}

int flow_wants_stream(const struct flow *flow, const struct hwt_stream *stream)
{
	const struct flow_select *want = &flow->select;

	if (want->one_backend && want->backend != stream->context.backend)
		return 0;
	if (stream->context.mode == KTRX_HWT_MODE_THREAD)
		return !want->cpus && (!want->one_thread || want->thread == stream->unit) &&
		       (!want->one_process || want->pid == stream->pid);
	return !want->one_thread && (!want->cpus || (stream->cpu < want->cpu_count &&
						     want->cpus[stream->cpu / 8] >> stream->cpu % 8 & 1));
}

/* Finds the first timestamp of a stream; 0 if there is none near its beginning. */
static int find_first(struct flow *flow, size_t stream, uint64_t *stamp)
{
	const struct hwt_step *step;
	struct flow_reader *reader;
	int status = flow_reader_open(&reader, flow, stream);

	*stamp = 0;
	for (unsigned steps = 0; status >= 0 && steps < LOOK_FOR_STAMP; steps++) {
		status = hwt_decoder_next(reader->decoder, &step);
		if (status > 0 && step->has_stamp)
			*stamp = step->stamp;
		if (status == 0 || *stamp)
			break;
	}
	if (status < 0 && reader)
		fail(status, hwt_decoder_message(reader->decoder));
	flow_reader_close(reader);
	return status < 0 ? status : 0;
}

int flow_find_base(struct flow *flow)
{
	for (size_t n = 0; n < hwt_file_streams(flow->file); n++) {
		uint64_t stamp;
		int status = find_first(flow, n, &stamp);

		if (status < 0)
			return status;
		if (stamp && (flow->base == 0 || stamp < flow->base))
			flow->base = stamp;
	}
	return 0;
}

/* ---- Reading one stream ------------------------------------------------------------------------ */

int flow_reader_open(struct flow_reader **reader, struct flow *flow, size_t stream)
{
	struct flow_reader *r = calloc(1, sizeof(*r));
	int status;

	*reader = NULL;
	if (!r)
		return fail(KTREAD_E_MEMORY, NULL);
	r->flow = flow;
	r->stream = hwt_file_stream(flow->file, stream);
	status = hwt_decoder_open(&r->decoder, flow->file, stream, flow->images);
	if (status < 0) {
		fail(status, hwt_decoder_message(r->decoder));
		flow_reader_close(r);
		return status;
	}
	*reader = r;
	return 0;
}

void flow_reader_close(struct flow_reader *reader)
{
	if (!reader)
		return;
	hwt_decoder_close(reader->decoder);
	free(reader);
}

int flow_reader_seek(struct flow_reader *reader, uint64_t offset)
{
	int status = hwt_decoder_seek(reader->decoder, offset);

	if (reader->from < reader->to) {
		if (reader->done_from == reader->done_to || reader->from < reader->done_from)
			reader->done_from = reader->from;
		if (reader->to > reader->done_to)
			reader->done_to = reader->to;
	}
	reader->from = reader->to = 0;
	return status < 0 ? fail(status, hwt_decoder_message(reader->decoder)) : status;
}

static void count_loss(struct flow_reader *reader, const struct hwt_step *step)
{
	struct flow_loss *loss = &reader->flow->loss;

	if (reader->from == reader->to)
		reader->from = step->offset;
	reader->to = step->offset + 1;
	if (step->offset >= reader->done_from && step->offset < reader->done_to)
		return;
	if (step->kind == HWT_OVERFLOW)
		loss->overflows++;
	else if (step->kind == HWT_GAP)
		*(step->gap == HWT_GAP_DAMAGED	    ? &loss->damaged
		  : step->gap == HWT_GAP_CODE	    ? &loss->codeless
		  : step->gap == HWT_GAP_UNREAD	    ? &loss->unread
		  : step->gap == HWT_GAP_OTHER_CODE ? &loss->other
						    : &loss->gaps) += 1;
}

static int is_loss(const struct hwt_step *step)
{
	return step->kind == HWT_GAP || step->kind == HWT_OVERFLOW;
}

/*
 * Returns true if a step is selected. Losses are selected regardless of address and process, but not of time.
 */
static int wants_step(const struct flow_reader *reader, const struct hwt_step *step)
{
	const struct flow_select *want = &reader->flow->select;
	uint64_t address;

	if (step->has_stamp && (step->stamp < want->from || (want->to && step->stamp > want->to)))
		return 0;
	if (is_loss(step))
		return 1;
	if (want->one_process && step->pid != want->pid)
		return 0;
	return !want->ranges ||
	       (flow_address(step, &address) && flow_range_find(want->range, want->ranges, address) != NULL);
}

int flow_reader_next(struct flow_reader *reader, const struct hwt_step **step)
{
	int status;

	while ((status = hwt_decoder_next(reader->decoder, step)) > 0) {
		const struct hwt_step *s = *step;

		if (reader->flow->select.to && s->has_stamp && s->stamp > reader->flow->select.to)
			return 0;
		reader->flow->names_processes |= s->pid != 0;
		if (!wants_step(reader, s))
			continue;
		count_loss(reader, s);
		reader->flow->wanted += !is_loss(s);
		return 1;
	}
	return status < 0 ? fail(status, hwt_decoder_message(reader->decoder)) : 0;
}

/* ---- Reading all streams ----------------------------------------------------------------------- */

/*
 * Returns the status of a view. If the status is an error, sets the message: the only possible error is lack
 * of memory.
 */
static int view_status(int status)
{
	return status < 0 ? fail(status, NULL) : status;
}

static int walk_stream(struct flow *flow, size_t stream, const struct flow_view *view, void *to)
{
	const struct hwt_stream *about = hwt_file_stream(flow->file, stream);
	const struct hwt_step *step;
	struct flow_reader *reader;
	int status = flow_reader_open(&reader, flow, stream), ended;

	if (status == 0 && view->begin)
		status = view_status(view->begin(to, about));
	while (status == 0 && (status = flow_reader_next(reader, &step)) > 0)
		status = view_status(view->step(to, step));
	ended = reader && view->end ? view_status(view->end(to)) : 0;
	flow_reader_close(reader);
	flow_count_stream(flow, about);
	return status ? status : ended;
}

int flow_walk(struct flow *flow, const struct flow_view *view, void *to)
{
	int status = 0;

	for (size_t n = 0; n < hwt_file_streams(flow->file) && status == 0; n++)
		if (flow_wants_stream(flow, hwt_file_stream(flow->file, n)))
			status = walk_stream(flow, n, view, to);
	return status;
}

/* ---- The addresses of a function: one, or several if a program ran in several processes ---- */

static int compare(const void *left, const void *right)
{
	const struct flow_range *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

int flow_find_function(struct flow *flow, const char *image, const char *function, struct flow_range **range,
		       size_t *ranges)
{
	struct flow_range *grown;
	uint64_t address, size;
	uint32_t room = 0;

	*range = NULL;
	*ranges = 0;
	while (hwt_images_find(flow->images, image, function, *ranges, &address, &size) == 0) {
		grown = base_grow(*range, &room, *ranges + 1, sizeof(*grown));
		if (!grown) {
			free(*range);
			*range = NULL;
			return KTREAD_E_MEMORY;
		}
		*range = grown;
		grown[(*ranges)++] = (struct flow_range){ address, address + (size ? size : 1) };
	}
	if (*ranges == 0)
		return KTREAD_E_ABSENT;
	qsort(*range, *ranges, sizeof(**range), compare);
	return 0;
}

int flow_select_function(struct flow *flow, const char *image, const char *function)
{
	struct flow_range *range;
	size_t ranges;
	int status = flow_find_function(flow, image, function, &range, &ranges);

	if (status < 0)
		return status;
	free(flow->range);
	flow->select.range = flow->range = range;
	flow->select.ranges = ranges;
	return 0;
}

const struct flow_range *flow_range_find(const struct flow_range *range, size_t ranges, uint64_t address)
{
	const size_t n =
		base_count_up_to(range, ranges, sizeof(*range), offsetof(struct flow_range, begin), address);

	return n && address < range[n - 1].end ? &range[n - 1] : NULL;
}
