/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * DragonFly's ktrace files, as its amd64 kernel writes them: no file head, 64 bytes before each payload, no
 * padding between records. All values are little-endian.
 *
 *	head:  i32 bytes of payload, i16 type, u16 flags, i32 pid, i32 thread, char name[17], 7 unused,
 *	       i64 seconds, i64 microseconds, 8 bytes that have no meaning in a file
 */
#include "proc.h"

#define KTRACE_HEAD_WORDS     8u
#define KTRACE_FIXED_WORDS    5u /* maximum number of words in the fixed part of a payload */
#define KTRACE_NAME_ROOM      17u
#define KTRACE_FLAG_THREADED  1u
#define KTRACE_CPU_SHIFT      8u
#define KTRACE_CPU_NUMBER_MAX 0xffu

#define KTRACE_NS_PER_S KTRX_U64(1000000000)

static uint64_t low(uint64_t word)
{
	return word & KTRX_U32_MAX;
}

/* i32 signal, 4 unused, u64 handler, i32 code, u32 mask[4], 4 unused */
static void psig(uint64_t *to, const uint64_t *from)
{
	uint64_t code = from[0] >> 32;

	to[0] = low(from[0]);
	to[1] = from[1];
	to[2] = code | from[2] << 32;
	to[3] = from[2] >> 32 | from[3] << 32;
	to[4] = from[3] >> 32;
}

/*
 * Translates a pending record to DragonFly's payload, which is stored in `fixed`. Returns 0 if DragonFly has
 * no such record.
 */
static int translate(struct ktrace_proc_pending *pending, uint64_t *fixed)
{
	const uint64_t *from = pending->fixed;

	switch (pending->type) {
	case KTRX_PROC_SYSCALL: /* i16 number, i16 arguments, 4 unused */
		fixed[0] = (from[0] & 0xffff) | (from[0] >> 32 & 0xffff) << 16;
		break;
	case KTRX_PROC_SYSRET: /* i16 number, 2 unused, i32 error, i64 result */
		fixed[0] = (from[0] & 0xffff) | from[0] >> 32 << 32;
		fixed[1] = from[1];
		break;
	/* i32 descriptor, i32 written; this format has no member for the number of bytes moved */
	case KTRX_PROC_GENIO:
		fixed[0] = from[0];
		pending->fixed_size = 8;
		break;
	case KTRX_PROC_PSIG:
		psig(fixed, from);
		pending->fixed_size = 40;
		break;
	case KTRX_PROC_CSW: /* i32 out, i32 in user mode, which is 1 if the switch was involuntary */
		fixed[0] = low(from[0]) | (from[0] >> 32 ? 0 : KTRX_U64(1) << 32);
		pending->fixed_size = 8;
		pending->text_size = 0;
		break;
	case KTRX_PROC_NAMEI:
	case KTRX_PROC_USER:
	case KTRX_PROC_SYSCTL:
		break;
	default:
		return 0;
	}
	pending->fixed = fixed;
	return 1;
}

static uint64_t ticks_ns(uint64_t ticks, uint64_t frequency)
{
	return ticks / frequency * KTRACE_NS_PER_S + ticks % frequency * KTRACE_NS_PER_S / frequency;
}

/*
 * If the frequency is unknown, a tick counts as one nanosecond, so that at least the order of records is
 * right.
 */
static uint64_t stamp_ns(uint64_t stamp)
{
	uint64_t frequency = ktrace_root.frequency;

	if (ktrace_proc_state.kernel->wall_ns)
		return ktrace_proc_state.kernel->wall_ns(stamp);
	if (frequency == 0)
		return stamp;
	if (ktrace_root.wall_ns == 0)
		return ticks_ns(stamp, frequency);
	if (stamp < ktrace_root.wall_stamp)
		return ktrace_root.wall_ns - ticks_ns(ktrace_root.wall_stamp - stamp, frequency);
	return ktrace_root.wall_ns + ticks_ns(stamp - ktrace_root.wall_stamp, frequency);
}

static void put_head(uint64_t *head, const struct ktrace_proc *process,
		     const struct ktrace_proc_pending *pending, uint32_t payload, uint64_t stamp)
{
	uint32_t cpu = ktrace_arch_cpu();
	uint64_t ns = stamp_ns(stamp);

	head[0] = payload | (uint64_t)pending->type << 32 |
		  (KTRACE_FLAG_THREADED |
		   (uint64_t)(cpu < KTRACE_CPU_NUMBER_MAX ? cpu : KTRACE_CPU_NUMBER_MAX) << KTRACE_CPU_SHIFT)
			  << 48;
	head[1] = process->pid | (uint64_t)pending->thread << 32;
	head[2] = 0;
	head[3] = 0;
	head[4] = 0;
	ktrace_proc_state.kernel->name(process, (char *)&head[2], KTRACE_NAME_ROOM);
	head[4] &= 0xff;
	head[5] = ns / KTRACE_NS_PER_S;
	head[6] = ns % KTRACE_NS_PER_S / 1000;
	head[7] = 0;
}

enum ktrace_proc_outcome ktrace_proc_dragonfly(struct ktrace_proc_sink *sink,
					       const struct ktrace_proc *process,
					       const struct ktrace_proc_pending *given)
{
	uint64_t fixed[KTRACE_FIXED_WORDS], head[KTRACE_HEAD_WORDS];
	enum ktrace_proc_outcome outcome;
	struct ktrace_proc_pending pending;
	uint8_t *record;

	ktrace_copy(&pending, given, sizeof(pending));
	if (!translate(&pending, fixed))
		return KTRACE_PROC_NOT_TRACED;
	outcome = ktrace_proc_make_room(sink, KTRACE_PROC_DRAGONFLY_HEAD + ktrace_proc_payload(&pending),
					&record);
	if (outcome != KTRACE_PROC_RECORDED)
		return outcome;
	put_head(head, process, &pending, ktrace_proc_payload(&pending), ktrace_arch_clock());
	ktrace_copy(record, head, sizeof(head));
	ktrace_proc_put_payload(record + sizeof(head), &pending);
	return KTRACE_PROC_RECORDED;
}
