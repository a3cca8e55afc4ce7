/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Takes samples over QMP: halts the guest, reads the registers of all CPUs, and lets the guest run again.
 * This does not disturb a debugger that is connected to QEMU's gdb server.
 *
 * If the pc of a CPU does not change, the reason may be that a busy host did not run the CPU. So the CPU time
 * of QEMU's threads is read, too.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/machine.h"
#include "capture/cpu_state.h"
#include "capture/wait.h"
#include "capture/error.h"
#include "capture/qmp.h"
#include "observe/observe.h"
#include "profile/stack.h"

#define APART_NS     75000000L /* time in ns between two samples */
#define WANTED	     1.0       /* CPU time in seconds that each CPU must have used */
#define MOST_SAMPLES 800u      /* maximum number of samples, for a host that is too busy to run the CPUs */
#define BYTES_MOST   STACK_WINDOW

struct taking {
	struct observe *observe;
	struct profile_names *names; /* functions of the kernel's file; NULL: the file is unknown */
	struct capture_monitor monitor;
	long thread[OBSERVE_CPUS];  /* for each CPU: id of the QEMU thread that runs it; 0: unknown */
	double begin[OBSERVE_CPUS]; /* CPU time of this thread at the first sample, in seconds */
	/* time for which this thread had run or had waited for a CPU of the host, at the first sample */
	double begin_awake[OBSERVE_CPUS];
	double begun; /* time of the first sample, in seconds */
	long process;
};

/* ---- QEMU's threads ------------------------------------------------------------------------------ */

/*
 * Returns the CPU time of a thread in seconds; negative if it is unknown. *awake: CPU time of the thread,
 * plus the time for which the thread was ready and waited for a CPU of the host.
 */
static double time_of(const struct taking *taking, long thread, double *awake)
{
	char path[80];
	double seconds = -1;
	uint64_t ns, waited;
	FILE *file;

	*awake = 0;
	if (!thread)
		return -1;
	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/schedstat", taking->process, thread);
	file = fopen(path, "re");
	if (file && fscanf(file, "%" SCNu64 " %" SCNu64, &ns, &waited) == 2) {
		seconds = (double)ns / 1e9;
		*awake = seconds + (double)waited / 1e9;
	}
	if (file)
		fclose(file);
	return seconds;
}

/* Returns the number of CPUs that a thread runs. It is greater than 1 if QEMU runs all CPUs in one thread. */
static unsigned shares_of(const struct taking *taking, long thread)
{
	unsigned shares = 0;

	for (uint32_t n = 0; n < OBSERVE_CPUS; n++)
		shares += taking->thread[n] == thread;
	return shares ? shares : 1;
}

