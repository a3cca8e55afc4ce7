/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads the parts of a trace that are not events: the kernel's state tables, the host's note, and registers.
 */
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/note.h"
#include "analyze/rules.h"
#include "ktrx/slot.h"
#include "why/evidence_state.h"
#include "why/pulse.h"

#define SILENCE_MOST 1e6    /* s */
#define SKEW_MS	     100u   /* time in ms: maximum difference between the clocks of different CPUs */
#define TICKS_MOST   0x1p62 /* number of ticks: a larger number in a table is not a valid timestamp */

static bool is_yes(const char *text, const char *key)
{
	size_t length;
	const char *value = note_find(text, key, &length);

	return value && length == 3 && memcmp(value, "yes", 3) == 0;
}

uint64_t why_silent_ticks(const struct why_evidence *evidence)
{
	bool more;
	const double seconds = note_silence(evidence->info->note, &more);
	const double ticks = seconds * (double)evidence->info->frequency;

	return seconds > 0 && seconds < SILENCE_MOST && ticks < TICKS_MOST ? (uint64_t)ticks : 0;
}

void why_note(struct why_evidence *evidence)
{
	const char *note = evidence->info->note;
	size_t length;
	const char *ended = note_find(note, "ended", &length);

	if (ended) {
		if (length >= sizeof(evidence->ended))
			length = sizeof(evidence->ended) - 1;
		memcpy(evidence->ended, ended, length);
	}
	evidence->stalled = is_yes(note, "stalled");
	evidence->reset = is_yes(note, "reset");
	evidence->made_progress = note_silence(note, &evidence->silence_is_longer) == 0;
}

/* ---- The kernel's tables ------------------------------------------------------------------------- */

#define ROWS 64u /* number of table rows that are read in one call */

/*
 * Sets the interrupt state of a CPU to unknown if it is "disabled" in user mode. The return to user mode
 * enables interrupts, but the kernel cannot call a hook at that moment, so this state is out of date.
 */
static void doubt_interrupts(struct ktrx_cpu *row)
{
	if (row->mode == KTRX_MODE_USER && row->interrupts == KTRX_INTERRUPTS_OFF)
		row->interrupts = KTRX_INTERRUPTS_UNKNOWN;
}

static int read_cpus(struct why_evidence *evidence)
{
	uint32_t called = 0;
	int got = 0;

	for (uint32_t n = 0;
	     n < evidence->cpus && (got = ktread_cpus(evidence->trace, n, &evidence->cpu[n].row, 1)) == 1;
	     n++) {
		struct ktrx_cpu *row = &evidence->cpu[n].row;

		row->thread &= KTRX_THREAD_MAX;
		row->broken_thread &= KTRX_THREAD_MAX;
		doubt_interrupts(row);
		evidence->cpu[n].has_row = true;
		called |= row->hooks;
		evidence->refused += row->refused;
		evidence->idle_recorded |= row->mode == KTRX_MODE_IDLE;
		evidence->switched |= row->switches > 0;
		if (row->heartbeats > evidence->most_beats)
			evidence->most_beats = row->heartbeats;
	}
	evidence->missing_hooks = WHY_ALL_HOOKS & ~called;
	evidence->state_off = rules_state_is_off(evidence->trace);
	evidence->exits_recorded = called & KTRX_HOOK_EXIT;
	return got < 0 ? got : 0;
}

