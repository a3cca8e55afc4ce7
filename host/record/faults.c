/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Records page faults. ptrace(2) does not report them, but perf_event_open(2) does: the kernel writes samples
 * into a ring that it shares with us. One sample is written when a fault begins, and a second one when the
 * fault is resolved. The samples of a thread are read whenever the thread stops, and when its ring is half
 * full. A sample contains the address and the time, but not whether the program read or wrote.
 */
#include "record/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* number of events: the beginning of a fault, the end of a minor fault, and the end of a major fault */
#define EVENTS	    3u
#define SPARE	    16	/* number of descriptors that are kept free for other purposes */
#define FORMAT_LOST 16u /* PERF_FORMAT_LOST, since Linux 6.0 */
/*
 * maximum number of pages in a ring, a power of two; the number is halved until the kernel allows the
 * recorder to lock the pages
 */
#define PAGES_MOST 64u

struct record_faults {
	int fd[EVENTS];
	uint64_t begins; /* the kernel's id of the event that reports the beginning of a fault */
	struct perf_event_mmap_page *head;
	const uint8_t *ring;
	uint64_t size; /* size of the ring in bytes, a power of two */
	/* number of lost samples that the ring has reported, but no record yet */
	uint64_t lost;
	uint64_t reported; /* number of lost samples that records have reported */
	bool begun;	   /* true if the last sample reported the beginning of a fault */
};

struct sample {
	uint64_t event;
	uint32_t pid, tid;
	uint64_t time, address;
	uint32_t cpu, reserved;
};

static unsigned opened, missed;
static int missed_error;

unsigned record_faults_missed(int *error)
{
	*error = missed_error;
	return missed;
}

/*
 * Opens an event for a thread. If we have no right to observe the kernel, the event reports only faults in
 * user mode. In this case, faults in the kernel, while it executes the program's calls, are not reported.
 */
static int open_event(pid_t tid, uint64_t config)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = config,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.read_format = FORMAT_LOST,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EINVAL) {
		attributes.read_format = 0;
		fd = syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0 && (errno == EACCES || errno == EPERM)) {
		attributes.exclude_kernel = 1;
		fd = syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return (int)fd;
}

