/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * hwt: uses trace units (abi/hwt.h) to record which instructions a program runs, or the kernel on some CPUs.
 * `ktrace hwt` on the host decodes the file that hwt writes.
 *
 *   hwt [OPTION]... COMMAND [WORD...]                    user code of a command, from its exec to its end
 *   hwt [OPTION]... -P PID                               user code of a process, until it or hwt ends
 *   hwt -s CPU[,CPU]... [OPTION]... COMMAND [WORD...]    kernel code of CPUs, while a command runs
 *
 *   -b BYTES     size of the buffer of each trace unit (1048576)
 *   -c BACKEND   trace unit: qemu, pt, coresight, spe; default: the first available one
 *   -f FUNCTION  trace only this function of the image of -i, or addresses START-END; may be repeated
 *   -i IMAGE     path of the program, or of a file that it maps; default: the command
 *   -m           pause at each mmap of code, not only when -f needs it
 *   -t MS        maximum time that a paused thread waits for hwt (60000; 1000 with -P)
 *   -w FILE      output file (hwt.out); "-": none
 */
#include <error.h>
#include <option.h>
#include <program.h>
#include <recording.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <symbols.h>
#include <unistd.h>

#define FUNCTIONS_MAX	8
#define ROUND_MS	100
#define PAGE		4096u
#define IMAGE_PATH_MOST 256
#define COMMAND_MS	60000u

struct request {
	struct abi_hwt_alloc alloc;
	/*
	 * Flags, pauses and timeout. The address ranges are added later, when the addresses of the image are
	 * known.
	 */
	struct abi_hwt_config config;
	const char *file;
	const char *image;
	const char *functions[FUNCTIONS_MAX];
	unsigned function_count;
	const char *cpus;
	bool waits_for_image; /* true if tracing starts when the target has mapped or executed the image */
	/*
	 * True: tracing starts at the exec of the command, so that the trace contains nothing that the child
	 * runs before its exec.
	 */
	bool waits_for_exec;
	bool runs;
	/* True if the target has executed a program since its context was created. */
	bool has_changed;
	int child;	/* pid of the command; 0 if there is none */
	int child_gate; /* write end of a pipe; a byte written to it lets the child continue */
	int child_status;
};

static struct recording recording;
static volatile bool interrupted;

static _Noreturn void usage(void)
{
	dprintf(STDERR, "usage: hwt [-m] [-b BYTES] [-c BACKEND] [-f FUNCTION [-i IMAGE]] [-t MS] [-w FILE]\n"
			"           [-s CPUS] COMMAND [WORD...] | -P PID\n");
	exit(2);
}

static void complain(const char *what, int64_t error)
{
	dprintf(STDERR, "hwt: %s: %s\n", what, error_text(error));
}

/*
 * Returns true if the machine has a trace unit whose name begins with `backend`. If `print_list` is true,
 * prints the kernel's list of trace units.
 */
static bool has_unit(const char *backend, bool print_list)
{
	int fd = open(HWT_PATH, O_RDONLY, 0);
	bool is_there = false;
	char line[160];
	int64_t n;

	while (fd >= 0 && (n = read(fd, line, sizeof(line) - 1)) > 0) {
		line[n] = '\0';
		is_there |= string_starts(line, backend) && strchr(line, ':') &&
			    string_starts(strchr(line, ':'), ": there");
		if (print_list)
			dprintf(STDERR, "hwt: %s", line);
	}
	close(fd);
	return is_there;
}

/*
 * Prints that another context already traces the target, or uses the trace unit for a different kind of
 * target. A new command has no other context yet, so for a command it prints only the second reason.
 */
