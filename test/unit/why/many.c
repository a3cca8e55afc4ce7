/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Runs `ktrace why` on traces with 100000 threads, far more than `ktrace why` can store: in events and in
 * table rows. The threads are in all states that detectors look for. Checks that memory and the number of
 * lookups are bounded. The linker option --wrap lets the test count both.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/keyed.h"
#include "unit/support/ktread_support.h"
#include "unit/support/ktread_writer.h"
#include "why/report.h"

#define THREADS	     100000u
#define CPUS	     4u
#define JSON_EACH    (32u << 10) /* maximum number of bytes of JSON for each CPU, thread and finding */
#define SHIFT	     18u
#define MEMORY_MOST  (UINT64_C(192) << 20)
#define LOOKUPS_EACH 64u /* maximum number of lookups per event and per table row */
#define TICK	     UINT64_C(10000)
#define WAIT	     UINT64_C(2000000000) /* number of ticks from the last event to the end of the trace */

enum { SWITCH = 1, BLOCK, WAKE, CONTEND, ACQUIRE, RELEASE, IRQ };

static uint64_t now_used, most_used, lookups;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);

static void *take(void *memory)
{
	now_used += memory ? malloc_usable_size(memory) : 0;
	if (now_used > most_used)
		most_used = now_used;
	return memory;
}

static void give(void *memory)
{
	now_used -= memory ? malloc_usable_size(memory) : 0;
}

void *__wrap_malloc(size_t size)
{
	return take(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
	return take(__real_calloc(count, size));
}

/*
 * Counts the old and the new memory together in `most_used`, because both may exist at the same time during
 * realloc().
 */
void *__wrap_realloc(void *old, size_t size)
{
	uint64_t before = old ? malloc_usable_size(old) : 0;
	void *grown = take(__real_realloc(old, size));

	now_used -= grown || size == 0 ? before : 0;
	return grown;
}

void __wrap_free(void *old)
{
	give(old);
	__real_free(old);
}

struct keyed;
struct keyed_entry *__real_keyed_find(const struct keyed *table, const uint64_t *key);
struct keyed_entry *__wrap_keyed_find(const struct keyed *table, const uint64_t *key);

struct keyed_entry *__wrap_keyed_find(const struct keyed *table, const uint64_t *key)
{
	lookups++;
	return __real_keyed_find(table, key);
}

/* ---- The trace ----------------------------------------------------------------------------------- */

static void declare(struct writer *writer)
{
	static const uint8_t two[] = { KTRX_TYPE_U64, KTRX_TYPE_U64, 0 };
#define DECLARE(strings) writer_event(writer, two, strings, sizeof(strings))
	DECLARE("sched\0switch\0%u %u\0a.c\0prev\0\0next\0");
	DECLARE("sched\0block\0%u %u\0a.c\0queue\0\0kind\0");
	DECLARE("sched\0wake\0%u %u\0a.c\0thread\0\0by\0");
	DECLARE("lock\0contend\0%u %u\0a.c\0lock\0\0n\0");
	DECLARE("lock\0acquire\0%u %u\0a.c\0lock\0\0place\0");
	DECLARE("lock\0release\0%u %u\0a.c\0lock\0\0n\0");
	DECLARE("irq\0enter\0%u %u\0a.c\0irq\0\0ip\0");
#undef DECLARE
}

static void put(struct writer *writer, uint32_t cpu, uint64_t *stamp, uint32_t id, uint32_t thread,
		uint64_t one, uint64_t other)
{
	const uint64_t payload[] = { one, other };

	*stamp += TICK;
	writer_record(writer, cpu + 1, *stamp, id, thread, payload, sizeof(payload));
}

/*
 * Each thread wakes its neighbour. It takes its lock and its neighbour's lock, waits for a third lock, and
 * sleeps on a queue.
 */
static uint64_t put_events(struct writer *writer)
{
	uint64_t stamp = TICK;

	for (uint32_t n = 2; n < THREADS; n++) {
		const uint32_t cpu = n % CPUS;

		put(writer, cpu, &stamp, SWITCH, n - 1, n - 1, n);
		put(writer, cpu, &stamp, WAKE, n, n - 1, n);
		put(writer, cpu, &stamp, ACQUIRE, n, 0x1000 + 8 * n, 0x500);
		put(writer, cpu, &stamp, ACQUIRE, n, 0x1000 + 8 * (n ^ 1), 0x600);
		put(writer, cpu, &stamp, RELEASE, n, 0x1000 + 8 * (n ^ 1), 0);
		put(writer, cpu, &stamp, CONTEND, n, 0x1000 + 8 * (n - 1), 0);
		put(writer, cpu, &stamp, IRQ, n, 32, 0x500);
		put(writer, cpu, &stamp, BLOCK, n, 0x9000000 + 8 * n, KTRX_WAIT_EVENT);
	}
	return stamp;
}

static void put_rows(struct writer *writer, uint64_t end)
{
	for (uint32_t n = 0; n < CPUS; n++) {
		const struct ktrx_cpu cpu = { .heartbeats = 1000,
					      .heartbeat_stamp = end + WAIT,
					      .now = end + WAIT,
					      .online = 1,
					      .mode = KTRX_MODE_KERNEL,
					      .interrupts = KTRX_INTERRUPTS_OFF,
					      .hooks = (uint8_t)WHY_ALL_HOOKS,
					      .thread = 2 + n };

		bytes_append(&writer->cpus, &cpu, sizeof(cpu));
	}
	for (uint32_t n = 2; n < THREADS; n++) {
		struct ktrx_holder row = { .id = n + 1,
					   .state = n == 2  ? KTRX_THREAD_RUNNING
						    : n % 8 ? KTRX_THREAD_WAITING
							    : KTRX_THREAD_RUNNABLE,
					   .wait = n % 3 == 1 ? KTRX_WAIT_LOCK : KTRX_WAIT_EVENT,
					   .priority = (uint8_t)(n == 2 ? 200 : 1 + n % 100),
					   .held_count = 1,
					   .cause = KTRX_CAUSE_WAKE,
					   .state_stamp = end,
					   .wait_stamp = 1,
					   .cpu = 0,
					   .owner = n };

		row.object = row.wait == KTRX_WAIT_LOCK ? 0x1000 + 8 * (n - 1) : 0x9000000 + 8 * n;
		row.held[0].object = 0x1000 + 8 * n;
		memcpy(row.object_name, "many", 4);
		bytes_append(&writer->holders, &row, sizeof(row));
	}
}

static const char *write_trace(void)
{
	struct bytes dump = { 0 };
	struct writer writer;
	const char *path;

	writer_open(&writer, CPUS + 1, SHIFT);
	declare(&writer);
	put_rows(&writer, put_events(&writer));
	writer_dump(&writer, &dump);
	path = temporary_bytes(&dump);
	bytes_free(&dump);
	writer_close(&writer);
	return path;
}

static void report(const struct why_evidence *evidence, const struct why_findings *findings)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct base_output out;

	assert_int_equal(base_output_open(&out, fd), 0);
	why_report(&out, evidence, findings, &(struct why_style){ .all = true });
	base_output_close(&out);
	close(fd);
}