int record_faults_allowed(void)
{
	int fd = open_event(0, PERF_COUNT_SW_PAGE_FAULTS);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/*
 * Raises the recorder's own limit of open descriptors as far as possible, and returns the limit. Does not
 * change the limits of traced programs.
 */
static int descriptors_most(void)
{
	static struct rlimit limit;

	if (limit.rlim_cur == 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return limit.rlim_cur < INT_MAX ? (int)limit.rlim_cur : INT_MAX;
}

static int map_ring(struct record_faults *faults)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = MAP_FAILED;

	for (size_t pages = PAGES_MOST; pages > 0 && at == MAP_FAILED; pages /= 2) {
		faults->size = pages * page;
		at = mmap(NULL, page + faults->size, PROT_READ | PROT_WRITE, MAP_SHARED, faults->fd[0], 0);
	}
	if (at == MAP_FAILED)
		return errno;
	faults->head = at;
	faults->ring = (const uint8_t *)at + page;
	return 0;
}

static int open_events(struct record_faults *faults, pid_t tid)
{
	static const uint64_t configs[EVENTS] = { PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_PAGE_FAULTS_MIN,
						  PERF_COUNT_SW_PAGE_FAULTS_MAJ };
	int error;

	for (unsigned n = 0; n < EVENTS; n++) {
		faults->fd[n] = open_event(tid, configs[n]);
		if (faults->fd[n] < 0)
			return errno;
		if (faults->fd[n] >= descriptors_most() - SPARE)
			return EMFILE;
	}
	error = map_ring(faults);
	if (error)
		return error;
	if (ioctl(faults->fd[0], PERF_EVENT_IOC_ID, &faults->begins) != 0)
		return errno;
	for (unsigned n = 1; n < EVENTS; n++)
		if (ioctl(faults->fd[n], PERF_EVENT_IOC_SET_OUTPUT, faults->fd[0]) != 0)
			return errno;
	/*
	 * Ask for SIGIO, which interrupts the wait for stops. If this fails, the ring is read only at stops
	 * and at ticks of the timer.
	 */
	for (unsigned n = 0; n < EVENTS; n++) {
		fcntl(faults->fd[n], F_SETOWN, getpid());
		fcntl(faults->fd[n], F_SETFL, O_ASYNC | O_NONBLOCK);
	}
	return 0;
}

static void destroy(struct record_faults *faults)
{
	if (faults->head)
		munmap(faults->head, (size_t)sysconf(_SC_PAGESIZE) + faults->size);
	for (unsigned n = 0; n < EVENTS; n++)
		if (faults->fd[n] >= 0)
			close(faults->fd[n]);
	free(faults);
}

static void begin(struct record_thread *thread)
{
	struct record_faults *faults = calloc(1, sizeof(*faults));
	int error = ENOMEM;

	if (faults) {
		memset(faults->fd, -1, sizeof(faults->fd));
		error = open_events(faults, thread->tid);
	}
	if (error) {
		if (faults)
			destroy(faults);
		thread->without_faults = true;
		missed++;
		missed_error = error;
		return;
	}
	thread->faults = faults;
	opened++;
}

/*
 * Returns the number of lost samples that no record has reported yet. Reads the kernel's counts if they exist
 * (Linux 6.0), because the ring reports lost samples only when another sample is written into it.
 */
static uint64_t unreported(const struct record_faults *faults)
{
	uint64_t all = 0, counts[2]; /* of one event: number of samples, number of lost samples */

	for (unsigned n = 0; n < EVENTS; n++)
		if (read(faults->fd[n], counts, sizeof(counts)) == sizeof(counts))
			all += counts[1];
	return all > faults->reported ? all - faults->reported : faults->lost;
}

void record_faults_end(struct record_thread *thread)
{
	if (!thread->faults)
		return;
	if (thread->process->sink)
		record_sink_lose(thread->process->sink, unreported(thread->faults));
	destroy(thread->faults);
	thread->faults = NULL;
	opened--;
}

/* ---- Samples ----------------------------------------------------------------------------------- */

static void read_ring(const struct record_faults *faults, uint64_t at, void *to, size_t size)
{
	const uint64_t from = at & (faults->size - 1);
	const size_t first = size < faults->size - from ? size : (size_t)(faults->size - from);

	memcpy(to, faults->ring + from, first);
	memcpy((uint8_t *)to + first, faults->ring, size - first);
}

static void put_sample(struct record_thread *thread, const struct sample *sample, bool user)
{
	struct record_faults *faults = thread->faults;
	const struct record_moment moment = { .stamp = sample->time,
					      .cpu = sample->cpu,
					      .lost = faults->lost > UINT32_MAX ? UINT32_MAX
										: (uint32_t)faults->lost };

	if (sample->event == faults->begins) {
		const struct ktrx_proc_fault fault = { .address = sample->address, .user = user };

		record_put_earlier(thread, KTRX_PROC_FAULT, &moment, &fault, sizeof(fault));
	} else {
		const struct ktrx_proc_faultend end = { .result = 0 };

		record_put_earlier(thread, KTRX_PROC_FAULTEND, &moment, &end, sizeof(end));
	}
	faults->begun = sample->event == faults->begins;
	faults->reported += moment.lost;
	faults->lost -= moment.lost;
}

static void drain(struct record_thread *thread)
{
	struct record_faults *faults = thread->faults;
	const uint64_t end = __atomic_load_n(&faults->head->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = faults->head->data_tail;

	while (at < end) {
		struct perf_event_header head;
		struct sample sample;
		uint64_t lost[2]; /* id of the event, and number of lost samples */

		read_ring(faults, at, &head, sizeof(head));
		if (head.size < sizeof(head))
			break;
		if (head.type == PERF_RECORD_SAMPLE && head.size >= sizeof(head) + sizeof(sample)) {
			read_ring(faults, at + sizeof(head), &sample, sizeof(sample));
			put_sample(thread, &sample,
				   (head.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER);
		} else if (head.type == PERF_RECORD_LOST && head.size >= sizeof(head) + sizeof(lost)) {
			read_ring(faults, at + sizeof(head), lost, sizeof(lost));
			faults->lost += lost[1];
		}
		at += head.size;
	}
	__atomic_store_n(&faults->head->data_tail, end, __ATOMIC_RELEASE);
}

void record_faults_update(struct record_thread *thread)
{
	const bool wanted = thread->process->sink && (thread->process->facilities & RECORD_PAGES);

	if (thread->faults)
		drain(thread);
	if (thread->faults && !wanted)
		record_faults_end(thread);
	else if (!thread->faults && wanted && !thread->without_faults && !thread->detaching)
		begin(thread);
}

void record_faults_drain_all(void)
{
	struct record_thread *thread = opened > 0 ? record_thread_next(NULL) : NULL;

	for (; thread; thread = record_thread_next(thread))
		if (thread->faults)
			drain(thread);
}

bool record_faults_begun(const struct record_thread *thread)
{
	return thread->faults && thread->faults->begun;
}