static void find_threads(struct taking *taking)
{
	struct ucred who = { 0 };
	socklen_t size = sizeof(who);
	const json_t *answer;

	if (getsockopt(taking->monitor.qmp.fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || !who.pid ||
	    capture_monitor_command(&taking->monitor, "query-cpus-fast", NULL, &answer) != 0)
		return;
	taking->process = (long)who.pid;
	for (size_t n = 0; n < json_array_size(answer); n++) {
		const json_t *cpu = json_array_get(answer, n);
		const json_int_t index = json_integer_value(capture_json_at(cpu, "cpu-index"));

		if (index >= 0 && index < OBSERVE_CPUS)
			taking->thread[index] = (long)json_integer_value(capture_json_at(cpu, "thread-id"));
	}
	for (uint32_t n = 0; n < OBSERVE_CPUS; n++)
		taking->begin[n] = time_of(taking, taking->thread[n], &taking->begin_awake[n]);
	taking->begun = capture_now();
}

static void measure(struct taking *taking)
{
	for (uint32_t n = 0; n < taking->observe->cpus; n++) {
		double awake;
		const double now = time_of(taking, taking->thread[n], &awake);

		taking->observe->cpu[n].ran =
			now < 0 || taking->begin[n] < 0
				? -1
				: (now - taking->begin[n]) / shares_of(taking, taking->thread[n]);
	}
}

/*
 * Returns whether the thread of a CPU slept for most of the time: the guest's CPU waits for interrupts, and
 * is not slow because the host is busy.
 */
static bool sleeps(const struct taking *taking, uint32_t n)
{
	double awake;

	return time_of(taking, taking->thread[n], &awake) >= 0 &&
	       awake - taking->begin_awake[n] < (capture_now() - taking->begun) / 2;
}

/*
 * Returns whether more samples of a CPU are needed: the CPU is not idle, and has not run for long enough.
 */
static bool wants_more(const struct taking *taking)
{
	for (uint32_t n = 0; n < taking->observe->cpus; n++) {
		const struct observe_cpu *cpu = &taking->observe->cpu[n];

		if (sleeps(taking, n))
			continue;
		if (cpu->ran >= 0 && cpu->ran < WANTED && cpu->lowest_pc != cpu->highest_pc)
			return true;
		/*
		 * A CPU with the same pc in all samples, and almost no CPU time, is probably halted, so more
		 * samples would show nothing new.
		 */
		if (cpu->ran > 0.05 && cpu->ran < WANTED && cpu->halted != OBSERVE_ALWAYS)
			return true;
	}
	return false;
}

/* ---- Memory -------------------------------------------------------------------------------------- */

/*
 * Reads bytes at a virtual address of a CPU. Parses the output of QEMU's human monitor: "ADDRESS: 0x12 0x34
 * …". Returns the number of bytes.
 */
static size_t read_bytes(struct taking *taking, uint32_t cpu, uint64_t address, unsigned char *bytes,
			 size_t size)
{
	char arguments[200];
	const json_t *answer;
	const char *at;
	size_t got = 0;

	snprintf(arguments, sizeof(arguments),
		 "{\"command-line\":\"x /%zuxb 0x%" PRIx64 "\",\"cpu-index\":%" PRIu32 "}", size, address,
		 cpu);
	if (capture_monitor_command(&taking->monitor, "human-monitor-command", arguments, &answer) != 0)
		return 0;
	at = json_string_value(answer);
	while (at && got < size && (at = strstr(at, " 0x"))) {
		bytes[got++] = (unsigned char)strtoul(at + 3, NULL, 16);
		at += 3;
	}
	return got;
}

static void read_code(struct taking *taking, uint32_t n)
{
	struct observe_cpu *cpu = &taking->observe->cpu[n];
	unsigned char code[2 * OBSERVE_CODE];

	if (read_bytes(taking, n, cpu->last_pc - OBSERVE_CODE, code, sizeof(code)) != sizeof(code))
		return;
	memcpy(cpu->before, code, OBSERVE_CODE);
	memcpy(cpu->at, code + OBSERVE_CODE, OBSERVE_CODE);
	cpu->has_code = true;
}

static void read_stack(struct taking *taking, uint32_t n, const char *registers)
{
	struct observe_cpu *cpu = &taking->observe->cpu[n];
	const uint16_t machine = taking->observe->machine;
	const struct stack_registers start = {
		.pc = cpu->last_pc,
		.sp = capture_registers_value(registers, n, " sp="),
		.frame = capture_registers_value(registers, n,
						 machine == EM_X86_64	 ? " rbp="
						 : machine == EM_AARCH64 ? " x29="
									 : " s0="),
		.link = capture_registers_value(registers, n, machine == EM_RISCV ? " ra=" : " x30="),
		.user = cpu->user == OBSERVE_ALWAYS,
	};
	unsigned char bytes[BYTES_MOST];
	struct stack_walk walk;
	uint64_t address;
	size_t size;

	stack_walk_begin(&walk, machine, &start, profile_names_frame, taking->names);
	while (walk.places <= OBSERVE_PLACES && stack_walk_wants(&walk, &address, &size))
		stack_walk_put(&walk, address, bytes, read_bytes(taking, n, address, bytes, size));
	for (uint32_t place = 1; place < walk.places && place <= OBSERVE_PLACES; place++)
		cpu->place[cpu->places++] = walk.place[place];
}

/* ---- Samples ------------------------------------------------------------------------------------- */

static int ask_state(struct taking *taking)
{
	struct observe *observe = taking->observe;
	const json_t *answer;
	const char *text;
	int error = capture_monitor_command(&taking->monitor, "query-target", NULL, &answer);

	if (error)
		return error;
	text = json_string_value(capture_json_at(answer, "arch"));
	observe->machine = base_machine_number(text ? text : "");
	if (observe->machine != EM_X86_64 && observe->machine != EM_AARCH64 && observe->machine != EM_RISCV)
		return capture_fail(CAPTURE_E_USAGE,
				    "the guest's architecture is %.40s, which is not supported",
				    text ? text : "unknown");
	error = capture_monitor_command(&taking->monitor, "query-status", NULL, &answer);
	if (error)
		return error;
	text = json_string_value(capture_json_at(answer, "status"));
	snprintf(observe->state, sizeof(observe->state), "%s", text ? text : "unknown");
	return 0;
}

/* Takes a sample. If `last` is set, also reads the code and the stack of each CPU. */
static int take_sample(struct taking *taking, bool running, bool last)
{
	char *printed = NULL, *registers = NULL;
	const json_t *answer;
	int error = running ? capture_monitor_command(&taking->monitor, "stop", NULL, &answer) : 0,
	    resumed = 0;

	if (!error)
		error = capture_monitor_print(&taking->monitor, CAPTURE_QMP_REGISTERS, &printed);
	if (!error && !observe_add(taking->observe, printed))
		error = capture_fail(CAPTURE_E_FORMAT, "QEMU prints no registers");
	if (!error && last)
		registers = capture_registers_of_qemu(printed);
	for (uint32_t n = 0; registers && n < taking->observe->cpus; n++) {
		read_code(taking, n);
		read_stack(taking, n, registers);
	}
	if (running)
		resumed = capture_monitor_command(&taking->monitor, "cont", NULL, &answer);
	free(printed);
	free(registers);
	return error ? error : resumed;
}

static int take_samples(struct taking *taking)
{
	const struct timespec apart = { .tv_nsec = APART_NS };
	const bool running = strcmp(taking->observe->state, "running") == 0;
	const double begin = capture_now();
	int error = 0;

	for (unsigned n = 0; !error && running && n < MOST_SAMPLES; n++) {
		error = capture_check_interrupt(taking->monitor.address);
		if (!error)
			error = take_sample(taking, true, false);
		measure(taking);
		if (n + 1 >= OBSERVE_SAMPLES - 1 && !wants_more(taking))
			break;
		nanosleep(&apart, NULL);
	}
	if (!error)
		error = take_sample(taking, running, true);
	measure(taking);
	taking->observe->seconds = capture_now() - begin;
	return error;
}

int observe_take(struct observe *observe, const char *qmp, int timeout_ms, const char *elf,
		 struct profile_names **names, const char **reason)
{
	struct taking taking = { .observe = observe };
	const json_t *answer;
	const char *path;
	sigset_t before;
	int error;

	memset(observe, 0, sizeof(*observe));
	*reason = NULL;
	capture_hold_signals(&before);
	error = capture_monitor_open(&taking.monitor, qmp, timeout_ms);
	if (!error) {
		error = ask_state(&taking);
		if (!error && capture_monitor_command(&taking.monitor, "qom-get",
						      "{\"path\":\"/machine\",\"property\":\"kernel\"}",
						      &answer) == 0) {
			path = json_string_value(answer);
			snprintf(observe->kernel, sizeof(observe->kernel), "%s", path ? path : "");
		}
		elf = elf ? elf : observe->kernel;
		if (!error && *elf)
			profile_names_open(&taking.names, elf, observe->machine, reason);
		if (!error) {
			find_threads(&taking);
			error = take_samples(&taking);
		}
		capture_monitor_close(&taking.monitor);
	}
	capture_release_signals(&before, 0);
	*names = taking.names;
	return error;
}

/* ---- The registers in a sample ------------------------------------------------------------------- */

/* Reads the registers in a sample. Their text comes from QEMU, and is not trusted. */

#define X86_INTERRUPTS	   0x200u /* bit IF in the register eflags or rflags */
#define ARM_MASKED	   0x80u  /* bit I in PSTATE */
#define ARM_FAST_MASKED	   0x40u  /* bit F in PSTATE */
#define ARM_LEVEL	   0x0fu
#define RISCV_SUPERVISOR   0x2u /* bit SIE in mstatus */
#define RISCV_MACHINE_MODE 0x8u /* bit MIE in mstatus */

/* Finds " NAME=HEX" in a line of registers. */
static bool find(const char *line, size_t length, const char *name, uint64_t *value)
{
	const char *found = memmem(line, length, name, strlen(name));

	if (found)
		*value = strtoull(found + strlen(name), NULL, 16);
	return found != NULL;
}

static void add_fact(enum observe_fact *fact, bool first, bool known, bool value)
{
	if (!known)
		*fact = OBSERVE_UNKNOWN;
	else if (first)
		*fact = value ? OBSERVE_ALWAYS : OBSERVE_NEVER;
	else if (*fact != OBSERVE_UNKNOWN && *fact != (value ? OBSERVE_ALWAYS : OBSERVE_NEVER))
		*fact = OBSERVE_SOMETIMES;
}

/* Adds the modes of a CPU, which are taken from the registers in the CPU's line. */
static void add_modes(struct observe_cpu *cpu, uint16_t machine, const char *line, size_t length)
{
	const bool first = cpu->samples == 0;
	uint64_t value = 0;
	bool known;

	if (machine == EM_X86_64) {
		known = find(line, length, " flags=", &value);
		add_fact(&cpu->interrupts, first, known, value & X86_INTERRUPTS);
		add_fact(&cpu->fast, first, known, value & X86_INTERRUPTS);
		known = find(line, length, " cpl=", &value);
		add_fact(&cpu->user, first, known, value == 3);
		known = find(line, length, " hlt=", &value);
		add_fact(&cpu->halted, first, known, value == 1);
	} else if (machine == EM_AARCH64) {
		known = find(line, length, " pstate=", &value);
		add_fact(&cpu->interrupts, first, known, !(value & ARM_MASKED));
		add_fact(&cpu->fast, first, known, !(value & ARM_FAST_MASKED));
		add_fact(&cpu->user, first, known, (value & ARM_LEVEL) == 0);
		add_fact(&cpu->halted, first, false, false);
	} else {
		/* the mode decides which of the two bits enables interrupts, and the mode is unknown */
		known = find(line, length, " mstatus=", &value) &&
			!(value & (RISCV_SUPERVISOR | RISCV_MACHINE_MODE));
		add_fact(&cpu->interrupts, first, known, false);
		add_fact(&cpu->fast, first, known, false);
		add_fact(&cpu->user, first, false, false);
		add_fact(&cpu->halted, first, false, false);
	}
}

static uint64_t hash_of(const char *line, size_t length)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t n = 0; n < length; n++)
		hash = (hash ^ (unsigned char)line[n]) * UINT64_C(1099511628211);
	return hash;
}

