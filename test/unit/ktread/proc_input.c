/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the inputs of process traces: pipes, standard input, compressed files, and files that grow. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "unit/support/ktread_proc_support.h"

/* Starts a process that writes the bytes, `step` at a time, to a pipe. Returns the pipe's read end. */
static int pipe_of(const struct bytes *bytes, size_t step)
{
	int end[2];

	assert_int_equal(pipe(end), 0);
	if (fork() == 0) {
		for (size_t at = 0; at < bytes->size; at += step)
			if (write(end[1], bytes->data + at,
				  bytes->size - at < step ? bytes->size - at : step) < 0)
				_exit(1);
		_exit(0);
	}
	close(end[1]);
	return end[0];
}

static void same_as_golden(struct ktread_proc *trace, unsigned format)
{
	struct ktread_proc *golden = proc_open(proc_golden[format], KTREAD_PROC_AUTO);
	struct proc_outline expected, outline;

	proc_read_outline(golden, &expected);
	ktread_proc_close(golden);
	proc_read_outline(trace, &outline);
	assert_memory_equal(&outline, &expected, sizeof(outline));
}

static void pipe_is_read_as_the_file(void **state)
{
	(void)state;
	for (unsigned format = 0; format < PROC_FORMATS; format++) {
		struct ktread_proc *trace;
		struct bytes bytes = { 0 };
		char path[32];
		int end;

		proc_load(proc_golden[format], &bytes);
		end = pipe_of(&bytes, 1 + 12 * format);
		snprintf(path, sizeof(path), "/dev/fd/%d", end);
		trace = proc_open(path, KTREAD_PROC_AUTO);
		close(end);
		same_as_golden(trace, format);
		assert_int_equal(ktread_proc_rewind(trace), KTREAD_E_UNSUPPORTED);
		ktread_proc_close(trace);
		bytes_free(&bytes);
		wait(NULL);
	}
}

static void dash_reads_standard_input(void **state)
{
	int kept = dup(STDIN_FILENO), file = open(proc_golden[PUT_KTRX], O_RDONLY);
	struct ktread_proc *trace;

	(void)state;
	dup2(file, STDIN_FILENO);
	close(file);
	trace = proc_open("-", KTREAD_PROC_AUTO);
	same_as_golden(trace, PUT_KTRX);
	assert_int_equal(ktread_proc_rewind(trace), 0);
	same_as_golden(trace, PUT_KTRX);
	ktread_proc_close(trace);
	dup2(kept, STDIN_FILENO);
	close(kept);
}

/* Compresses the bytes as two zstd frames. */
static void pack(const struct bytes *bytes, struct bytes *packed)
{
	size_t half = bytes->size / 2, room = bytes->size + 1000;
	unsigned char *frame = malloc(room);
	ZSTD_CCtx *writer;

	assert_non_null(frame);
	writer = ZSTD_createCCtx();
	for (int i = 0; i < 2; i++) {
		size_t size = ZSTD_compress2(writer, frame, room, bytes->data + (i ? half : 0),
					     i ? bytes->size - half : half);

		assert_false(ZSTD_isError(size));
		bytes_append(packed, frame, size);
	}
	ZSTD_freeCCtx(writer);
	free(frame);
}

static void packed_trace_is_read_as_unpacked(void **state)
{
	(void)state;
	for (unsigned format = 0; format < PROC_FORMATS; format++) {
		struct bytes bytes = { 0 }, packed = { 0 };
		struct ktread_proc *trace;

		proc_load(proc_golden[format], &bytes);
		pack(&bytes, &packed);
		trace = proc_open(temporary_bytes(&packed), KTREAD_PROC_AUTO);
		same_as_golden(trace, format);
		assert_int_equal(ktread_proc_rewind(trace), 0);
		same_as_golden(trace, format);
		ktread_proc_close(trace);
		bytes_free(&bytes);
		bytes_free(&packed);
	}
}

/*
 * The compressed bytes are truncated or wrong. The reader returns the records that can be decompressed, and
 * then reports the error.
 */
