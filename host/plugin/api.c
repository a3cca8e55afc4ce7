/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "api.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_CALLS = 2, VERSION_COPIES = 3, VERSION_10 = 4 };

/*
 * A plugin must state a version that QEMU supports. QEMU reads it after the constructors of the plugin have
 * run. A QEMU that supports version 1 has a function that version 2 no longer has.
 */
int qemu_plugin_version = VERSION_CALLS;

static int version; /* the version of QEMU's plugin interface */

__attribute__((constructor)) static void choose_version(void)
{
	if (qemu_plugin_register_vcpu_tb_exec_inline != NULL)
		qemu_plugin_version = 1;
}

const char *api_open(const struct qemu_info *info)
{
	version = info->version.cur;
	if (version < VERSION_CALLS && qemu_plugin_register_vcpu_tb_exec_inline == NULL)
		return "this version of QEMU's plugin interface is unknown";
	return NULL;
}

/* ---- Instructions ------------------------------------------------------------------------------ */

/* the function of versions 1 and 2 */
typedef const void *get_bytes(const struct qemu_plugin_insn *instruction);

size_t api_bytes(const struct qemu_plugin_insn *instruction, unsigned char *bytes)
{
	const size_t size = qemu_plugin_insn_size(instruction);
	void *const function = (void *)qemu_plugin_insn_data;

	if (size > API_INSTRUCTION_MOST)
		return 0;
	if (version >= VERSION_COPIES)
		return qemu_plugin_insn_data(instruction, bytes, size) == size ? size : 0;
	memcpy(bytes, (*(get_bytes *const *)&function)(instruction), size);
	return size;
}

/* ---- Addresses of code ------------------------------------------------------------------------- */

/*
 * Flags for the translation of code (include/exec/translation-block.h), as in QEMU 10.0. CODE_IS_RELATIVE:
 * QEMU translates a block once for all addresses at which its page is mapped. Then a plugin knows only the
 * address at which the block was executed first.
 */
#define CODE_COUNTS	 UINT32_C(0x00002000)
#define CODE_IS_PARALLEL UINT32_C(0x00008000)
#define CODE_IS_RELATIVE UINT32_C(0x00020000)
#define CODE_CLUSTER	 UINT32_C(0xff000000)

#define CPU_BYTES ((size_t)1 << 20) /* larger than the part of struct CPUState before the flags */

/* Adds flags to those of a CPU. */
QEMU_WEAK void tcg_cflags_set(struct CPUState *cpu, uint32_t flags);

/*
 * Returns the position of the flags in struct CPUState, as a number of words; 0 if it is unknown. The
 * position is found with QEMU's own function, which sets a flag in memory that is otherwise zero.
 */
static size_t flags_position(void)
{
	const size_t words = CPU_BYTES / sizeof(uint32_t);
	uint32_t *model = tcg_cflags_set != NULL ? calloc(words, sizeof(*model)) : NULL;
	size_t n = 0;

	if (model == NULL)
		return 0;
	tcg_cflags_set((void *)model, CODE_IS_RELATIVE);
	while (n < words && model[n] != CODE_IS_RELATIVE)
		n++;
	free(model);
	return n < words ? n : 0;
}

void api_begin_cpu(unsigned cpu)
{
	const uint32_t known = CODE_COUNTS | CODE_IS_PARALLEL | CODE_IS_RELATIVE | CODE_CLUSTER;
	const size_t position = version >= VERSION_10 && qemu_get_cpu != NULL ? flags_position() : 0;
	uint32_t *flags = position != 0 ? (void *)qemu_get_cpu((int)cpu) : NULL;

	if (flags != NULL && (flags[position] & ~known) == 0)
		flags[position] &= ~CODE_IS_RELATIVE;
}

/* ---- CPUs -------------------------------------------------------------------------------------- */

static bool is_shared; /* one thread runs all CPUs */

bool api_share_thread(void)
{
	is_shared = true;
	return !api_has_wrong_cpus() || qemu_get_cpu != NULL;
}

/*
 * A QEMU of this version translates the number of the CPU that runs into a constant of the block, if one
 * thread runs all CPUs. But all these CPUs execute the block.
 */
bool api_has_wrong_cpus(void)
{
	return is_shared && version >= VERSION_10;
}

unsigned api_cpu(unsigned reported)
{
	static const struct CPUState *last;
	static unsigned number;
	unsigned n = 0;

	if (!api_has_wrong_cpus())
		return reported;
	if (current_cpu == last)
		return number;
	for (const struct CPUState *cpu; (cpu = qemu_get_cpu((int)n)) != current_cpu; n++)
		if (cpu == NULL)
			return reported;
	last = current_cpu;
	number = n;
	return number;
}

/* ---- Executions of blocks ---------------------------------------------------------------------- */

static void add_one(unsigned cpu, void *executions)
{
	uint64_t *word = executions;

	(void)cpu;
	__atomic_store_n(word, *word + 1, __ATOMIC_RELAXED);
}

/*
 * Since version 2, QEMU adds to a word of each CPU instead. With version 4 and one thread for all CPUs, its
 * translation of this for a CPU other than 0 writes to a constant of the block.
 */
void api_count_block(struct qemu_plugin_tb *block, uint64_t *executions)
{
	if (version < VERSION_CALLS)
		qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, executions, 1);
	else
		qemu_plugin_register_vcpu_tb_exec_cb(block, add_one, QEMU_PLUGIN_CB_NO_REGS, executions);
}

/* ---- QEMU's virtual clock ---- */

static struct {
	uint64_t instruction; /* duration of one instruction in ns */
	uint64_t begin;	      /* time at which the CPU began to run */
	/* number of instructions in the blocks since `begin`, without the current block */
	uint64_t instructions;
	uint64_t current; /* number of instructions of the current block */
	uint64_t latest;
} now;

bool virtual_is_known(void)
{
	return qemu_clock_get_ns != NULL;
}

void virtual_open(uint64_t nanoseconds)
{
	now.instruction = nanoseconds;
}

/*
 * In a thread that runs a CPU, QEMU's function adds to the clock the time of the instructions that the CPU
 * has executed, and exits if it cannot. While `current_cpu` is NULL, the function treats the thread like any
 * other thread, and adds nothing.
 */
uint64_t virtual_begin_of_run(void)
{
	struct CPUState *self = current_cpu;
	int64_t time;

	current_cpu = NULL;
	time = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	current_cpu = self;
	return (uint64_t)time;
}

void virtual_begin_block(uint64_t instructions)
{
	const uint64_t begin = virtual_begin_of_run();

	now.instructions += now.current;
	if (begin != now.begin) {
		now.begin = begin;
		now.instructions = 0;
	}
	now.current = instructions;
}

uint64_t virtual_now(void)
{
	const uint64_t time = now.begin + now.instruction * now.instructions;

	now.latest = time > now.latest ? time : now.latest;
	return now.latest;
}
