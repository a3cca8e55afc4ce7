/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * hwtest: checks that /dev/hwt behaves as abi/hwt.h describes. Most checks need a trace unit. If the machine
 * has none, the program prints that and only checks that requests are refused.
 */
#include <hwt.h>
#include <ktrx/hwt.h>
#include <program.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGE	    4096u
#define BUFFER	    (4 * PAGE)
#define NOBODY	    1000
#define LONG_MS	    60000u
#define NOTHING_MS  100
#define ATTEMPTS    1000
#define NOWHERE	    0x3000u
#define CALLS	    40000u
#define RECORDS_MAX 8192

/*
 * A process to be traced. It waits for a byte from a pipe, then executes "hwtest child", which reports that
 * it runs.
 */
struct target {
	int pid;
	/*
	 * gate: write end of a pipe; after a byte is written to it, the process continues. door: read end of
	 * another pipe; it contains a byte when "hwtest child" runs.
	 */
	int gate, door;
};

static struct target start_target(void)
{
	char *words[] = { (char[]){ "hwtest" }, (char[]){ "child" }, NULL };
	int gate[2], door[2], pid;
	char byte;

	check_equal(0, pipe(gate), "a pipe for the gate");
	check_equal(0, pipe(door), "a pipe for the door");
	pid = fork();
	if (pid == 0) {
		close(gate[1]);
		close(door[0]);
		dup2(door[1], STDIN);
		if (read(gate[0], &byte, 1) == 1)
			execve("/bin/hwtest", words, &words[2]);
		exit(127);
	}
	check(pid > 0, "a target is started");
	close(gate[0]);
	close(door[1]);
	return (struct target){ pid, gate[1], door[0] };
}

static unsigned add(unsigned a, unsigned b)
{
	return a + b;
}

static unsigned twist(unsigned a, unsigned b)
{
	return a << 5 ^ a >> 2 ^ b;
}

/*
 * The program "hwtest child". Its standard input is the write end of the pipe `door`: the program writes a
 * byte to it to report that it runs. Then the program calls functions through pointers, because a trace unit
 * must record the target of each of these calls.
 */
static int be_target(void)
{
	static unsigned (*volatile const functions[])(unsigned, unsigned) = { add, twist };
	unsigned sum = 1;

	write(STDIN, "x", 1);
	for (unsigned i = 0; i < CALLS; i++)
		sum = functions[sum >> 3 & 1](sum, i);
	return sum == 0;
}

static void let_go(const struct target *target)
{
	check_equal(1, write(target->gate, "g", 1), "the gate is opened");
}

static bool target_reports(const struct target *target, int timeout_ms)
{
	struct abi_pollfd fds = { .fd = target->door, .events = POLLIN };

	return poll(&fds, 1, timeout_ms) == 1;
}

static void end_target(const struct target *target)
{
	check_equal(0, wait_for(target->pid), "the target's status");
	close(target->gate);
	close(target->door);
}

/* ---- Contexts ---------------------------------------------------------------------------------- */

struct context {
	int device, fd;
	uint32_t ident;
	char path[32];
};

static int alloc(int device, struct abi_hwt_alloc wanted, uint32_t *ident)
{
	int error = ioctl(device, HWT_IOC_ALLOC, &wanted);

	*ident = wanted.ident;
	return error;
}

static struct abi_hwt_alloc of_process(int pid)
{
	return (struct abi_hwt_alloc){
		.mode = KTRX_HWT_MODE_THREAD,
		.pid = (uint32_t)pid,
		.buffer_size = BUFFER,
	};
}

static struct context open_context(int pid)
{
	struct context context = { .device = open(HWT_PATH, O_RDWR | O_CLOEXEC, 0) };

	check(context.device >= 0, HWT_PATH);
	check_equal(0, alloc(context.device, of_process(pid), &context.ident), "a context");
	format(context.path, sizeof(context.path), HWT_PATH "_%u_%u", context.ident, (unsigned)pid);
	context.fd = open(context.path, O_RDWR | O_CLOEXEC, 0);
	check(context.fd >= 0, context.path);
	return context;
}

