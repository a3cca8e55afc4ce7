/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The functions that QEMU calls. While nothing is traced, the plugin only watches the translation of code, to
 * find doorbells. When the first trace is enabled, all code is translated again, with points. When no trace
 * has been enabled for a while, all code is translated again, without points.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "flow.h"
#include "trace.h"

#define PAGE_MASK UINT64_C(0xfff)
/* maximum number of instructions of a block that the plugin reads; QEMU puts at most 512 into a block */
#define INSTRUCTIONS_MOST 1024u

static const struct encoder *const encoders[] = { &encoder_pt, &encoder_etm4 };
static const struct encoder *encoder;
static struct arguments arguments;
static qemu_plugin_id_t identity;
static unsigned cpus;
static _Atomic int armed; /* nonzero if newly translated blocks get points */

/*
 * The address after the last marker at the end of a block. At this address, another block begins with the
 * store to the doorbell. This variable can remember only one marker: if it is overwritten before that block
 * is translated, this use of the doorbell is ignored.
 */
static _Atomic uint64_t split_marker;

static void arm(int on);

/* ---- While the guest runs ---------------------------------------------------------------------- */

static void doorbell(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	struct qemu_plugin_hwaddr *place = qemu_plugin_get_hwaddr(info, address);
	const struct point *point = data;

	if (place == NULL || qemu_plugin_hwaddr_is_io(place))
		return;
	unit_ring(api_cpu(cpu), qemu_plugin_hwaddr_phys_addr(place), point->address + point->size);
	if (!armed && flow_enabled() > 0)
		arm(1);
}

static void disarm(void)
{
	arm(0);
}

/* The same callbacks, if QEMU passes them the number of the wrong CPU. */
static void find_and_enter(unsigned cpu, void *point)
{
	flow_enter(api_cpu(cpu), point);
}

static void find_and_pass(unsigned cpu, void *point)
{
	flow_pass(api_cpu(cpu), point);
}

/*
 * QEMU calls this function in the thread that runs a CPU, before this CPU runs any code.
 */
static void begin_cpu(qemu_plugin_id_t id, unsigned vcpu)
{
	static _Thread_local int has_cpu;
	static int warned;

	(void)id;
	api_begin_cpu(vcpu);
	if (has_cpu && !api_share_thread() && !warned) {
		warned = 1;
		fputs("ktrace-pt: WARNING: this QEMU runs several CPUs in one thread, and does not export "
		      "which CPU runs: all code is recorded as that of one CPU\n",
		      stderr);
	}
	has_cpu = 1;
}

/* ---- Translation ------------------------------------------------------------------------------- */

/* Returns the number of instructions; 0 if their bytes are unknown. */
static size_t read_block(const struct qemu_plugin_tb *tb, struct instruction *instruction)
{
	static _Thread_local unsigned char bytes[INSTRUCTIONS_MOST][API_INSTRUCTION_MOST];
	size_t count = qemu_plugin_tb_n_insns(tb);
	int rings = 0;

	if (count > INSTRUCTIONS_MOST)
		count = INSTRUCTIONS_MOST;
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct instruction *one = &instruction[i];

		*one = (struct instruction){ .address = qemu_plugin_insn_vaddr(insn),
					     .bytes = bytes[i],
					     .size = api_bytes(insn, bytes[i]) };
		if (one->size == 0)
			return 0;
		one->rings = i > 0 ? rings : one->address == split_marker;
		rings = !arguments.hidden && encoder->marker(one->bytes, one->size);
		one->stop =
			one->rings || (armed && arguments.exact && encoder->faults(one->bytes, one->size));
	}
	if (rings)
		split_marker = instruction[count - 1].address + instruction[count - 1].size;
	return count;
}

/*
 * Registers callbacks for `count` instructions of a block of QEMU, from number `first_insn` on. The plugin
 * regards these instructions as one block.
 */
static void watch_block(const struct qemu_plugin_tb *tb, size_t first_insn,
			const struct instruction *instruction, size_t count, int watched)
{
	struct block *block = block_get(encoder, instruction, count);
	const int find = api_has_wrong_cpus();
	const qemu_plugin_vcpu_udata_cb enter = find ? find_and_enter : flow_enter;
	const qemu_plugin_vcpu_udata_cb pass = find ? find_and_pass : flow_pass;
	size_t passed = 0;
	int first = 1;

	if (block == NULL)
		return;
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, first_insn + i);
		struct point *point;

		if (i + 1 == count)
			point = &block->end_point;
		else if (instruction[i].stop)
			point = &block->passed[passed++];
		else
			continue;
		if (watched)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, first ? enter : pass,
							       QEMU_PLUGIN_CB_NO_REGS, point);
		if (instruction[i].rings)
			qemu_plugin_register_vcpu_mem_cb(insn, doorbell, QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_W, point);
		first = 0;
	}
}

/*
 * Returns nonzero if the last instruction may cross the end of a page. If it does, QEMU shows the part on the
 * first page as the block's last instruction, but does not run the instruction in this block. So the plugin
 * treats such an instruction as a block of its own. If the instruction really crosses the end of the page,
 * this block is never reported; otherwise it is reported next.
 */
static int may_be_cut(const struct instruction *instruction, size_t count)
{
	uint64_t last = instruction[count - 1].address;

	return count > 1 && (last & PAGE_MASK) + encoder->longest > PAGE_MASK + 1;
}