/* Returns the number of bytes of the JSON. */
static off_t json_size(const struct why_evidence *evidence, const struct why_findings *findings)
{
	int fd = memfd_create("json", MFD_CLOEXEC);
	struct base_output out;
	off_t size;

	assert_int_equal(base_output_open(&out, fd), 0);
	why_report_json(&out, evidence, findings);
	assert_int_equal(base_output_close(&out), 0);
	size = lseek(fd, 0, SEEK_CUR);
	close(fd);
	return size;
}

/* Reads the trace and runs all detectors. Calls `examine`, which checks the findings. */
static void explain(const char *path, uint64_t rows,
		    void (*examine)(const struct why_evidence *evidence, const struct why_findings *findings))
{
	struct why_evidence *evidence;
	struct why_findings *findings;
	struct ktread *trace = open_ok(path, NULL);
	uint64_t before;

	before = most_used = now_used;
	lookups = 0;
	assert_int_equal(why_evidence_read(&evidence, trace, NULL), 0);
	assert_int_equal(why_find(&findings, evidence), 0);
	report(evidence, findings);
	assert_in_range(json_size(evidence, findings), 1,
			(evidence->cpus + evidence->threads + WHY_FINDINGS) * JSON_EACH);
	examine(evidence, findings);
	if (most_used - before > MEMORY_MOST)
		fail_msg("%" PRIu64 " MiB", (most_used - before) >> 20);
	if (lookups > LOOKUPS_EACH * (evidence->events + rows))
		fail_msg("%" PRIu64 " lookups", lookups);
	why_findings_free(findings);
	why_evidence_free(evidence);
	ktread_close(trace);
}

static void are_many_threads(const struct why_evidence *evidence, const struct why_findings *findings)
{
	assert_int_equal(evidence->threads, WHY_THREADS);
	/* for each thread beyond the limit, one table row and eight events are left out */
	assert_int_equal(evidence->left_out, 9 * (THREADS - 2 - WHY_THREADS));
	/* threads that are starved for the same reason share a finding */
	assert_in_range(why_findings_count(findings), 1, 16);
	assert_int_equal(why_findings_at(findings, 0)->verdict, WHY_STARVATION);
	assert_int_equal(why_findings_at(findings, 0)->actors, WHY_ACTORS);
}