static void explain_other(const struct request *request, bool by_cpu)
{
	if (by_cpu)
		dprintf(STDERR,
			"hwt: -s %s: another context (/dev/hwt_*) traces one of these CPUs already, "
			"or a process by the same trace unit\n",
			request->cpus);
	else if (request->child)
		dprintf(STDERR, "hwt: another context (/dev/hwt_*) traces CPUs by the same trace unit\n");
	else
		dprintf(STDERR,
			"hwt: -P %u: another context (/dev/hwt_*) traces it already, "
			"or CPUs by the same trace unit\n",
			request->alloc.pid);
}

/* Prints why the kernel refused the context, and which option caused that. */
static void explain_refusal(const struct request *request, int error)
{
	bool by_cpu = request->alloc.mode == KTRX_HWT_MODE_CPU;
	char what[32] = "cannot create a context";

	if (error == -ENOSYS) {
		dprintf(STDERR, "hwt: this kernel was compiled without the hooks of hardware trace "
				"(KTRACE_HWT_HOOKS=0)\n");
		return;
	}
	if (error == -EEXIST) {
		explain_other(request, by_cpu);
		return;
	}
	if (error == -ENODEV && by_cpu && has_unit(request->alloc.backend, false)) {
		dprintf(STDERR, "hwt: -s %s: not all of these CPUs exist\n", request->cpus);
		return;
	}
	if (error == -ENODEV)
		has_unit(request->alloc.backend, true);
	if (error == -ENODEV && request->alloc.backend[0])
		format(what, sizeof(what), "-c %s", request->alloc.backend);
	else if (error == -EINVAL || error == -ENOMEM)
		format(what, sizeof(what), "-b %lu", request->alloc.buffer_size);
	else if (error != -ENODEV && by_cpu)
		format(what, sizeof(what), "-s %s", request->cpus);
	else if (error != -ENODEV && !request->child)
		format(what, sizeof(what), "-P %u", request->alloc.pid);
	complain(what, error);
}

/* ---- Address ranges ---------------------------------------------------------------------------- */

static bool parse_hex(const char **text, uint64_t *value)
{
	const char *digits = "0123456789abcdef", *start;

	*value = 0;
	if (string_starts(*text, "0x"))
		*text += 2;
	for (start = *text; **text && strchr(digits, **text); ++*text)
		*value = *value << 4 | (uint64_t)(strchr(digits, **text) - digits);
	return *text != start;
}

/* The text of an address range, such as "0x1000-0x2000". */
static bool parse_range(const char *text, uint64_t *start, uint64_t *end)
{
	return string_starts(text, "0x") && parse_hex(&text, start) && *text++ == '-' &&
	       parse_hex(&text, end) && !*text;
}

/*
 * Adds an address range to the configuration: `name` is a function or START-END. If `image` is NULL, the
 * address of the function is not known yet; then only checks that the function exists. Returns 0 or -errno.
 */
static int add_range(struct abi_hwt_config *config, const struct request *request, const char *name,
		     const struct ktrx_hwt_image *image, bool is_mapping)
{
	struct function function;
	uint64_t start, end;

	if (!parse_range(name, &start, &end)) {
		int error = function_find(request->image, name, &function);

		if (error || !image)
			return error;
		start = is_mapping ? image->address + (function.offset - image->offset)
				   : image->address + function.address;
		end = start + function.size;
	}
	if (config->ranges == HWT_RANGES_MAX)
		return -ENOSPC;
	config->range[config->ranges].start = start;
	config->range[config->ranges++].end = end;
	return 0;
}

static int configure(struct request *request, const struct ktrx_hwt_image *image, bool is_mapping)
{
	struct abi_hwt_config config = request->config;
	unsigned left_out = 0;
	int error = 0;

	config.ranges = 0;
	for (unsigned i = 0; i < request->function_count && !error; i++) {
		error = add_range(&config, request, request->functions[i], image, is_mapping);
		if (error == -ENOSPC) {
			left_out = request->function_count - i;
			error = 0;
			break;
		}
		if (error == -ENOENT)
			dprintf(STDERR, "hwt: %s: no function named %s\n", request->image,
				request->functions[i]);
	}
	if (error)
		return error;
	error = recording_request(&recording, HWT_IOC_SET_CONFIG, &config);
	left_out += config.left_out;
	if (left_out)
		dprintf(STDERR, "hwt: warning: the trace unit has too few ranges: %u of %u are not traced\n",
			left_out, request->function_count);
	return error;
}