static int take_holder(struct why_reader *reader, const struct ktrx_holder *holder)
{
	struct why_evidence *evidence = reader->evidence;
	const uint32_t cpu = holder->id & ~KTRX_HOLDER_CPU, owner = holder->owner & ~KTRX_HOLDER_CPU;
	struct why_thread *thread;

	if (holder->id && holder->wait == KTRX_WAIT_SPIN && holder->owner & KTRX_HOLDER_CPU &&
	    owner < evidence->cpus)
		evidence->cpu[owner].named = true;

	if (holder->id & KTRX_HOLDER_CPU) {
		if (cpu < evidence->cpus) {
			evidence->cpu[cpu].holder = *holder;
			evidence->cpu[cpu].has_holder = true;
		}
	} else if (holder->id) {
		thread = why_thread_touch(reader, holder->id - 1);
		if (thread) {
			thread->holder = *holder;
			thread->has_holder = true;
			evidence->blocks_recorded |= holder->state == KTRX_THREAD_WAITING;
		}
		evidence->left_out += !thread && !reader->error;
	}
	evidence->free_rows |= holder->id == 0;
	evidence->timeouts_recorded |= holder->id && (holder->deadline || holder->wait == KTRX_WAIT_TIME);
	if (reader->error || holder->wait == KTRX_WAIT_NONE || holder->wait == KTRX_WAIT_THREAD)
		return reader->error;
	return why_object_touch(evidence, holder->object, holder->object_name,
				strnlen(holder->object_name, sizeof(holder->object_name)));
}

/*
 * Marks the state of threads and locks as missing. Called if the kernel has no table of holders, so that only
 * events can show this state.
 */
static void note_no_table(struct why_evidence *evidence)
{
	const uint32_t kept = KTRX_HOOK_THREAD | KTRX_HOOK_LOCK;

	evidence->no_holders = (evidence->missing_hooks & kept) != kept;
	evidence->missing_hooks |= kept;
}

static int read_holders(struct why_reader *reader)
{
	struct ktrx_holder *rows = malloc(ROWS * sizeof(*rows));
	int got = 0, error = rows ? 0 : KTREAD_E_MEMORY;

	for (uint32_t first = 0; !error; first += ROWS) {
		got = ktread_holders(reader->evidence->trace, first, rows, ROWS);
		if (first == 0 && got == 0)
			note_no_table(reader->evidence);
		for (int n = 0; n < got && !error; n++)
			error = take_holder(reader, &rows[n]);
		if (got < (int)ROWS) {
			error = error ? error : got < 0 ? got : 0;
			break;
		}
	}
	free(rows);
	return error;
}

/*
 * Sets the state of a thread to unknown if its row says that the thread runs, but its CPU has switched to
 * another thread since. Then the kernel did not report that the thread left the CPU: a switch has no hook, or
 * the hook gave a wrong number, such as one from the memory of a thread that had been freed.
 */
static void doubt_running(struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->threads; n++) {
		struct ktrx_holder *row = &evidence->thread[n].holder;
		const struct why_cpu *cpu = row->cpu < evidence->cpus ? &evidence->cpu[row->cpu] : NULL;

		if (evidence->thread[n].has_holder && row->state == KTRX_THREAD_RUNNING && cpu &&
		    cpu->has_row && cpu->row.thread != evidence->thread[n].id &&
		    cpu->row.switch_stamp > row->state_stamp) {
			row->state = KTRX_THREAD_UNKNOWN;
			row->state_stamp = 0;
		}
	}
}

int why_tables(struct why_reader *reader)
{
	int error = read_cpus(reader->evidence);

	if (!error)
		error = read_holders(reader);
	if (!error)
		doubt_running(reader->evidence);
	return error;
}

/*
 * Reads the registers and stack of each CPU. The host has written them as text after it halted the CPUs
 * (spec/ktrx.md, section 3).
 */

/* Reads a number and moves *at after the number. Returns false if there is no number. */
static bool take_number(const char **at, int base, uint64_t *number)
{
	char *end;

	*at += strspn(*at, " ");
	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*number = strtoull(*at, &end, base);
	if (end == *at || errno)
		return false;
	*at = end;
	return true;
}

static struct why_cpu *take_cpu(struct why_evidence *evidence, const char **at)
{
	uint64_t number;

	return take_number(at, 10, &number) && number < evidence->cpus ? &evidence->cpu[number] : NULL;
}