static void many_threads_need_bounded_memory_and_time(void **state)
{
	(void)state;
	explain(write_trace(), THREADS, are_many_threads);
}

/* number of locks that are taken while one lock is held; greater than the maximum number of lock orders */
#define ORDERS (KEYED_MAX + 1000)

static void are_many_orders(const struct why_evidence *evidence, const struct why_findings *findings)
{
	(void)findings;
	assert_int_equal(evidence->orders, KEYED_MAX);
	assert_int_equal(evidence->left_out, ORDERS - KEYED_MAX);
}

static void lock_orders_beyond_limit_are_counted(void **state)
{
	struct bytes dump = { 0 };
	struct writer writer;
	uint64_t stamp = TICK;

	(void)state;
	writer_open(&writer, CPUS + 1, SHIFT);
	declare(&writer);
	put(&writer, 0, &stamp, ACQUIRE, 2, 0x1000, 0x500);
	for (uint64_t n = 1; n <= ORDERS; n++) {
		put(&writer, 0, &stamp, ACQUIRE, 2, 0x1000 + 8 * n, 0x500);
		put(&writer, 0, &stamp, RELEASE, 2, 0x1000 + 8 * n, 0);
	}
	writer_dump(&writer, &dump);
	explain(temporary_bytes(&dump), 0, are_many_orders);
	bytes_free(&dump);
	writer_close(&writer);
}

/*
 * Adds CPUs with interrupts disabled. Each CPU waits for IPI answers of all other CPUs, holds a lock, and
 * spins for the lock that the next CPU holds.
 */
static void put_cpus(struct writer *writer, uint32_t cpus, uint64_t end)
{
	for (uint32_t n = 0; n < cpus; n++) {
		const struct ktrx_cpu cpu = { .heartbeats = n == cpus - 1 ? 1000 : 0,
					      .heartbeat_stamp = end,
					      .now = end,
					      .online = 1,
					      .mode = KTRX_MODE_KERNEL,
					      .interrupts = KTRX_INTERRUPTS_OFF,
					      .hooks = (uint8_t)WHY_ALL_HOOKS,
					      .ipi_cpu = KTRX_ALL_CPUS,
					      .ipi_stamp = 1,
					      .thread = n };
		const struct ktrx_holder row = { .id = KTRX_HOLDER_CPU | n,
						 .wait = KTRX_WAIT_SPIN,
						 .object = 0x1000 + 8 * ((n + 1) % cpus),
						 .wait_stamp = 1,
						 .held_count = 1,
						 .held[0] = { .object = 0x1000 + 8 * n } };

		bytes_append(&writer->cpus, &cpu, sizeof(cpu));
		bytes_append(&writer->holders, &row, sizeof(row));
	}
}

static void are_many_cpus(const struct why_evidence *evidence, const struct why_findings *findings)
{
	assert_int_equal(evidence->cpus, WHY_CPUS);
	assert_int_equal(why_findings_at(findings, 0)->verdict, WHY_DEADLOCK);
}

static void many_cpus_need_bounded_memory_and_time(void **state)
{
	struct bytes dump = { 0 };
	struct writer writer;

	(void)state;
	writer_open(&writer, CPUS + 1, SHIFT);
	declare(&writer);
	writer.root.cpus = WHY_CPUS;
	put_cpus(&writer, WHY_CPUS, UINT64_C(1) << 40);
	writer_dump(&writer, &dump);
	explain(temporary_bytes(&dump), WHY_CPUS, are_many_cpus);
	bytes_free(&dump);
	writer_close(&writer);
}

static void are_few_cpus(const struct why_evidence *evidence, const struct why_findings *findings)
{
	(void)findings;
	assert_in_range(evidence->cpus, 1, 64);
}

static void stated_cpus_without_ring_and_row_need_no_memory(void **state)
{
	struct bytes dump = { 0 };
	struct writer writer;

	(void)state;
	writer_open(&writer, CPUS + 1, SHIFT);
	declare(&writer);
	writer.root.cpus = WHY_CPUS;
	put_cpus(&writer, CPUS, UINT64_C(1) << 40);
	writer_dump(&writer, &dump);
	explain(temporary_bytes(&dump), CPUS, are_few_cpus);
	bytes_free(&dump);
	writer_close(&writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(many_threads_need_bounded_memory_and_time),
					    cmocka_unit_test(lock_orders_beyond_limit_are_counted),
					    cmocka_unit_test(many_cpus_need_bounded_memory_and_time),
					    cmocka_unit_test(
						    stated_cpus_without_ring_and_row_need_no_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
