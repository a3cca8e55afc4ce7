/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes a sink's ring to its file. The file always consists of whole records; at its end there may be the
 * beginning of one more record. If the kernel can truncate the file, that beginning is removed; otherwise the
 * next write completes the record.
 */
#include "proc.h"

#include "ktrace/event.h"

KTRACE_EVENT(proc, sink, "%p ended: %s, error %d, %llu records, %llu lost, %llu bytes", (const void *, sink),
	     (const char *, reason), (int, error), (unsigned long long, records), (unsigned long long, lost),
	     (unsigned long long, bytes));

/* Writes to the file. Returns the number of bytes written. */
static size_t write_some(struct ktrace_proc_sink *sink, const uint8_t *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		int64_t wrote = sink->operations->write(sink, data + done, size - done);

		if (wrote <= 0) {
			sink->error = (int32_t)-wrote;
			break;
		}
		done += (uint64_t)wrote < size - done ? (size_t)wrote : size - done;
	}
	sink->bytes += done;
	return done;
}

int ktrace_proc_take_back(struct ktrace_proc_sink *sink, uint64_t bytes)
{
	if (bytes == 0)
		return 1;
	if (!sink->operations->truncate || sink->operations->truncate(sink, bytes) < 0)
		return 0;
	sink->bytes -= bytes;
	return 1;
}

int ktrace_proc_write(struct ktrace_proc_sink *sink, const void *data, size_t size)
{
	size_t done = write_some(sink, data, size);

	if (done == size)
		return 1;
	ktrace_proc_take_back(sink, done);
	return 0;
}

/*
 * Call it after the first `bytes` waiting bytes were written to the file. Removes from the ring all records
 * that were written completely.
 */
static void consume_whole(struct ktrace_proc_sink *sink, uint32_t bytes)
{
	uint32_t whole = 0;

	for (;;) {
		uint32_t size = ktrace_proc_record_size(sink, sink->tail + whole);

		if (size > bytes - whole)
			break;
		whole += size;
	}
	ktrace_proc_consume(sink, whole);
	sink->torn = bytes - whole;
}

/* Writes waiting records. Returns nonzero if no record waits any more. */
static int write_waiting(struct ktrace_proc_sink *sink)
{
	for (;;) {
		unsigned long saved = ktrace_proc_lock();
		uint32_t size = ktrace_proc_piece(sink), from = sink->tail, done;

		ktrace_proc_unlock(saved);
		if (size == 0)
			return 1;
		done = sink->torn +
		       (uint32_t)write_some(sink, sink->ring + from + sink->torn, size - sink->torn);
		saved = ktrace_proc_lock();
		if (done == size) {
			ktrace_proc_consume(sink, size);
			sink->torn = 0;
		} else {
			consume_whole(sink, done);
		}
		ktrace_proc_unlock(saved);
		if (done != size)
			return 0;
	}
}

/* Counts waiting records as lost, and, if possible, removes an incomplete record from the end of the file. */
static void discard(struct ktrace_proc_sink *sink)
{
	unsigned long saved = ktrace_proc_lock();
	uint32_t size;

	while ((size = ktrace_proc_piece(sink)) > 0) {
		for (uint32_t end = sink->tail + size, at = sink->tail; at < end;
		     at += ktrace_proc_record_size(sink, at)) {
			ktrace_proc_lose(sink);
			sink->records--;
		}
		ktrace_proc_consume(sink, size);
	}
	ktrace_proc_unlock(saved);
	if (ktrace_proc_take_back(sink, sink->torn))
		sink->torn = 0;
}

static const char *reason_text(uint32_t reason)
{
	if (reason == KTRX_PROC_ENDED_LIMIT)
		return "limit";
	return reason == KTRX_PROC_ENDED_ERROR ? "error" : "closed";
}

/* Writes the END record, unless the file ends with an incomplete record. */
static void write_end(struct ktrace_proc_sink *sink)
{
	struct {
		struct ktrx_proc_record head;
		struct ktrx_proc_end end;
	} last;
	int32_t error = sink->error;

	if (sink->format != KTRACE_PROC_FORMAT_KTRX || sink->torn)
		return;
	last.head.size = sizeof(last.end);
	last.head.type = KTRX_PROC_END;
	last.head.flags = 0;
	last.head.stamp = ktrace_arch_clock();
	last.head.pid = 0;
	last.head.tid = 0;
	last.head.cpu = KTRX_PROC_NO_CPU;
	last.head.mark = KTRX_PROC_MARK;
	last.head.lost = sink->lost_now;
	last.end.reason = sink->reason;
	last.end.error = error;
	last.end.records = sink->records;
	last.end.lost = sink->lost;
	last.end.bytes = sink->bytes;
	ktrace_proc_write(sink, &last, sizeof(last));
	if (error)
		/* restores the error that ended the sink, because the write may have replaced it */
		sink->error = error;
}

/* Reports the end of a sink, once. */
static void finish(struct ktrace_proc_sink *sink)
{
	if (sink->end_recorded)
		return;
	sink->end_recorded = 1;
	write_end(sink);
	KTRACE(proc, sink, sink, reason_text(sink->reason), sink->error, sink->records, sink->lost,
	       sink->bytes);
}

void ktrace_proc_drain_locked(struct ktrace_proc_sink *sink)
{
	if (!write_waiting(sink) &&
	    (sink->on_error != KTRACE_PROC_RETRY || sink->state != KTRACE_PROC_SINK_OPEN)) {
		unsigned long saved = ktrace_proc_lock();

		ktrace_proc_end(sink, KTRX_PROC_ENDED_ERROR);
		ktrace_proc_unlock(saved);
		discard(sink);
	}
	if (sink->state == KTRACE_PROC_SINK_ENDED)
		finish(sink);
}

void ktrace_proc_drain_after(struct ktrace_proc_sink *sink)
{
	if (sink->state == KTRACE_PROC_SINK_ENDED && !sink->cleared)
		ktrace_proc_forget_all(sink);
}

void ktrace_proc_drain(struct ktrace_proc_sink *sink, struct ktrace_proc_thread *thread)
{
	ktrace_proc_enter(thread);
	sink->operations->lock(sink);
	ktrace_proc_drain_locked(sink);
	sink->operations->unlock(sink);
	ktrace_proc_drain_after(sink);
	ktrace_proc_leave(thread);
}
