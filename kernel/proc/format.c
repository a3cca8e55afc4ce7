/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Records as they lie in a sink's ring, and so in its file. */
#include "proc.h"
#include "ring.h"

/* Words of memory that is of another type; as unaligned as the CPU allows. */
typedef uint64_t word_any __attribute__((may_alias, aligned(KTRACE_ARCH_UNALIGNED ? 1 : 8)));

/* Volatile keeps the compiler from calling memcpy, which need not exist. Both may lie anywhere. Returns the end in `to`. */
KTRACE_INLINE uint8_t *put_bytes(uint8_t *to, const void *from, uint32_t size)
{
	const uint8_t *in = from;

	if (KTRACE_ARCH_UNALIGNED || ((uintptr_t)to | (uintptr_t)in) % 8 == 0)
		for (; size >= 8; size -= 8, to += 8, in += 8)
			*(volatile word_any *)to = *(const word_any *)in;
	for (; size > 0; size--)
		*(volatile uint8_t *)to++ = *in++;
	return to;
}

static void put_payload(uint8_t *to, const struct ktrace_proc_draft *draft)
{
	to = put_bytes(to, draft->fixed, draft->fixed_size);
	if (draft->text_size)
		to = put_bytes(to, draft->text, draft->text_size);
	put_bytes(to, draft->data, draft->data_size);
}

static uint32_t payload_size(const struct ktrace_proc_draft *draft)
{
	return draft->fixed_size + draft->text_size + draft->data_size;
}

/* Room for a record, within the limit too. */
KTRACE_INLINE enum ktrace_proc_outcome make_room(struct ktrace_proc_sink *sink, uint32_t size,
						 uint8_t **record)
{
	uint32_t at;

	if (KTRACE_UNLIKELY(size > sink->room)) {
		ktrace_proc_end(sink, KTRX_PROC_ENDED_LIMIT);
		return KTRACE_PROC_NOT_TRACED;
	}
	at = ktrace_proc_place(sink, size);
	if (KTRACE_UNLIKELY(at == KTRACE_PROC_NOWHERE))
		return KTRACE_PROC_FULL;
	sink->room -= size;
	sink->head = at + size;
	sink->records++;
	*record = sink->ring + at;
	return KTRACE_PROC_RECORDED;
}

/* The clock is read under the lock: stamps follow each other as the records do, as far as the clocks of the CPUs agree. */
static enum ktrace_proc_outcome compose_ktrx(struct ktrace_proc_sink *sink, const struct ktrace_proc *process,
					     const struct ktrace_proc_draft *draft)
{
	uint32_t payload = payload_size(draft), whole = (payload + 7) & ~UINT32_C(7);
	uint32_t cpu = ktrace_arch_cpu();
	enum ktrace_proc_outcome outcome;
	volatile uint64_t *head;
	uint8_t *record;

	outcome = make_room(sink, sizeof(struct ktrx_proc_record) + whole, &record);
	if (outcome != KTRACE_PROC_RECORDED)
		return outcome;
	head = (volatile uint64_t *)record;
	head[0] = payload | (uint64_t)draft->type << 32 | (uint64_t)draft->flags << 48;
	head[1] = ktrace_arch_clock();
	head[2] = process->pid | (uint64_t)draft->thread << 32;
	head[3] = (cpu < KTRX_PROC_NO_CPU ? cpu : KTRX_PROC_NO_CPU) | (uint64_t)KTRX_PROC_MARK << 16 |
		  (uint64_t)sink->lost_now << 32;
	sink->lost_now = 0;
	if (payload != whole)
		head[3 + whole / 8] = 0;
	put_payload(record + sizeof(struct ktrx_proc_record), draft);
	return KTRACE_PROC_RECORDED;
}

static enum ktrace_proc_outcome compose_dragonfly(struct ktrace_proc_sink *sink,
						  const struct ktrace_proc *process,
						  const struct ktrace_proc_draft *given)
{
	uint64_t fixed[KTRACE_PROC_DRAGONFLY_FIXED], head[KTRACE_PROC_DRAGONFLY_HEAD / 8];
	enum ktrace_proc_outcome outcome;
	struct ktrace_proc_draft draft;
	uint8_t *record;

	put_bytes((uint8_t *)&draft, given, sizeof(draft));
	if (!ktrace_proc_dragonfly(&draft, fixed))
		return KTRACE_PROC_NOT_TRACED;
	outcome = make_room(sink, KTRACE_PROC_DRAGONFLY_HEAD + payload_size(&draft), &record);
	if (outcome != KTRACE_PROC_RECORDED)
		return outcome;
	ktrace_proc_dragonfly_head(head, process, &draft, payload_size(&draft), ktrace_arch_clock());
	put_bytes(record, head, sizeof(head));
	put_payload(record + sizeof(head), &draft);
	return KTRACE_PROC_RECORDED;
}

enum ktrace_proc_outcome ktrace_proc_compose(struct ktrace_proc_sink *sink, const struct ktrace_proc *process,
					     const struct ktrace_proc_draft *draft)
{
	if (KTRACE_LIKELY(sink->format == KTRACE_PROC_FORMAT_KTRX))
		return compose_ktrx(sink, process, draft);
	return compose_dragonfly(sink, process, draft);
}

uint32_t ktrace_proc_record_size(const struct ktrace_proc_sink *sink, uint32_t at)
{
	const volatile uint8_t *size = sink->ring + at; /* both formats begin with it */
	uint32_t payload =
		size[0] | (uint32_t)size[1] << 8 | (uint32_t)size[2] << 16 | (uint32_t)size[3] << 24;

	if (sink->format == KTRACE_PROC_FORMAT_KTRX)
		return sizeof(struct ktrx_proc_record) + ((payload + 7) & ~UINT32_C(7));
	return KTRACE_PROC_DRAGONFLY_HEAD + payload;
}
