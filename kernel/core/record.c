/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Recording out of line: events that are more than "on", records of several slots or with strings, the
 * boot ring, anchors, and slots that a writer lost.
 *
 * A reservation is never given back. Slots that turn out not to be needed are voided, so that every slot
 * ahead of a ring's head is accounted for.
 */
#include "state.h"

/* Filled in member by member: compilers turn initialisers of whole structures into library calls. */
struct ktrace_writer {
	struct ktrx_ring *ring;
	struct ktrace_slot *base;
	uint64_t word;	   /* reserved: first slot */
	uint32_t slots;	   /* … and how many */
	uint32_t thread;   /* thread and context */
	uint32_t extended; /* KTRX_W1_EXTENDED_BIT or 0 */
	uint64_t stamp;
};

static struct ktrace_slot *slot_at(const struct ktrace_writer *writer, uint32_t n)
{
	return &writer->base[(uint32_t)(writer->word + n) & writer->ring->mask];
}

static uint32_t tag_at(const struct ktrace_writer *writer, uint32_t n, uint32_t kind)
{
	return kind | ktrx_generation(writer->word + n, writer->ring->shift) << 3;
}

static void slot_store(struct ktrace_slot *slot, const uint64_t *words)
{
	volatile uint64_t *to = slot->word;

	to[1] = words[1];
	to[2] = words[2];
	to[3] = words[3];
	ktrace_arch_publish(&slot->word[0], words[0]);
}

static void slot_void(const struct ktrace_writer *writer, uint32_t n)
{
	ktrace_arch_publish(&slot_at(writer, n)->word[0], tag_at(writer, n, KTRX_KIND_VOID));
}

/* Clears what a record's slots hold behind its payload, up to the next multiple of 4 bytes. */
static inline void payload_end(uint32_t *payload, uint32_t bytes, uint32_t slots)
{
	volatile uint32_t *word = payload + bytes / 4;
	const uint32_t *end = payload + (KTRX_FIRST_PAYLOAD + (slots - 1) * KTRX_MORE_PAYLOAD + 3) / 4;

	if (bytes % 4) {
		*word = *word & ((UINT32_C(1) << (bytes % 4 * 8)) - 1);
		word++;
	}
	while (word < end)
		*word++ = 0;
}

/* Eight bytes of the payload at an even offset, up to two more of which are read. Memory may be of device type. */
static uint64_t payload_word(const uint32_t *payload, uint32_t at)
{
	const uint8_t *from = (const uint8_t *)payload + at;
	const volatile ktrace_u32_any *word = (const volatile ktrace_u32_any *)(from - at % 4);

	if (KTRACE_ARCH_UNALIGNED)
		return *(const ktrace_u64_any *)from;
	if (at % 4 == 0)
		return word[0] | (uint64_t)word[1] << 32;
	return word[0] >> 16 | (uint64_t)word[1] << 16 | (uint64_t)word[2] << 48;
}

static inline void first_store(const struct ktrace_writer *writer, uint32_t id, const uint32_t *payload)
{
	uint32_t tag = tag_at(writer, 0, writer->slots == 1 ? KTRX_KIND_SINGLE : KTRX_KIND_FIRST);
	uint32_t second =
		writer->thread | writer->extended | KTRX_TAG_GENERATION(tag) << KTRX_W1_GENERATION_SHIFT;
	const uint64_t words[4] = {
		tag | (uint64_t)id << 16 | writer->stamp << 28,
		second | (uint64_t)payload[0] << 32,
		payload_word(payload, 4),
		payload_word(payload, 12),
	};

	slot_store(slot_at(writer, 0), words);
}