static void cut_packed_trace_keeps_what_was_unpacked(void **state)
{
	struct bytes bytes = { 0 }, packed = { 0 };
	const struct ktread_proc_record *record;
	struct proc_outline outline;
	struct ktread_proc *trace;

	(void)state;
	proc_load(proc_golden[PUT_KTRX], &bytes);
	pack(&bytes, &packed);
	trace = proc_open(temporary(packed.data, packed.size - 1), KTREAD_PROC_AUTO);
	proc_read_outline(trace, &outline);
	ktread_proc_close(trace);
	assert_true(outline.records > 10);
	assert_int_equal(outline.errors, 1);
	assert_non_null(strstr(outline.last_error, "compressed file is cut short"));
	for (size_t size = 1; size < packed.size; size += 3) {
		if (ktread_proc_open(&trace, temporary(packed.data, size), NULL) < 0)
			continue;
		proc_read_outline(trace, &outline);
		assert_int_equal(outline.errors, 1);
		assert_int_equal(ktread_proc_next(trace, &record), 0);
		ktread_proc_close(trace);
	}
	for (size_t at = 4; at < packed.size; at++) {
		packed.data[at] ^= 0x55;
		if (ktread_proc_open(&trace, temporary_bytes(&packed), NULL) == 0) {
			proc_read_outline(trace, &outline);
			ktread_proc_close(trace);
		}
		packed.data[at] ^= 0x55;
	}
	bytes_free(&bytes);
	bytes_free(&packed);
}

/* A trace file that the test extends while the reader has it open. */
struct growing {
	char path[64];
	int descriptor;
	struct ktread_proc *trace;
};

static void begin_growing(struct growing *growing, enum ktread_proc_format format)
{
	const struct ktread_proc_options options = { .size = sizeof(options), .format = format, .follow = 1 };

	strcpy(growing->path, temporary("", 0));
	growing->descriptor = open(growing->path, O_WRONLY);
	if (ktread_proc_open(&growing->trace, growing->path, &options) < 0)
		fail_msg("%s", ktread_proc_message(NULL));
}

static void end_growing(struct growing *growing)
{
	ktread_proc_close(growing->trace);
	close(growing->descriptor);
}

/*
 * The file grows byte by byte. Each record is returned once, as soon as it is complete. An incomplete record
 * is not an error.
 */
static void growing_file_returns_each_record_once(void **state)
{
	(void)state;
	for (unsigned format = 0; format < PROC_FORMATS; format++) {
		struct ktread_proc *golden = proc_open(proc_golden[format], KTREAD_PROC_AUTO);
		const struct ktread_proc_record *record;
		struct bytes bytes = { 0 };
		struct proc_outline whole;
		struct growing growing;
		unsigned seen = 0;

		proc_read_outline(golden, &whole);
		ktread_proc_close(golden);
		proc_load(proc_golden[format], &bytes);
		begin_growing(&growing, KTREAD_PROC_AUTO);
		for (size_t at = 0; at < bytes.size; at++) {
			int status;

			assert_int_equal(write(growing.descriptor, bytes.data + at, 1), 1);
			while ((status = ktread_proc_next(growing.trace, &record)) > 0) {
				assert_int_equal(record->offset, whole.offset[seen]);
				assert_true(record->offset + record->payload_size < at + 1);
				seen++;
			}
			if (status < 0)
				fail_msg("%s", ktread_proc_message(growing.trace));
		}
		assert_int_equal(seen, whole.records);
		assert_int_equal(ktread_proc_info(growing.trace)->format, proc_format[format]);
		end_growing(&growing);
		bytes_free(&bytes);
	}
}

/* Damage in a growing file is reported once, when the reader has found its end. */
static void damage_in_a_growing_file_is_reported_once(void **state)
{
	const struct ktread_proc_record *record;
	struct bytes bytes = { 0 };
	struct growing growing;
	unsigned records = 0, errors = 0;

	(void)state;
	proc_load(PROC_FOLDER "bad/damaged.ktrace", &bytes);
	begin_growing(&growing, KTREAD_PROC_AUTO);
	for (size_t at = 0; at < bytes.size; at++) {
		int status;

		assert_int_equal(write(growing.descriptor, bytes.data + at, 1), 1);
		while ((status = ktread_proc_next(growing.trace, &record)) != 0) {
			records += status > 0;
			errors += status < 0;
		}
	}
	assert_true(records >= 10);
	assert_int_equal(errors, 4);
	end_growing(&growing);
	bytes_free(&bytes);
}

static void shrunk_file_is_an_error(void **state)
{
	const struct ktread_proc_record *record;
	struct bytes bytes = { 0 };
	struct growing growing;

	(void)state;
	proc_load(proc_golden[PUT_DRAGONFLY], &bytes);
	begin_growing(&growing, KTREAD_PROC_DRAGONFLY);
	assert_int_equal(write(growing.descriptor, bytes.data, bytes.size), bytes.size);
	while (ktread_proc_next(growing.trace, &record) > 0)
		;
	assert_int_equal(ftruncate(growing.descriptor, 10), 0);
	assert_int_equal(ktread_proc_next(growing.trace, &record), KTREAD_E_FORMAT);
	assert_non_null(strstr(ktread_proc_message(growing.trace), "became shorter"));
	assert_int_equal(ktread_proc_next(growing.trace, &record), 0);
	end_growing(&growing);
	bytes_free(&bytes);
}