static void close_context(const struct context *context)
{
	struct abi_stat about;

	check_equal(0, stat(context->path, &about), "the context's file exists");
	check_equal(S_IFCHR | 0600, about.mode, "only the owner opens the context's file");
	close(context->fd);
	check_equal(0, close(context->device), "the context is closed");
	check_equal(-ENOENT, stat(context->path, &about), "the file of a closed context does not exist");
}

static int configure(const struct context *context, struct abi_hwt_config config)
{
	return ioctl(context->fd, HWT_IOC_SET_CONFIG, &config);
}

static int request(const struct context *context, int number)
{
	return ioctl(context->fd, (unsigned)number, NULL);
}

static struct abi_hwt_place place_of(const struct context *context)
{
	struct abi_hwt_place place = { 0 };

	check_equal(0, ioctl(context->fd, HWT_IOC_BUFPTR_GET, &place), "a place");
	return place;
}

/*
 * Takes records one by one, and waits for each, until one has this type. Returns false if there are no more
 * records.
 */
static bool await_record(const struct context *context, unsigned type)
{
	static uint64_t records[RECORDS_MAX / 8];
	struct abi_hwt_records wanted = {
		.buffer = (uintptr_t)records,
		.size = sizeof(records),
		.most = 1,
		.timeout_ms = LONG_MS,
	};

	while (ioctl(context->fd, HWT_IOC_RECORD_GET, &wanted) == 0 && wanted.count == 1) {
		const struct ktrx_proc_record *record = (const void *)records;

		if (memcmp(records, KTRX_PROC_MAGIC, 4) != 0 && record->type == type)
			return true;
	}
	return false;
}

/* ---- Checks without a trace unit --------------------------------------------------------------- */

static bool has_unit(int device)
{
	char line[160];
	int64_t n = read(device, line, sizeof(line) - 1);

	line[n > 0 ? n : 0] = '\0';
	printf("hwtest: %s", line);
	return strcmp(line, "qemu: there\n") == 0;
}

static void check_absence(int device)
{
	uint32_t ident;

	check_equal(-ENODEV, alloc(device, of_process(getpid()), &ident), "no context without a trace unit");
}

static void check_refusals(int device)
{
	struct abi_hwt_alloc wanted = of_process(getpid());
	uint32_t ident;

	check_equal(-ENOTTY, ioctl(device, HWT_IOC_START, NULL),
		    "/dev/hwt refuses requests other than alloc");
	check_equal(-ENOTTY, ioctl(STDOUT, HWT_IOC_ALLOC, &wanted), "the console refuses alloc");
	check_equal(-EBADF, ioctl(31, HWT_IOC_ALLOC, &wanted), "a closed descriptor is refused");
	check_equal(-EFAULT, ioctl(device, HWT_IOC_ALLOC, (void *)16),
		    "a request at a bad address is refused");
	check_equal(-ENODEV, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, device, 0), "/dev/hwt cannot be mapped");
	wanted.mode = 7;
	check_equal(-EINVAL, alloc(device, wanted, &ident), "an unknown mode is refused");
}

/* ---- Checks with a trace unit ------------------------------------------------------------------ */

static void check_requests(int device)
{
	struct abi_hwt_alloc wanted = of_process(getpid());
	uint32_t ident;

	wanted.buffer_size = 0;
	check_equal(-EINVAL, alloc(device, wanted, &ident), "an empty buffer is refused");
	wanted.buffer_size = PAGE + 8;
	check_equal(-EINVAL, alloc(device, wanted, &ident),
		    "a buffer size that is not a multiple of a page is refused");
	check_equal(-ESRCH, alloc(device, of_process(1 << 20), &ident), "a process that does not exist");
	wanted = of_process(getpid());
	memcpy(wanted.backend, "other", 6);
	check_equal(-ENODEV, alloc(device, wanted, &ident), "an unknown trace unit is refused");
	wanted = (struct abi_hwt_alloc){ .mode = KTRX_HWT_MODE_CPU, .buffer_size = BUFFER };
	check_equal(-EINVAL, alloc(device, wanted, &ident), "a context without CPUs is refused");
	wanted.cpus = UINT64_C(1) << 40;
	check_equal(-ENODEV, alloc(device, wanted, &ident), "a CPU that does not exist is refused");
}