static inline void more_store(const struct ktrace_writer *writer, uint32_t n, const uint32_t *payload)
{
	uint32_t at = KTRX_FIRST_PAYLOAD + (n - 1) * KTRX_MORE_PAYLOAD;
	uint32_t tag = tag_at(writer, n, n + 1 == writer->slots ? KTRX_KIND_LAST : KTRX_KIND_MORE);
	uint64_t words[4] = {
		tag | payload_word(payload, at) << 16,
		payload_word(payload, at + 6),
		payload_word(payload, at + 14),
		payload_word(payload, at + 22),
	};

	words[0] |= (uint64_t)ktrx_check(words[0], words[1], words[2], words[3]) << 11;
	slot_store(slot_at(writer, n), words);
}

/*
 * Has a whole lap been reserved since the writer's first slot? Then what it wrote may lie over newer slots.
 */
static int is_lapped(const struct ktrace_writer *writer)
{
	uint64_t now = *(volatile uint64_t *)(uintptr_t)writer->ring->head;

	return now - writer->word > (uint64_t)writer->ring->mask + 1;
}

static void void_if_lapped(const struct ktrace_writer *writer)
{
	if (!is_lapped(writer))
		return;
	for (uint32_t n = 0; n < writer->slots; n++)
		slot_void(writer, n);
	ktrace_arch_fetch_add(&writer->ring->lapped, writer->slots);
}

void ktrace_void_if_lapped(struct ktrx_ring *ring, uint64_t word)
{
	struct ktrace_writer writer;

	writer.ring = ring;
	writer.base = (struct ktrace_slot *)(uintptr_t)ring->base;
	writer.word = word;
	writer.slots = 1;
	void_if_lapped(&writer);
}

static void record_write(const struct ktrace_writer *writer, uint32_t id, const uint32_t *payload)
{
	for (uint32_t n = writer->slots; --n > 0;)
		more_store(writer, n, payload);
	first_store(writer, id, payload);
	void_if_lapped(writer);
}

static int needs_anchor(const struct ktrace_writer *writer)
{
	const struct ktrx_ring *ring = writer->ring;

	return ring->anchor_stamp == 0 ||
	       (int64_t)(writer->stamp - ring->anchor_stamp) >= (int64_t)KTRACE_ANCHOR_TICKS;
}

/*
 * Names the anchor as the ring's newest, unless one was written meanwhile behind it. The boot ring's
 * deadline stays in the past: all of its records come here.
 */
static void anchor_name(struct ktrx_ring *ring, uint64_t stamp, uint64_t index)
{
	if (ring->anchor_stamp != 0 && (int64_t)(index - ring->anchor_index) < 0)
		return;
	*(volatile uint64_t *)&ring->anchor_index = index;
	*(volatile uint64_t *)&ring->anchor_stamp = stamp;
	if (ring != ktrace_ring)
		*(volatile uint64_t *)&ring->deadline = stamp + KTRACE_ANCHOR_TICKS;
}

/* Writes an anchor into the writer's one slot. */
static void anchor_store(const struct ktrace_writer *writer)
{
	struct ktrx_ring *ring = writer->ring;
	uint64_t index = KTRX_WORD_INDEX(writer->word);
	uint64_t distance = ring->anchor_stamp ? index - ring->anchor_index : 0;
	uint32_t payload[KTRX_FIRST_PAYLOAD / 4];

	payload[0] = (uint32_t)writer->stamp;
	payload[1] = (uint32_t)(writer->stamp >> 32);
	payload[2] = (uint32_t)ring->anchor_stamp;
	payload[3] = (uint32_t)(ring->anchor_stamp >> 32);
	payload[4] = distance <= UINT32_MAX ? (uint32_t)distance : 0;
	record_write(writer, KTRX_EVENT_ANCHOR, payload);
	anchor_name(ring, writer->stamp, index);
}

/*
 * Turns the writer's reservation into an anchor. If it has several slots, each gets one: readers know what an anchor
 * is, so none of them counts as lost. A ring's anchor_stamp of 0 stands for none, so an anchor at 0 says 1.
 */
static void anchor_write(struct ktrace_writer *writer)
{
	uint64_t word = writer->word, stamp = writer->stamp;
	uint32_t slots = writer->slots, extended = writer->extended;

	writer->slots = 1;
	writer->extended = 0;
	writer->stamp = stamp ? stamp : 1;
	for (; writer->word < word + slots; writer->word++)
		anchor_store(writer);
	writer->word = word;
	writer->slots = slots;
	writer->extended = extended;
	writer->stamp = stamp;
}