/* ---- Handling records -------------------------------------------------------------------------- */

static int start(struct request *request)
{
	int error = request->runs ? 0 : recording_request(&recording, HWT_IOC_START, NULL);

	request->runs |= !error;
	return error;
}

static bool is_image(const struct request *request, const struct ktrx_proc_record *record,
		     const struct ktrx_hwt_image *image)
{
	size_t length = record->size - sizeof(*image);
	const char *path = (const char *)(image + 1);

	return strlen(request->image) == length && memcmp(request->image, path, length) == 0;
}

/*
 * Called when the target has mapped or executed the awaited image. Configures and starts the trace. The
 * kernel pauses the target's thread until that is done.
 */
static void arrive(struct request *request, const struct ktrx_proc_record *record,
		   const struct ktrx_hwt_image *image)
{
	int error = 0;

	if (request->runs)
		error = recording_stop(&recording);
	request->runs = false;
	if (!error)
		error = configure(request, image, record->type == KTRX_HWT_MMAP);
	if (!error)
		error = start(request);
	if (error)
		complain(request->image, error);
}

/*
 * Called when the child has executed the command. Starts the trace. The kernel pauses the child until that is
 * done.
 */
static void begin(struct request *request)
{
	int error = start(request);

	request->waits_for_exec = false;
	if (error)
		complain("start", error);
}

static void see(void *context, const struct ktrx_proc_record *record, const void *payload)
{
	struct request *request = context;
	const struct ktrx_hwt_image *image = payload;

	if (!record) {
		if (request->config.pauses)
			/* Wakes paused threads, because all records have been handled. */
			recording_request(&recording, HWT_IOC_WAKEUP, NULL);
		return;
	}
	if ((record->type != KTRX_HWT_EXECUTABLE && record->type != KTRX_HWT_MMAP) ||
	    record->size < sizeof(*image))
		return;
	request->has_changed |= record->type == KTRX_HWT_EXECUTABLE && record->tid != 0;
	if (request->waits_for_image && is_image(request, record, image))
		arrive(request, record, image);
	else if (request->waits_for_exec && request->has_changed)
		begin(request);
}

/* ---- Starting and waiting for the target ------------------------------------------------------- */

static void interrupt(int signal)
{
	(void)signal;
	interrupted = true;
}

/*
 * Creates the process for the command. Before it executes the command, it waits for a byte from a pipe, so
 * that its context can be created first.
 */
static int start_child_at_gate(struct request *request, char **words)
{
	char *no_environment[] = { NULL };
	char path[PATH_MAX], byte;
	int ends[2], error = pipe(ends), pid;

	if (error)
		return error;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) != 1)
			exit(127);
		close(ends[0]);
		format(path, sizeof(path), strchr(words[0], '/') ? "%s" : "/bin/%s", words[0]);
		complain(words[0], execve(path, words, no_environment));
		exit(127);
	}
	close(ends[0]);
	request->child = pid;
	request->child_gate = ends[1];
	return pid < 0 ? pid : 0;
}

/* Ends the child's wait: if `goes` is true, the child executes the command; otherwise it ends. */
static void open_gate(struct request *request, bool goes)
{
	if (request->child && goes)
		write_all(request->child_gate, "g", 1);
	if (request->child)
		close(request->child_gate);
}

/* Returns true if the command has ended, and stores its status in the request. */
static bool child_has_ended(struct request *request)
{
	return request->child && wait4(request->child, &request->child_status, WNOHANG) == request->child;
}