/* Checks that a target can have only one context, and that requests in a wrong order are refused. */
static void check_one_context(int device)
{
	struct target target = start_target();
	struct context context = open_context(target.pid);
	uint32_t ident;

	check_equal(-EEXIST, alloc(device, of_process(target.pid), &ident),
		    "a second context for the same process is refused");
	check_equal(-EBUSY, request(&context, HWT_IOC_WAKEUP), "wakeup is refused if no thread waits");
	check_equal(-EBUSY, request(&context, HWT_IOC_STOP), "stop is refused before start");
	check_equal(0, request(&context, HWT_IOC_START), "the trace starts");
	check_equal(-EBUSY, request(&context, HWT_IOC_START), "a second start is refused");
	check_equal(-EBUSY, configure(&context, (struct abi_hwt_config){ 0 }),
		    "a running trace cannot be configured");
	check_equal(-ENOTTY, request(&context, HWT_IOC_ALLOC), "a context refuses alloc");
	let_go(&target);
	end_target(&target);
	check(place_of(&context).position > 0, "the buffer contains trace data");
	close_context(&context);
}

static void check_pause_with_listener(void)
{
	struct target target = start_target();
	struct context context = open_context(target.pid);

	check_equal(0,
		    configure(&context,
			      (struct abi_hwt_config){ .pauses = HWT_PAUSE_EXEC, .timeout_ms = LONG_MS }),
		    "pause on exec");
	check_equal(0, request(&context, HWT_IOC_START), "the trace starts");
	let_go(&target);
	check(await_record(&context, KTRX_HWT_EXECUTABLE), "a record describes the current program");
	check(await_record(&context, KTRX_HWT_EXECUTABLE), "a record describes the new program");
	check(!target_reports(&target, NOTHING_MS), "the new program is paused");
	check_equal(0, request(&context, HWT_IOC_WAKEUP), "the new program is woken");
	check(target_reports(&target, LONG_MS), "the new program runs");
	end_target(&target);
	close_context(&context);
}

static void check_pause_alone(void)
{
	struct target target = start_target();
	struct context context = open_context(target.pid);

	check_equal(
		0, configure(&context, (struct abi_hwt_config){ .pauses = HWT_PAUSE_EXEC, .timeout_ms = 50 }),
		"a short pause");
	let_go(&target);
	check(target_reports(&target, LONG_MS), "the pause ends after its timeout");
	end_target(&target);
	close_context(&context);
}

/*
 * Takes records from the queue; the kernel stores them at `to`. Returns the number of bytes stored, or
 * -errno.
 */
static int64_t take_records(const struct context *context, void *to)
{
	struct abi_hwt_records wanted = { .buffer = (uintptr_t)to, .size = PAGE, .most = 99 };
	int error = ioctl(context->fd, HWT_IOC_RECORD_GET, &wanted);

	return error ? error : (int64_t)wanted.bytes;
}

/* Checks that records are not lost if they cannot be copied to the reader's memory. */
static void check_bad_memory(void)
{
	static const struct abi_hwt_records unwritable = { .size = PAGE, .most = 99 };
	static char records[PAGE];
	struct target target = start_target();
	struct context context = open_context(target.pid);

	check_equal(-EFAULT, take_records(&context, (void *)16), "records are not written to a bad address");
	check_equal(-EFAULT, take_records(&context, (void *)(uintptr_t)take_records),
		    "records are not written to read-only memory");
	check_equal(-EFAULT, ioctl(context.fd, HWT_IOC_RECORD_GET, (void *)(uintptr_t)&unwritable),
		    "the answer is not written to read-only memory");
	check(take_records(&context, records) > 0, "the refused reads took no records");
	check_equal(0, memcmp(records, KTRX_PROC_MAGIC, 4), "the records begin with the header");
	let_go(&target);
	end_target(&target);
	close_context(&context);
}

/* Checks that with HWT_STOP, a full buffer is not overwritten until the owner has taken its contents. */
static void check_full(void)
{
	struct target target = start_target();
	struct context context = open_context(target.pid);
	struct abi_hwt_place place = { 0 };
	uint64_t beyond;

	check_equal(0, configure(&context, (struct abi_hwt_config){ .flags = HWT_STOP }), "stop when full");
	check_equal(0, request(&context, HWT_IOC_START), "the trace starts");
	let_go(&target);
	end_target(&target);
	place = place_of(&context);
	check(place.full && place.position > BUFFER / 2 && place.position <= BUFFER, "the buffer is full");
	check(place.lost > 0 && place.wraps <= 1,
	      "data after that is lost, and the buffer is not overwritten");
	beyond = place.position + 1;
	check_equal(-EINVAL, ioctl(context.fd, HWT_IOC_SVC_BUF, &beyond),
		    "taking more than was written is refused");
	check_equal(0, ioctl(context.fd, HWT_IOC_SVC_BUF, &place.position), "all data is taken");
	check(!place_of(&context).full, "the buffer has room again");
	close_context(&context);
}