/* Takes slots of the boot ring, which is found relative to the code. */
static void boot_reserve(struct ktrace_writer *writer)
{
	writer->ring = ktrace_ring;
	writer->base = ktrace_boot_slot;
	writer->word = ktrace_arch_fetch_add(&ktrace_ring[0].word, writer->slots);
	ktrace_arch_store_barrier();
}

/* Records on the boot ring; the payload begins with an extension block. Returns the stamp. */
static uint64_t boot_record(const struct ktrx_event *event, uint32_t *payload, uint32_t bytes)
{
	struct ktrace_writer writer;

	writer.slots = ktrx_record_slots(bytes);
	writer.thread = KTRX_CONTEXT_EARLY << KTRX_W1_CONTEXT_SHIFT;
	writer.extended = KTRX_W1_EXTENDED_BIT;
	payload_end(payload, bytes, writer.slots);
	boot_reserve(&writer);
	writer.stamp = ktrace_arch_clock();
	if (needs_anchor(&writer)) {
		anchor_write(&writer);
		boot_reserve(&writer);
	}
	record_write(&writer, event->id, payload);
	return writer.stamp;
}

/* Reserves if that leaves every slot of the ring in place; else counts the record as dropped. 0: dropped. */
static int reserve_if_room(struct ktrace_writer *writer)
{
	struct ktrx_ring *ring = writer->ring;
	uint64_t *head = (uint64_t *)(uintptr_t)ring->head;

	do {
		writer->word = *(volatile uint64_t *)head;
		if (KTRX_WORD_INDEX(writer->word) + writer->slots - ring->first > (uint64_t)ring->mask + 1) {
			ktrace_arch_fetch_add(&ring->dropped, 1);
			return 0;
		}
	} while (!ktrace_arch_compare_swap(head, writer->word, writer->word + writer->slots));
	ktrace_arch_store_barrier();
	return 1;
}

static void writer_place(struct ktrace_writer *writer)
{
	writer->ring = &ktrace_ring[KTRX_WORD_RING(writer->word)];
	writer->base = (struct ktrace_slot *)(uintptr_t)writer->ring->base;
}

/* Reserves on this CPU's ring, which is online; the writer's place tells its policy. 0: refused. */
static inline int ring_reserve(struct ktrace_writer *writer)
{
	if (writer->ring->policy == KTRX_POLICY_STOP)
		return reserve_if_room(writer);
	writer->word = ktrace_arch_reserve(writer->slots);
	ktrace_arch_store_barrier();
	writer_place(writer);
	return 1;
}

/*
 * Records on this CPU's ring. `word` names the ring; if the site `reserved` one slot and read the clock
 * already, that slot as well. `extended` is KTRX_W1_EXTENDED_BIT if the payload begins with an extension block.
 * Returns the stamp, 0 if the ring is full.
 */
static uint64_t ring_record(const struct ktrx_event *event, uint32_t *payload, uint32_t bytes, uint64_t word,
			    int reserved, uint64_t stamp, uint32_t extended)
{
	struct ktrace_writer writer;

	writer.slots = ktrx_record_slots(bytes);
	writer.thread = ktrace_arch_thread();
	writer.extended = extended;
	writer.word = word;
	writer.stamp = stamp;
	writer_place(&writer);
	payload_end(payload, bytes, writer.slots);
	if (!reserved) {
		if (!ring_reserve(&writer))
			return 0;
		writer.stamp = ktrace_arch_clock();
	}
	if (needs_anchor(&writer)) {
		anchor_write(&writer);
		if (!ring_reserve(&writer))
			return 0;
	}
	record_write(&writer, event->id, payload);
	return writer.stamp;
}