/*
 * The disk is full, so the writer removes an incomplete record at the end of the file. Later it writes
 * another record there.
 */
static void removed_beginning_of_a_record_is_not_seen(void **state)
{
	const struct ktread_proc_record *record;
	struct growing growing;
	struct put put = put_trace(PUT_KTRX);
	size_t whole;

	(void)state;
	put_line(&put, 3, "/first");
	whole = put.bytes.size;
	put_line(&put, 3, "/taken back");
	begin_growing(&growing, KTREAD_PROC_AUTO);
	assert_int_equal(write(growing.descriptor, put.bytes.data, whole + 20), whole + 20);
	assert_int_equal(ktread_proc_next(growing.trace, &record), 1);
	assert_int_equal(ktread_proc_next(growing.trace, &record), 0);
	assert_int_equal(ftruncate(growing.descriptor, (off_t)whole), 0);
	assert_int_equal(ktread_proc_next(growing.trace, &record), 0);
	assert_int_equal(ktread_proc_info(growing.trace)->over, 0);
	put.bytes.size = whole;
	put_line(&put, 7, "another one");
	assert_int_equal(
		pwrite(growing.descriptor, put.bytes.data + whole, put.bytes.size - whole, (off_t)whole),
		put.bytes.size - whole);
	assert_int_equal(ktread_proc_next(growing.trace, &record), 1);
	assert_int_equal(record->type, KTRX_PROC_USER);
	assert_int_equal(record->offset, whole);
	end_growing(&growing);
	bytes_free(&put.bytes);
}

/*
 * The reader never waits when it follows a pipe. The trace ends when no process has the pipe open for
 * writing.
 */
static void followed_pipe_is_over_when_closed(void **state)
{
	const struct ktread_proc_options options = { .size = sizeof(options), .follow = 1 };
	const struct ktread_proc_record *record;
	struct bytes bytes = { 0 };
	struct ktread_proc *trace;
	unsigned records = 0;
	char path[32];
	int end[2];

	(void)state;
	proc_load(proc_golden[PUT_DRAGONFLY], &bytes);
	assert_int_equal(pipe(end), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", end[0]);
	assert_int_equal(ktread_proc_open(&trace, path, &options), 0);
	close(end[0]);
	for (size_t at = 0; at < bytes.size; at += 50) {
		size_t step = bytes.size - at < 50 ? bytes.size - at : 50;

		assert_int_equal(write(end[1], bytes.data + at, step), step);
		while (ktread_proc_next(trace, &record) > 0)
			records++;
		assert_int_equal(ktread_proc_info(trace)->over, 0);
	}
	assert_int_equal(records, 34);
	assert_int_equal(write(end[1], bytes.data, 10), 10);
	close(end[1]);
	assert_int_equal(ktread_proc_next(trace, &record), KTREAD_E_FORMAT);
	assert_int_equal(ktread_proc_next(trace, &record), 0);
	assert_int_equal(ktread_proc_info(trace)->over, 1);
	ktread_proc_close(trace);
	bytes_free(&bytes);
}

static void growing_packed_file_returns_all_records(void **state)
{
	const struct ktread_proc_record *record;
	struct bytes bytes = { 0 }, packed = { 0 };
	struct growing growing;
	unsigned records = 0;

	(void)state;
	proc_load(proc_golden[PUT_KTRX], &bytes);
	pack(&bytes, &packed);
	begin_growing(&growing, KTREAD_PROC_AUTO);
	for (size_t at = 0; at < packed.size; at++) {
		int status;

		assert_int_equal(write(growing.descriptor, packed.data + at, 1), 1);
		while ((status = ktread_proc_next(growing.trace, &record)) > 0)
			records++;
		assert_int_equal(status, 0);
	}
	assert_int_equal(records, 47);
	end_growing(&growing);
	bytes_free(&bytes);
	bytes_free(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipe_is_read_as_the_file),
		cmocka_unit_test(dash_reads_standard_input),
		cmocka_unit_test(packed_trace_is_read_as_unpacked),
		cmocka_unit_test(cut_packed_trace_keeps_what_was_unpacked),
		cmocka_unit_test(growing_file_returns_each_record_once),
		cmocka_unit_test(damage_in_a_growing_file_is_reported_once),
		cmocka_unit_test(shrunk_file_is_an_error),
		cmocka_unit_test(removed_beginning_of_a_record_is_not_seen),
		cmocka_unit_test(followed_pipe_is_over_when_closed),
		cmocka_unit_test(growing_packed_file_returns_all_records),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