/* Records until the traced process has ended or, with -s, the command has ended, or until SIGINT arrives. */
static int follow(struct request *request)
{
	bool by_cpu = request->alloc.mode == KTRX_HWT_MODE_CPU, ended = false;
	int error = 0;

	while (!error && !ended && !recording.is_over && !interrupted) {
		ended = child_has_ended(request) && by_cpu;
		error = recording_take(&recording, ended ? 0 : ROUND_MS, see, request);
		if (error == -EINTR)
			error = 0;
	}
	if (request->runs && (by_cpu || interrupted)) {
		recording_request(&recording, HWT_IOC_STOP, NULL);
		if (!error)
			error = recording_take(&recording, 0, see, request);
	}
	return error;
}

static void print_summary(const struct request *request)
{
	uint64_t bytes = 0, missed = 0, wraps = 0, unit_lost = 0;

	for (unsigned i = 0; i < recording.units; i++) {
		bytes += recording.unit[i].place.position;
		missed += recording.unit[i].missed;
		wraps += recording.unit[i].place.wraps;
		unit_lost += recording.unit[i].place.lost;
	}
	printf("hwt: %s: %lu bytes of trace, %lu records; lost: %lu bytes in %lu rounds of the buffer, "
	       "%lu packets, %lu records\n",
	       request->file, bytes, recording.records, missed, wraps, unit_lost, recording.lost);
}

/*
 * Called before the command runs. Configures the trace, starts it if it need not wait for the image or the
 * exec, and opens the output file.
 */