/* 0: the event's row is one of those beyond the last id; it is counted as lost. */
static int attach_or_lose(const struct ktrx_event *event)
{
	ktrace_attach();
	if (event->id != 0)
		return 1;
	ktrace_arch_fetch_add(&ktrace_root.lost_events, 1);
	return 0;
}

static void count(struct ktrx_event *event, uint32_t ring)
{
	uint64_t *shared = &event->count;

	if (ktrace_state.counters)
		shared = &ktrace_state.counters[ring * (ktrace_state.events + 1) + event->id];
	ktrace_arch_fetch_add(shared, 1);
}

/* Addresses that were asked for with the event or with all of them, and where they begin. */
struct ktrace_origin {
	uint32_t wanted; /* KTRX_EVENT_* flags */
	uintptr_t site;
};

static uint32_t addresses_wanted(const struct ktrx_event *event)
{
	return *(const volatile uint8_t *)&event->flags | ktrace_state.callers |
	       (ktrace_state.sites ? KTRX_EVENT_SITE : 0);
}

static uint32_t put_address(uint32_t *to, uint32_t at, uint64_t address)
{
	to[at] = (uint32_t)address;
	to[at + 1] = (uint32_t)(address >> 32);
	return at + 2;
}

/* Makes an extension block, with the addresses if a payload of so many bytes leaves room for them; its words. */
static uint32_t extension_make(uint32_t *to, uint32_t bytes, int boot, const struct ktrace_origin *origin)
{
	uint32_t wanted = origin->wanted, parts = boot ? KTRX_EXT_CPU : 0, at = 1, callers = 0;
	uint64_t caller[2];

	if (bytes > KTRX_RECORD_MAX_PAYLOAD - KTRACE_EXTENSION_MAX)
		wanted = 0;
	if (wanted & KTRX_EVENT_CALLERS)
		callers = ktrace_callers(origin->site, caller, (wanted & KTRX_EVENT_CALLERS) == 1 ? 1 : 2);
	for (uint32_t n = 0; n < callers; n++) {
		parts |= KTRX_EXT_CALLER1 << n;
		at = put_address(to, at, caller[n]);
	}
	if (wanted & KTRX_EVENT_SITE) {
		parts |= KTRX_EXT_SITE;
		at = put_address(to, at, origin->site);
	}
	to[0] = at * 4 | parts << 8 | (boot ? ktrace_arch_early_cpu() << 16 : 0);
	return at;
}

/* Records with an extension block, which every record of the boot ring has. Returns as ring_record(). */
static uint64_t record_extended(const struct ktrx_event *event, const uint32_t *payload, uint32_t bytes,
				uint64_t word, const struct ktrace_origin *origin)
{
	uint32_t extended[(KTRX_RECORD_MAX_PAYLOAD + 3) / 4];
	int boot = KTRX_WORD_RING(word) == 0;
	uint32_t words = extension_make(extended, bytes, boot, origin);

	for (uint32_t i = 0; i < (bytes + 3) / 4; i++)
		((volatile uint32_t *)extended)[words + i] = payload[i];
	bytes += words * 4;
	if (boot)
		return boot_record(event, extended, bytes);
	return ring_record(event, extended, bytes, word, 0, 0, KTRX_W1_EXTENDED_BIT);
}

/* As ring_record(), on whichever ring. Where a site has reserved a slot there is no room for addresses. */
static uint64_t record(const struct ktrx_event *event, uint32_t *payload, uint32_t bytes, uint64_t word,
		       int reserved, uint64_t stamp, const struct ktrace_origin *origin)
{
	if (KTRX_WORD_RING(word) == 0 || (origin->wanted && !reserved))
		return record_extended(event, payload, bytes, word, origin);
	return ring_record(event, payload, bytes, word, reserved, stamp, 0);
}

/*
 * Does what the event's state asks for. A slot that a site has reserved is used even if the event was turned off
 * since. Returns the record's stamp, 0 if there is none.
 */
