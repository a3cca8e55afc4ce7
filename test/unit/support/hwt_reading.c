/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/hwt_reading.h"

struct reading read_file(struct hwt_file_writer *writer)
{
	struct reading reading = { .file = NULL };

	file_end(writer, reading.path);
	if (hwt_file_open(&reading.file, reading.path) != 0)
		fail_msg("%s", hwt_file_message(NULL));
	assert_int_equal(hwt_images_new(&reading.images, reading.file, NULL), 0);
	return reading;
}

void open_stream(struct reading *reading, size_t n)
{
	assert_int_equal(hwt_decoder_open(&reading->decoder, reading->file, n, reading->images), 0);
}

void end(struct reading *reading)
{
	const struct hwt_step *step;

	if (reading->decoder)
		assert_int_equal(hwt_decoder_next(reading->decoder, &step), 0);
	hwt_decoder_close(reading->decoder);
	hwt_images_free(reading->images);
	hwt_file_close(reading->file);
	unlink(reading->path);
}

const struct hwt_step *next(struct reading *reading, enum hwt_kind kind)
{
	const struct hwt_step *step;

	assert_int_equal(hwt_decoder_next(reading->decoder, &step), 1);
	if (step->kind != kind)
		fail_msg("step of kind %u, not %u, at %#lx: %s", step->kind, kind,
			 (unsigned long)step->address, step->text ? step->text : "");
	return step;
}

const struct hwt_step *next_run(struct reading *reading, uint64_t address, uint64_t end_at,
				enum hwt_branch branch, uint64_t to)
{
	const struct hwt_step *step = next(reading, HWT_RUN);

	assert_int_equal(step->address, address);
	assert_int_equal(step->end, end_at);
	assert_int_equal(step->branch, branch);
	assert_int_equal(step->has_to, to != 0);
	assert_int_equal(step->to, to);
	return step;
}

const struct hwt_step *next_gap(struct reading *reading, const char *text)
{
	const struct hwt_step *step = next(reading, HWT_GAP);

	assert_non_null(step->text);
	if (!strstr(step->text, text))
		fail_msg("the text of a gap is \"%s\", not \"%s\"", step->text, text);
	return step;
}
