/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * QEMU's plugin interface, functions that hide what differs between its versions, and QEMU's virtual clock.
 */
#ifndef PLUGIN_API_H
#define PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- QEMU's plugin interface ---- */

/*
 * The parts of QEMU's plugin interface that are used here, as in version 4, of QEMU 10.0. No Debian package
 * contains a header for it.
 */

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

struct qemu_info {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus, max_vcpus;
	} system;
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void (*qemu_plugin_simple_cb)(qemu_plugin_id_t id);
typedef void (*qemu_plugin_udata_cb)(qemu_plugin_id_t id, void *data);
typedef void (*qemu_plugin_vcpu_simple_cb)(qemu_plugin_id_t id, unsigned vcpu);
typedef void (*qemu_plugin_translate_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_plugin_vcpu_udata_cb)(unsigned vcpu, void *data);
typedef void (*qemu_plugin_vcpu_mem_cb)(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
					void *data);

/* The symbols that QEMU looks up in a plugin. */
QEMU_PLUGIN_EXPORT extern int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
					   char **argv);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_translate_cb call);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb call,
					  enum qemu_plugin_cb_flags flags, void *data);
/* only in version 1; otherwise NULL */
__attribute__((weak)) void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
								    enum qemu_plugin_op operation,
								    void *counter, uint64_t operand);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb call,
					    enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb call,
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw which,
				      void *data);
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb call);
void qemu_plugin_register_vcpu_idle_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb call);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb call, void *data);
void qemu_plugin_register_flush_cb(qemu_plugin_id_t id, qemu_plugin_simple_cb call);
void qemu_plugin_reset(qemu_plugin_id_t id, qemu_plugin_simple_cb call);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t n);
/* Since version 3. Before, it has no further arguments and returns a pointer. */
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *bytes, size_t size);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *address);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *address);
void qemu_plugin_outs(const char *text);

/* ---- The differences between the versions ---- */

/*
 * Hides the differences between the versions of QEMU's plugin interface:
 *
 *	version 1	QEMU up to 8.2
 *	version 2	QEMU 9.0: can no longer add to a word of the plugin without a callback
 *	version 3	QEMU 9.1: copies an instruction's bytes; before, it returned a pointer to them
 *	version 4	QEMU 10.0: if one thread runs all CPUs, callbacks get the number of the wrong CPU;
 *			code that is mapped at several addresses is translated only for the first of them
 */

#define API_INSTRUCTION_MOST 16u /* maximum size of an instruction; x86 has the longest, with 15 bytes */

/*
 * Must be called before the other functions. Returns NULL, or a message that states why this QEMU cannot be
 * used.
 */
const char *api_open(const struct qemu_info *info);

/*
 * Copies the bytes of an instruction, which is being translated, to `bytes`, which has API_INSTRUCTION_MOST
 * bytes. Returns their number; 0 if they are unknown.
 */
size_t api_bytes(const struct qemu_plugin_insn *instruction, unsigned char *bytes);

/*
 * Must be called when a CPU begins, before it runs any code: by the callback of
 * qemu_plugin_register_vcpu_init_cb(). Makes QEMU translate code for each address at which it is mapped.
 */
void api_begin_cpu(unsigned cpu);

/*
 * Must be called if one thread runs all CPUs. Returns false if it is unknown which CPU the thread runs.
 */
bool api_share_thread(void);

/* Returns true if api_cpu() must be called. */
bool api_has_wrong_cpus(void);

/*
 * Returns the number of the CPU that this thread runs. `reported`: the number that QEMU has passed to a
 * callback for an executed block or instruction, or for an access to memory.
 */
unsigned api_cpu(unsigned reported);

/*
 * Makes QEMU add 1 to the word at each execution of this block. Requires: one thread runs all CPUs.
 */
void api_count_block(struct qemu_plugin_tb *block, uint64_t *executions);

/* ---- QEMU's virtual clock ---- */

/*
 * QEMU's virtual clock, as a plugin may read it while a CPU executes a block. Requires: -icount, with which
 * one thread runs all CPUs. QEMU counts the instructions of a CPU when the CPU stops running. Until then, the
 * current time is the time at which the CPU began to run, plus the duration of the instructions since then.
 */

/*
 * Functions of QEMU that are not part of its plugin interface. A QEMU that is built with modules exports
 * them. They are declared weak, so their addresses are NULL in any other QEMU.
 */
#define QEMU_WEAK __attribute__((weak))

struct CPUState;

enum { QEMU_CLOCK_VIRTUAL = 1 };

QEMU_WEAK int64_t qemu_clock_get_ns(int clock);
QEMU_WEAK extern __thread struct CPUState *current_cpu;
QEMU_WEAK struct CPUState *qemu_get_cpu(int index);

/* Returns whether this QEMU exports what the functions below need. */
bool virtual_is_known(void);

/* Sets the duration of an instruction. */
void virtual_open(uint64_t nanoseconds);

/* Returns the time at which this CPU began or continued to run. */
uint64_t virtual_begin_of_run(void);

/* Called at the beginning of each block, with its number of instructions. */
void virtual_begin_block(uint64_t instructions);

/* Returns the time at which the current block began. Never decreases. */
uint64_t virtual_now(void);

#endif