/*
 * Checks that a paused target continues when the owner of its context is killed. The owner is a process that
 * creates the context, and reports through a pipe when the target is paused.
 */
static void check_owner_killed(void)
{
	struct target target = start_target();
	int report_pipe[2], owner;
	char byte;

	check_equal(0, pipe(report_pipe), "a pipe");
	owner = fork();
	if (owner == 0) {
		struct context context = open_context(target.pid);

		configure(&context,
			  (struct abi_hwt_config){ .pauses = HWT_PAUSE_EXEC, .timeout_ms = LONG_MS });
		let_go(&target);
		await_record(&context, KTRX_HWT_EXECUTABLE);
		await_record(&context, KTRX_HWT_EXECUTABLE);
		write(report_pipe[1], "p", 1);
		pause();
	}
	check_equal(1, read(report_pipe[0], &byte, 1), "the target waits");
	check(!target_reports(&target, NOTHING_MS), "the target is paused");
	check_equal(0, kill(owner, SIGKILL), "its owner is killed");
	check_equal(SIGKILL, wait_for(owner), "the signal ended the owner");
	check(target_reports(&target, LONG_MS / 2), "the target continues without its owner");
	end_target(&target);
	close(report_pipe[0]);
	close(report_pipe[1]);
}

/*
 * Checks that a process that is already running is traced immediately, not only after its next context
 * switch.
 */
static void check_attach(void)
{
	struct context context;
	int pid = fork();
	bool is_traced = false;

	if (pid == 0)
		for (volatile unsigned n = 0;; n = n + 1)
			continue;
	context = open_context(pid);
	check_equal(0, request(&context, HWT_IOC_START), "the trace of a running process starts");
	for (unsigned i = 0; i < ATTEMPTS && !is_traced; i++) {
		sleep_ms(10);
		is_traced = place_of(&context).position > 0;
	}
	check(is_traced, "a running process is traced");
	check_equal(0, request(&context, HWT_IOC_STOP), "the trace stops");
	check_equal(0, kill(pid, SIGKILL), "the process is killed");
	check_equal(SIGKILL, wait_for(pid), "the signal ended the process");
	check_equal(-ESRCH, request(&context, HWT_IOC_START), "a process that has ended cannot be traced");
	close_context(&context);
}

/*
 * Checks that no branches are recorded if no code in the traced address range runs: the unit writes less than
 * a page. Also checks that an empty range and too many ranges are refused.
 */
static void check_empty_range(void)
{
	struct target target = start_target();
	struct context context = open_context(target.pid);
	struct abi_hwt_config config = { .ranges = 1, .range = { { NOWHERE, NOWHERE + PAGE } } };
	uint64_t before;

	check_equal(0, configure(&context, config), "a range without code is accepted");
	check_equal(0, request(&context, HWT_IOC_START), "the trace starts");
	before = place_of(&context).position;
	let_go(&target);
	end_target(&target);
	check(place_of(&context).position - before < PAGE, "no branches are recorded");
	config.range[0].end = config.range[0].start;
	request(&context, HWT_IOC_STOP);
	check(configure(&context, config) != 0, "an empty range is refused");
	config.ranges = HWT_RANGES_MAX + 1;
	check_equal(-EINVAL, configure(&context, config), "too many ranges are refused");
	close_context(&context);
}