static void add_state(struct observe_cpu *cpu, uint64_t hash)
{
	for (uint32_t n = 0; n < cpu->states && n < OBSERVE_STATES; n++)
		if (cpu->state[n] == hash)
			return;
	if (cpu->states < OBSERVE_STATES)
		cpu->state[cpu->states] = hash;
	if (cpu->states <= OBSERVE_STATES)
		cpu->states++;
}

static void add_cpu(struct observe *observe, const char *line, size_t length)
{
	const unsigned long number = strtoul(line + 4, NULL, 10);
	struct observe_cpu *cpu;
	uint64_t pc, hash;

	if (number >= OBSERVE_CPUS || !find(line, length, " pc=", &pc))
		return;
	cpu = &observe->cpu[number];
	if (number >= observe->cpus)
		observe->cpus = (uint32_t)number + 1;
	add_modes(cpu, observe->machine, line, length);
	hash = hash_of(line, length);
	if (cpu->samples == 0)
		cpu->first_pc = cpu->lowest_pc = cpu->highest_pc = pc;
	cpu->lowest_pc = pc < cpu->lowest_pc ? pc : cpu->lowest_pc;
	cpu->highest_pc = pc > cpu->highest_pc ? pc : cpu->highest_pc;
	add_state(cpu, hash);
	cpu->last_pc = pc;
	cpu->samples++;
}

bool observe_add(struct observe *observe, const char *printed)
{
	char *text = capture_registers_of_qemu(printed);
	bool added = false;

	for (const char *line = text; line && *line;) {
		const size_t length = strcspn(line, "\n");

		if (strncmp(line, "cpu ", 4) == 0) {
			add_cpu(observe, line, length);
			added = true;
		}
		line += length + (line[length] == '\n');
	}
	free(text);
	return added;
}