/* Returns the text after `word` if the text at `at` begins with `word`, otherwise NULL. */
static const char *after_word(const char *at, const char *word)
{
	const size_t length = strlen(word);

	return strncmp(at, word, length) == 0 ? at + length : NULL;
}

#define RISCV_INTERRUPT (UINT64_C(1) << 63)
/* values of the register scause: the cause of the last trap */
#define RISCV_FETCH	  1u  /* an instruction was fetched from an address that cannot be accessed */
#define RISCV_FETCH_PAGE  12u /* an instruction was fetched from a page that is not mapped */
#define RISCV_CALLS	  8u  /* values 8 to 11: the trap was a system call, not a fault */
#define RISCV_CALL_LAST	  11u
#define RISCV_VECTOR_MODE UINT64_C(3) /* bits of the register stvec that are not part of the address */

/*
 * Reads the address of the instruction that caused the last exception into cpu->trap_pc. This address is
 * unknown if the last trap was an interrupt or a system call. Only RISC-V has this address in registers. The
 * address is in sepc, with the cause in scause. If the kernel runs in machine mode, the address is in mepc,
 * with the cause in mcause. If no trap has occurred, all these registers are 0.
 */
static void read_trap(struct why_cpu *cpu, const char *line)
{
	static const char *const names[][3] = { { " sepc=", " scause=", " stvec=" },
						{ " mepc=", " mcause=", " mtvec=" } };
	const size_t length = strcspn(line, "\n");

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		const char *pc = memmem(line, length, names[n][0], strlen(names[n][0]));
		const char *why = memmem(line, length, names[n][1], strlen(names[n][1]));
		const char *vector = memmem(line, length, names[n][2], strlen(names[n][2]));
		uint64_t at, cause;

		if (!pc || !why)
			continue;
		at = strtoull(pc + strlen(names[n][0]), NULL, 16);
		cause = strtoull(why + strlen(names[n][1]), NULL, 16);
		cpu->fetch_failed = cause == RISCV_FETCH || cause == RISCV_FETCH_PAGE;
		if (at && !(cause & RISCV_INTERRUPT) && (cause < RISCV_CALLS || cause > RISCV_CALL_LAST))
			cpu->trap_pc = at;
		cpu->vector =
			vector ? strtoull(vector + strlen(names[n][2]), NULL, 16) & ~RISCV_VECTOR_MODE : 0;
		cpu->vector_fails = cpu->fetch_failed && vector && at == cpu->vector;
		if (at || cpu->fetch_failed)
			return;
	}
}

/* Reads whether an interrupt is pending, and enabled apart from mstatus. Only RISC-V has these registers. */
static void read_pending(struct why_cpu *cpu, const char *line)
{
	const size_t length = strcspn(line, "\n");
	const char *pending = memmem(line, length, " mip=", 5), *enabled = memmem(line, length, " mie=", 5);

	cpu->irq_pending =
		pending && enabled && (strtoull(pending + 5, NULL, 16) & strtoull(enabled + 5, NULL, 16));
}

static void read_registers(struct why_cpu *cpu, uint64_t *link, const char *at)
{
	const char *value;
	uint64_t halted;

	cpu->side = privilege_of(at);
	cpu->mask = interrupt_mask_of(at);
	read_trap(cpu, at);
	read_pending(cpu, at);
	while (*at == ' ') {
		at++;
		if ((value = after_word(at, "pc=")))
			cpu->has_registers = take_number(&value, 16, &cpu->pc);
		else if ((value = after_word(at, "sp=")))
			cpu->without_stack = take_number(&value, 16, &cpu->sp) && cpu->sp == 0;
		else if ((value = after_word(at, "hlt=")) && take_number(&value, 16, &halted))
			*(halted ? &cpu->halted : &cpu->awake) = true;
		else if ((value = after_word(at, "x30=")))
			take_number(&value, 16, link);
		at += strcspn(at, " \n");
	}
}