/*
 * Returns true if the block contains a marker, or begins directly after a marker. While nothing is traced,
 * only such blocks are needed.
 */
static int has_marker(const struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb);

	if (count > 0 && qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)) == split_marker)
		return 1;
	for (size_t i = 0; i < count; i++) {
		unsigned char bytes[API_INSTRUCTION_MOST];
		const size_t size = api_bytes(qemu_plugin_tb_get_insn(tb, i), bytes);

		if (size > 0 && encoder->marker(bytes, size))
			return 1;
	}
	return 0;
}

static void begin_block(unsigned cpu, void *data)
{
	(void)cpu;
	virtual_begin_block((uintptr_t)data);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	static _Thread_local struct instruction instruction[INSTRUCTIONS_MOST];
	size_t count, rings = 0;
	int watched = armed;

	(void)id;
	if (arguments.instruction != 0)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, begin_block, QEMU_PLUGIN_CB_NO_REGS,
						     (void *)(uintptr_t)qemu_plugin_tb_n_insns(tb));
	if (!watched && !has_marker(tb))
		return;
	count = read_block(tb, instruction);
	for (size_t i = 0; i < count; i++)
		rings += instruction[i].rings;
	if (watched)
		/*
		 * Translating a block takes much longer than the code that runs between two translations, so
		 * the traces should read their clocks soon.
		 */
		flow_look_at_clocks();
	if (count == 0 || (!watched && rings == 0))
		return;
	if (!may_be_cut(instruction, count)) {
		watch_block(tb, 0, instruction, count, watched);
	} else {
		watch_block(tb, 0, instruction, count - 1, watched);
		watch_block(tb, count - 1, instruction + count - 1, 1, watched);
	}
}

/* Called when QEMU has discarded all translations. No virtual CPU is running a block then. */
static void flushed(qemu_plugin_id_t id)
{
	(void)id;
	flow_forget_blocks();
}

/* Called when a virtual CPU begins to wait for an interrupt, by the thread of this virtual CPU. */
static void halted(qemu_plugin_id_t id, unsigned vcpu)
{
	(void)id;
	flow_halted(vcpu);
}

static void watch(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_flush_cb(id, flushed);
	qemu_plugin_register_vcpu_idle_cb(id, halted);
}

static void watch_again(qemu_plugin_id_t id)
{
	flow_pause();
	watch(id);
}

/*
 * Makes QEMU translate all code again, with points if `on` is nonzero. This happens after every virtual CPU
 * has left its block.
 */
static void arm(int on)
{
	if (atomic_exchange(&armed, on) != on)
		qemu_plugin_reset(identity, watch_again);
}

/* ---- Loading ----------------------------------------------------------------------------------- */

static int refuse(const char *what, const char *why)
{
	fprintf(stderr, "ktrace-pt: %s%s%s\n", what, *why != '\0' ? ": " : "", why);
	return -1;
}

static int open_rings(void)
{
	const char *wrong =
		rings_open(arguments.out, cpus, arguments.ring_size, arguments.code_size, encoder);

	if (wrong != NULL) {
		fprintf(stderr, "ktrace-pt: %s: %s: %s\n", arguments.out, wrong, strerror(errno));
		return -1;
	}
	for (unsigned i = 0; i < cpus; i++) {
		struct trace *trace = flow_ring_trace(i);

		rings_output(i, &trace->output);
		trace->timed = arguments.time;
		trace->compress = arguments.returns;
		trace_levels(trace, arguments.user, arguments.kernel, arguments.user_start,
			     arguments.user_end);
		trace->ranges = arguments.ranges;
		for (unsigned k = 0; k < arguments.ranges; k++) {
			trace->range[k].start = arguments.range[k].start;
			trace->range[k].end = arguments.range[k].end;
		}
		clock_set(trace, 0, 0);
		flow_begin(trace, 0);
	}
	armed = 1;
	return 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	const char *message = api_open(info);

	if (message != NULL)
		return refuse(message, "");
	if (!info->system_emulation)
		return refuse("this plugin traces whole machines only, not programs under qemu-user", "");
	for (size_t i = 0; i < sizeof(encoders) / sizeof(encoders[0]); i++) {
		if (strcmp(info->target_name, encoders[i]->target) == 0)
			encoder = encoders[i];
	}
	if (encoder == NULL)
		return refuse(info->target_name, "there is no trace unit for this architecture");
	if (arguments_read(&arguments, argc, argv, &message) != 0)
		return refuse(message, "");
	identity = id;
	cpus = (unsigned)info->system.max_vcpus;
	if (flow_open(encoder, cpus, disarm) != 0)
		return refuse("out of memory for the virtual CPUs", "");
	if (arguments.instruction != 0 && !virtual_is_known())
		return refuse("this QEMU does not export its virtual clock", "");
	if (arguments.instruction != 0) {
		virtual_open(arguments.instruction);
		clock_use(virtual_now);
	}
	clock_nanoseconds();
	memory_use(arguments.ram != NULL ? strdup(arguments.ram) : NULL,
		   arguments.has_base ? arguments.base : encoder->memory_base, encoder->memory_span);
	if (arguments.out != NULL && open_rings() != 0)
		return -1;
	qemu_plugin_register_vcpu_init_cb(id, begin_cpu);
	watch(id);
	return 0;
}