static int prepare(struct request *request)
{
	int error = configure(request, NULL, false);

	if (!error && !request->waits_for_image && !request->waits_for_exec)
		error = start(request);
	if (error && error != -ENOENT) /* for -ENOENT, configure() has already printed a message */
		complain("configuration", error);
	if (error)
		return error;
	if (strcmp(request->file, "-") == 0)
		return 0;
	recording.file = open(request->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (recording.file >= 0)
		return 0;
	complain(request->file, recording.file);
	return recording.file;
}

/* Removes the output file, which is useless, because the command was not executed. Returns the error. */
static int give_up(const struct request *request, int error)
{
	if (request->child)
		dprintf(STDERR, "hwt: the command was not run\n");
	if (recording.file >= 0)
		unlink(request->file);
	return error;
}

static int record(struct request *request)
{
	int error = prepare(request);

	open_gate(request, !error);
	if (error)
		return give_up(request, error);
	error = follow(request);
	if (!error)
		error = recording.error;
	if (error && recording.error)
		complain(request->file, error);
	if (!error && request->child && request->alloc.mode == KTRX_HWT_MODE_THREAD && !request->has_changed)
		return give_up(request, -ENOENT);
	print_summary(request);
	if (recording.unit_error)
		complain("a thread is not traced", recording.unit_error);
	return error;
}

/* ---- Options ----------------------------------------------------------------------------------- */

/* Prints that the value of an option is not valid, and ends the program. */
static _Noreturn void refuse(int letter, const char *value, const char *wanted)
{
	const char option[] = { (char)letter, '\0' };

	dprintf(STDERR, "hwt: -%s %s: expected %s\n", option, value, wanted);
	exit(2);
}

static unsigned parse_count(int letter, const char *value, const char *wanted)
{
	unsigned number = parse_number(value, 0);

	if (number == 0)
		refuse(letter, value, wanted);
	return number;
}

static uint64_t parse_cpus(const char *value)
{
	const char *text = value;
	uint64_t cpus = 0;

	while (*text) {
		char number[4] = "";
		size_t length = 0;

		while (*text && *text != ',' && length < sizeof(number) - 1)
			number[length++] = *text++;
		if (parse_number(number, 64) >= 64 || (*text && *text++ != ','))
			refuse('s', value, "CPU numbers below 64, separated by commas");
		cpus |= UINT64_C(1) << parse_number(number, 0);
	}
	return cpus;
}

static void take_option(struct request *request, int letter, const char *value)
{
	switch (letter) {
	case 'b':
		request->alloc.buffer_size = parse_count(letter, value, "a number of bytes");
		if (request->alloc.buffer_size % PAGE != 0)
			refuse(letter, value, "a multiple of 4096");
		return;
	case 'c':
		string_copy(request->alloc.backend, value, sizeof(request->alloc.backend));
		return;
	case 'f':
		if (request->function_count == FUNCTIONS_MAX)
			refuse(letter, value, "at most 8 functions");
		request->functions[request->function_count++] = value;
		return;
	case 'i':
		request->image = value;
		return;
	case 'm':
		request->config.pauses |= HWT_PAUSE_MMAP;
		return;
	case 'P':
		request->alloc.pid = parse_count(letter, value, "a process id");
		return;
	case 's':
		request->cpus = value;
		request->alloc.mode = KTRX_HWT_MODE_CPU;
		request->alloc.cpus = parse_cpus(value);
		return;
	case 't':
		request->config.timeout_ms = parse_count(letter, value, "a number of milliseconds");
		return;
	case 'w':
		request->file = value;
		return;
	default:
		usage();
	}
}

static void check_image(const char *path)
{
	int fd = open(path, O_RDONLY, 0);

	if (fd < 0) {
		complain(path, fd);
		exit(1);
	}
	close(fd);
}

/*
 * Completes the request after all options have been read. Function names need an image; if -i was not given,
 * this is the command's program.
 */
static void settle(struct request *request, char **words)
{
	static char path[IMAGE_PATH_MOST];
	uint64_t start, end;

	if (!!words[0] == !!request->alloc.pid)
		usage();
	for (unsigned i = 0; i < request->function_count; i++)
		request->waits_for_image |= !parse_range(request->functions[i], &start, &end);
	if (!request->image && words[0]) {
		format(path, sizeof(path), strchr(words[0], '/') ? "%s" : "/bin/%s", words[0]);
		request->image = path;
	}
	if (request->waits_for_image && (request->alloc.mode == KTRX_HWT_MODE_CPU || !request->image)) {
		dprintf(STDERR, "hwt: -f: function names need a program's file: -i with -P, and not with -s. "
				"Or give addresses: START-END\n");
		exit(2);
	}
	if (request->waits_for_image) {
		request->config.pauses |= HWT_PAUSE_EXEC | HWT_PAUSE_MMAP;
		check_image(request->image);
	}
	if (words[0] && request->alloc.mode == KTRX_HWT_MODE_THREAD) {
		request->waits_for_exec = !request->waits_for_image;
		request->config.pauses |= HWT_PAUSE_EXEC;
		if (!request->config.timeout_ms)
			request->config.timeout_ms = COMMAND_MS;
	}
}

int main(int argc, char **argv)
{
	struct request request = {
		.alloc = { .mode = KTRX_HWT_MODE_THREAD, .buffer_size = 1 << 20 },
		.config = { .flags = HWT_TIME },
		.file = "hwt.out",
		.child_gate = -1,
	};
	struct options options = { .words = argv, .next = 1, .letters = "b:c:f:i:mP:s:t:w:" };
	int letter, error;

	(void)argc;
	while ((letter = next_option(&options)))
		take_option(&request, letter, options.value);
	settle(&request, &argv[options.next]);
	handle_signal(SIGINT, interrupt);
	if (argv[options.next]) {
		error = start_child_at_gate(&request, &argv[options.next]);
		if (error) {
			complain("fork", error);
			return 1;
		}
		if (request.alloc.mode == KTRX_HWT_MODE_THREAD)
			request.alloc.pid = (uint32_t)request.child;
	}
	error = recording_open(&recording, &request.alloc);
	if (error) {
		explain_refusal(&request, error);
		give_up(&request, error);
		return 1;
	}
	error = record(&request);
	recording_close(&recording);
	if (request.child)
		wait4(request.child, &request.child_status, 0);
	return error ? 1 : request.child_status ? 1 : 0;
}