static uint64_t emit(struct ktrx_event *event, uint32_t *payload, uint32_t bytes, uint64_t word, int reserved,
		     uint64_t stamp, const struct ktrace_origin *origin)
{
	uint8_t state = *(volatile uint8_t *)&event->state;

	if (state & KTRX_STATE_COUNT)
		count(event, KTRX_WORD_RING(word));
	stamp = state & KTRX_STATE_RECORD || reserved
			? record(event, payload, bytes, word, reserved, stamp, origin)
			: 0;
	if (state & KTRX_STATE_STOP)
		ktrace_stop();
	return stamp;
}

/* Hands a record just made to whoever puts it on the kernel's console. */
static void echo(const struct ktrx_event *event, const void *payload, uint32_t bytes, uint32_t ring,
		 uint64_t stamp)
{
	void (*hook)(const struct ktrace_echo *) = ktrace_state.echo;
	struct ktrace_echo made;

	if (!hook || !ktrace_state.verbose || stamp == 0)
		return;
	made.event = event;
	made.payload = payload;
	made.bytes = bytes;
	made.cpu = ring ? ktrace_ring[ring].cpu : ktrace_arch_early_cpu();
	made.context = ring ? KTRX_W1_CONTEXT(ktrace_arch_thread()) : KTRX_CONTEXT_EARLY;
	made.stamp = stamp;
	hook(&made);
}

/* More than "on", or the first event of all. */
static void emit_slowly(struct ktrx_event *event, uint32_t *payload, uint32_t bytes, uint64_t word,
			uint64_t stamp, uintptr_t site)
{
	int reserved = word != KTRACE_WORD_NONE;
	struct ktrace_origin origin;

	if (!attach_or_lose(event))
		return;
	origin.wanted = addresses_wanted(event);
	origin.site = site;
	if (!reserved)
		word = ktrace_state.initialised ? ktrace_arch_reserve_read() : 0;
	stamp = emit(event, payload, bytes, word, reserved, stamp, &origin);
	echo(event, payload, bytes, KTRX_WORD_RING(word), stamp);
}

void ktrace_emit(struct ktrx_event *event, void *payload, uint32_t bytes, uint64_t word, uint64_t stamp,
		 uintptr_t site)
{
	static const struct ktrace_origin unasked;
	uint8_t state = *(volatile uint8_t *)&event->state;

	/*
	 * No more than "on", which is so only after ktrace_init(): long records come this way all the time.
	 */
	if (state == KTRX_STATE_RECORD && word == KTRACE_WORD_NONE)
		record(event, payload, bytes, ktrace_arch_reserve_read(), 0, 0, &unasked);
	else
		emit_slowly(event, payload, bytes, word, stamp, site);
}

__attribute__((noinline)) void ktrace_emit_here(struct ktrx_event *event, void *payload, uint32_t bytes)
{
	ktrace_emit(event, payload, bytes, KTRACE_WORD_NONE, 0, KTRACE_RETURN_ADDRESS);
}

__attribute__((noinline)) void ktrace_emit_early(struct ktrx_event *event, void *payload, uint32_t bytes)
{
	struct ktrace_origin origin;

	if (!attach_or_lose(event))
		return;
	origin.wanted = addresses_wanted(event) & KTRX_EVENT_SITE;
	origin.site = KTRACE_RETURN_ADDRESS;
	emit(event, payload, bytes, 0, 0, 0, &origin);
}

uint32_t ktrace_put_string(uint8_t *to, uint32_t at, uint32_t room, const char *string)
{
	static const char null[] = "(null)";
	const char *from = string ? string : null;
	uint32_t most = room < KTRACE_STRING_MAX ? room : KTRACE_STRING_MAX;
	uint32_t length = 0;

	while (length < most && from[length]) {
		ktrace_put8(to, at + 2 + length, (uint8_t)from[length]);
		length++;
	}
	ktrace_put8(to, at, length);
	ktrace_put8(to, at + 1, (length | (length == most && from[length] ? KTRX_STRING_CUT : 0)) >> 8);
	return at + 2 + length;
}