static void check_mapping(void)
{
	struct target target = start_target();
	struct context context = open_context(target.pid);
	const volatile unsigned char *bytes;
	int64_t at = mmap(NULL, BUFFER, PROT_READ, MAP_SHARED, context.fd, 0);
	struct abi_hwt_place place;
	unsigned sum = 0;
	int pid;

	check(at > 0, "the buffer is mapped");
	bytes = (const volatile unsigned char *)(uintptr_t)at;
	check_equal(-EACCES, mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_SHARED, context.fd, 0),
		    "a writable mapping is refused");
	check_equal(-EINVAL, mmap(NULL, 2 * BUFFER, PROT_READ, MAP_SHARED, context.fd, 0),
		    "a mapping longer than the buffer is refused");
	check_equal(0, request(&context, HWT_IOC_START), "the trace starts");
	let_go(&target);
	end_target(&target);
	place = place_of(&context);
	check(place.position > BUFFER, "more data is written than the buffer holds");
	check_equal((int)(place.position / BUFFER), (int)place.wraps,
		    "the number of wraps fits the position");
	close_context(&context);
	for (unsigned i = 0; i < BUFFER; i++)
		sum += bytes[i];
	check(sum > 0, "mapped trace data stays readable after the context has ended");
	pid = fork();
	if (pid == 0) {
		*(volatile char *)(uintptr_t)at = 1;
		exit(0);
	}
	check_equal(SIGSEGV, wait_for(pid), "a write to the mapping is a fault");
	check_equal(0, munmap((void *)(uintptr_t)at, BUFFER), "the buffer is unmapped");
}

static void check_permission(int device)
{
	struct abi_hwt_alloc wanted = { .mode = KTRX_HWT_MODE_CPU, .cpus = 1, .buffer_size = BUFFER };
	int parent = getpid(), pid = fork();
	uint32_t ident;

	if (pid == 0) {
		check_equal(0, setgid(NOBODY), "the group is set");
		check_equal(0, setuid(NOBODY), "the user is set");
		check_equal(-EPERM, alloc(device, of_process(parent), &ident),
			    "a user cannot trace a process of root");
		check_equal(-EPERM, alloc(device, wanted, &ident), "a user cannot trace a CPU");
		finish();
	}
	check_equal(0, wait_for(pid), "status of the unprivileged child");
	check_equal(0, alloc(device, wanted, &ident), "root traces a CPU");
	check_equal(-EEXIST, alloc(device, wanted, &ident), "a second context for the same CPU is refused");
}

static int open_and_close(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC, 0);

	return fd < 0 ? fd : close(fd);
}

static void check_hidden_from_jail(struct abi_hwt_alloc wanted, unsigned d)
{
	int device = open(HWT_PATH, O_RDWR | O_CLOEXEC, 0), pid;
	uint32_t ident;
	char path[32];

	check_equal(0, alloc(device, wanted, &ident), "a context is allocated");
	format(path, sizeof(path), HWT_PATH "_%u_%u", ident, d);
	check_equal(0, open_and_close(path), "the context's file opens");
	pid = fork();
	if (pid == 0) {
		check(jail() > 0, "a jail is made");
		check_equal(-EPERM, open_and_close(path), "the context's file does not open in a jail");
		finish();
	}
	check_equal(0, wait_for(pid), "status of the process in the jail");
	close(device);
}

/*
 * Checks that a superuser in a jail can open the files of a context only if the traced process is in the
 * jail.
 */
static void check_jail(void)
{
	struct abi_hwt_alloc cpu = { .mode = KTRX_HWT_MODE_CPU, .cpus = 1, .buffer_size = BUFFER };
	struct context context;
	int pid;

	check_hidden_from_jail(cpu, 0);
	check_hidden_from_jail(of_process(getpid()), (unsigned)getpid());
	pid = fork();
	if (pid == 0) {
		check(jail() > 0, "a jail is made");
		context = open_context(getpid());
		close_context(&context);
		finish();
	}
	check_equal(0, wait_for(pid), "status of the process that traces in a jail");
}

int main(int argc, char **argv)
{
	int device = open(HWT_PATH, O_RDWR | O_CLOEXEC, 0);

	if (argc == 2 && strcmp(argv[1], "child") == 0)
		return be_target();
	check(device >= 0, HWT_PATH);
	check_refusals(device);
	if (!has_unit(device)) {
		check_absence(device);
		finish();
	}
	check_requests(device);
	check_one_context(device);
	check_pause_with_listener();
	check_pause_alone();
	check_bad_memory();
	check_full();
	check_owner_killed();
	check_attach();
	check_empty_range();
	check_mapping();
	check_jail();
	check_permission(device);
	finish();
}