/*
 * Returns the start of the function that contains `address`, 0 if unknown. `call` states whether `address` is
 * a return address.
 */
static uint64_t function_at(const struct why_evidence *evidence, uint64_t address, bool call)
{
	struct symbol symbol;
	int status;

	status = call ? symbols_find_call(evidence->symbols, address, &symbol)
		      : symbols_find(evidence->symbols, address, &symbol);
	return status == 0 ? address - symbol.offset : 0;
}

/*
 * Returns whether the instruction before the function is a call of the function, according to the kernel's
 * file: the function before this one ends with a call that does not return.
 */
static bool is_called_before(const struct why_evidence *evidence, uint64_t function)
{
	static const struct {
		uint32_t machine, size;
		unsigned char bytes[8];
	} call[] = {
		{ EM_X86_64, 5, { 0xe8, 0, 0, 0, 0 } },			 /* call +0 */
		{ EM_AARCH64, 4, { 0x01, 0, 0, 0x94 } },		 /* bl +4 */
		{ EM_RISCV, 4, { 0xef, 0, 0x40, 0 } },			 /* jal ra, +4 */
		{ EM_RISCV, 8, { 0x97, 0, 0, 0, 0xe7, 0x80, 0x80, 0 } }, /* auipc ra, 0; jalr ra, 8(ra) */
	};
	unsigned char code[sizeof(call[0].bytes)];

	for (size_t n = 0; n < sizeof(call) / sizeof(call[0]); n++)
		if (call[n].machine == evidence->info->machine &&
		    symbols_code(evidence->symbols, function - call[n].size, code, call[n].size) == 0 &&
		    memcmp(code, call[n].bytes, call[n].size) == 0)
			return true;
	return false;
}

/*
 * Reads return addresses. Stops at an address of data in the kernel's image, because this address and the
 * addresses after it are not return addresses. Ignores a last address that is the start of the function that
 * it should return from: a new thread begins in a function that was not called, and the kernel has stored
 * that function's own address where its frame would have a return address. But a call directly before the
 * function also returns to this address, and is its caller.
 */
static void read_stack(const struct why_evidence *evidence, struct why_cpu *cpu, const char *at)
{
	uint64_t back, called;

	while (*at == ' ' && cpu->frames < WHY_FRAMES && take_number(&at, 16, &back) &&
	       (symbols_has_code(evidence->symbols, back) || !symbols_has(evidence->symbols, back)))
		cpu->frame[cpu->frames++] = back;
	if (cpu->frames == 0)
		return;
	called = cpu->frames == 1 ? function_at(evidence, cpu->pc, false)
				  : function_at(evidence, cpu->frame[cpu->frames - 2], true);
	if (called && called == cpu->frame[cpu->frames - 1] && !is_called_before(evidence, called))
		cpu->frames--;
}

/*
 * Adds a caller whose return address is only in the link register: an AArch64 function that calls no other
 * function stores no frame.
 *
 * Adds nothing if the link register points into the function itself: in this case, the function has called
 * another function, and has stored a frame. Adds nothing if the first frame holds this return address
 * already.
 */
static void add_link(const struct why_evidence *evidence, struct why_cpu *cpu, uint64_t link)
{
	const bool is_kernel = cpu->has_registers && cpu->side != PRIVILEGE_USER;
	const uint64_t function = is_kernel && link ? function_at(evidence, cpu->pc, false) : 0;
	const uint64_t caller = function ? function_at(evidence, link, true) : 0;

	if (!caller || caller == function || (cpu->frames && cpu->frame[0] == link))
		return;
	cpu->frames -= cpu->frames == WHY_FRAMES;
	memmove(&cpu->frame[1], &cpu->frame[0], cpu->frames * sizeof(cpu->frame[0]));
	cpu->frame[0] = link;
	cpu->frames++;
}

int why_registers(struct why_evidence *evidence)
{
	const char *at = evidence->info->registers;
	/* value of each CPU's link register */
	uint64_t *link = calloc((size_t)evidence->cpus + 1, sizeof(*link));

	if (!link)
		return KTREAD_E_MEMORY;
	while (*at) {
		const char *stack = after_word(at, "stack "), *registers = after_word(at, "cpu ");
		struct why_cpu *cpu;

		if (stack && (cpu = take_cpu(evidence, &stack)))
			read_stack(evidence, cpu, stack);
		else if (registers && (cpu = take_cpu(evidence, &registers)))
			read_registers(cpu, &link[cpu->number], registers);
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	for (uint32_t n = 0; n < evidence->cpus; n++)
		add_link(evidence, &evidence->cpu[n], link[n]);
	free(link);
	return 0;
}

static void raise(uint64_t *stamp, uint64_t least)
{
	if (*stamp && *stamp < least)
		*stamp = least;
}

void why_end_row(const struct why_evidence *evidence, struct why_thread *thread)
{
	struct ktrx_holder *row = &thread->holder;
	const uint64_t ended = row->state_stamp;

	if (!thread->has_holder || row->state != KTRX_THREAD_UNKNOWN || ended == 0)
		return;
	if (thread->idle || scheduling_states_are_wrong(evidence->scheduling) || thread->created > ended ||
	    thread->last_own_event > ended || thread->since > ended) {
		row->state_stamp = 0;
		return;
	}
	row->wait = KTRX_WAIT_NONE;
	thread->object = thread->blocked = thread->contends = 0;
	if (thread->state != THREADS_DEAD)
		thread->since = ended;
	thread->state = THREADS_DEAD;
}

void why_run_row(const struct why_evidence *evidence, struct why_thread *thread)
{
	struct ktrx_holder *row = &thread->holder;
	const struct ktrx_cpu *cpu;

	if (!thread->has_holder || row->state != KTRX_THREAD_RUNNABLE || row->cause != KTRX_CAUSE_WAKE ||
	    row->cpu >= evidence->cpus)
		return;
	cpu = &evidence->cpu[row->cpu].row;
	if (evidence->cpu[row->cpu].has_row && cpu->thread == thread->id && cpu->switch_stamp &&
	    row->state_stamp >= cpu->switch_stamp && cpu->mode != KTRX_MODE_IDLE)
		row->state = KTRX_THREAD_RUNNING;
}

/* Returns the timestamp of the row's state, or, without it, the last one of its locks and wait. 0: none. */
static uint64_t last_stamp(const struct ktrx_holder *row)
{
	uint64_t last = row->wait == KTRX_WAIT_NONE ? 0 : row->wait_stamp;

	for (uint32_t n = 0; n < KTRX_HELD && n < row->held_count; n++)
		if (row->held[n].stamp > last)
			last = row->held[n].stamp;
	return row->state_stamp ? row->state_stamp : last;
}

void why_bound_row(const struct why_evidence *evidence, struct why_thread *thread)
{
	struct ktrx_holder *row = &thread->holder;
	const uint64_t last = last_stamp(row);

	if (!thread->has_holder || thread->created == 0)
		return;
	if (last && last + why_ms(evidence, SKEW_MS) < thread->created &&
	    row->state != KTRX_THREAD_RUNNABLE) {
		row->state = KTRX_THREAD_UNKNOWN;
		row->state_stamp = 0;
		row->wait = KTRX_WAIT_NONE;
		row->held_count = 0;
		memset(row->held, 0, sizeof(row->held));
	}
	/*
	 * a state without a timestamp stays without one: why_end_row() takes a timestamp for that of the end
	 */
	if (row->state_stamp)
		raise(&row->state_stamp, thread->created);
	raise(&row->wait_stamp, thread->created);
	for (uint32_t n = 0; n < KTRX_HELD; n++)
		raise(&row->held[n].stamp, thread->created);
}
