/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * KTRX version 2: the root and the sections to which it leads. A running kernel, a dump, a RAM file and a
 * core dump have the same layout. Only the addresses differ: virtual or physical in memory, offsets from the
 * root in a dump. The host must not trust any of this data. Normative text: spec/ktrx.md.
 *
 * The entries of the tables of state are in ktrx/state.h, which this header includes.
 */
#ifndef KTRX_V2_H
#define KTRX_V2_H

#include "ktrx/base.h"
#include "ktrx/state.h"

#define KTRX_MAGIC     "KTRX"
#define KTRX_TAG       "ktrace2\n"
#define KTRX2_VERSION  2u
#define KTRX_SECTIONS  16u
#define KTRX_MAX_RINGS 4098u /* the boot ring, the rings of 4096 CPUs and the ring of rare events */

/* Kinds of addresses of a section or a ring. */
/* there is no address: the data is absent, except for the head of a ring, which is then ktrx_ring.word */
#define KTRX_WHERE_NONE 0u
/* virtual address in the kernel; spec/ktrx.md describes how a reader finds the physical address */
#define KTRX_WHERE_VIRTUAL  1u
#define KTRX_WHERE_PHYSICAL 2u
#define KTRX_WHERE_FILE	    3u /* offset from the root, in a dump */

struct ktrx_extent {
	uint64_t address;
	uint64_t length;
};

struct ktrx_section {
	uint32_t type;	     /* KTRX_SECTION_*; a reader skips sections of unknown types, and counts them */
	uint16_t where;	     /* KTRX_WHERE_* */
	uint16_t entry_size; /* size of an entry in bytes; 0 for a byte stream */
	/*
	 * 1: `address` is the address of the data; n > 1: it is the address of an array of n struct
	 * ktrx_extent
	 */
	uint32_t extents;
	uint32_t index; /* number of the section among the sections of the same type */
	uint64_t address;
	uint64_t length; /* total size of the data in bytes */
};

#define KTRX_SECTION_NONE  0u
#define KTRX_SECTION_RINGS 1u /* struct ktrx_ring; the entry of ring 0 is the first */
/* struct ktrx_event and ktrx_place; ids continue from one section to the next, in the order of `index` */
#define KTRX_SECTION_EVENTS  2u
#define KTRX_SECTION_THREADS 3u /* array of struct ktrx_thread */
#define KTRX_SECTION_CPUS    4u /* struct ktrx_cpu; the entry of CPU 0 is the first */
/* int64_t for each CPU: the number of ticks to add to the CPU's timestamps */
#define KTRX_SECTION_OFFSETS  5u
#define KTRX_SECTION_BUILD_ID 6u /* the bytes of the kernel's GNU build id */
#define KTRX_SECTION_COUNTERS 7u /* uint64_t [ring][event id] */
/* text: one line for each system call or error (spec/ktrx.md, section 3) */
#define KTRX_SECTION_SYSCALLS 8u
#define KTRX_SECTION_MAILBOX  9u /* struct ktrx_mailbox */
/* struct ktrx_holder: the entries of CPUs, CPU 0 first, then the entries of threads */
#define KTRX_SECTION_HOLDERS   10u
#define KTRX_SECTION_REGISTERS 11u /* text: registers of the CPUs, added by a host that halted them */
#define KTRX_SECTION_NOTE      12u /* text: description of the capture, added by a host */
#define KTRX_SECTION_SETTINGS  13u /* array of struct ktrx_setting */
#define KTRX_SECTION_CLOCKS    14u /* struct ktrx_clock; the entry of CPU 0 is the first */
#define KTRX_SECTION_FOLDS     15u /* array of struct ktrx_fold */

/* Root flags. */
#define KTRX_FLAG_DUMP	  1u	   /* a dump: every address is KTRX_WHERE_FILE */
#define KTRX_FLAG_STOPPED 2u	   /* recording was stopped when the root was written */
#define KTRX_FLAG_KEPT	  4u	   /* this root is a copy, in persistent memory (spec/ktrx.md, section 13) */
#define KTRX_FLAG_PLACES  0x10000u /* records may have ids of places: struct ktrx_place */
/*
 * Flags that a reader must know: it must reject a trace with an unknown flag among these. It ignores other
 * unknown flags.
 */
#define KTRX_FLAGS_NEEDED 0xffff0000u

#define KTRX_OUTCOME_RUNNING 0u
#define KTRX_OUTCOME_EXITED  1u
#define KTRX_OUTCOME_PANIC   2u

struct ktrx_root {
	/* "KTRX"; the first 32 bytes of the root have the same meaning as in version 1 */
	uint8_t magic[4];
	uint32_t version;     /* 2 */
	uint64_t frequency;   /* counter ticks per second, 0 while unknown */
	uint32_t cpus;	      /* number of CPUs known so far */
	uint32_t slots;	      /* number of slots of the largest ring */
	uint16_t slot_size;   /* 32 */
	uint16_t slot_format; /* KTRX_SLOTS_* */
	uint32_t flags;	      /* KTRX_FLAG_* */
	uint8_t tag[8];	      /* "ktrace2\n" */
	/* sizeof(struct ktrx_root); a reader skips sections beyond its own KTRX_SECTIONS */
	uint32_t root_size;
	uint32_t sections; /* number of entries in section[] */
	uint16_t machine;  /* ELF machine (e_machine) of the kernel */
	uint16_t table;	   /* offset of section[] in the root, in bytes */
	uint32_t checksum; /* ktrx_root_checksum() */
	uint64_t nonce;	   /* random number that identifies this boot */
	/* virtual address of the root itself; 0 in a copy of the kernel image that never ran */
	uint64_t self;
	uint64_t self_phys;  /* physical address of the root, 0 if unknown */
	uint64_t length;     /* size of the whole dump in bytes; 0 in memory */
	uint64_t wall_stamp; /* counter value at the time wall_ns */
	uint64_t wall_ns;    /* Unix time in ns at the counter value wall_stamp; 0 if unknown */
	uint32_t outcome;    /* KTRX_OUTCOME_* */
	int32_t status;	     /* exit status for KTRX_OUTCOME_EXITED */
	uint32_t sequence;   /* an odd number while section[] is being changed, otherwise an even number */
	uint32_t v1_omitted; /* number of records that a v1 dump of this trace could not hold */
	/* number of times that an event without an id fired; only 4095 events can have an id */
	uint64_t lost_events;
	char kernel[64]; /* name and version of the kernel, NUL-terminated */
	struct ktrx_section section[KTRX_SECTIONS];
};

#define KTRX_RING_PER_CPU 0u
#define KTRX_RING_SHARED  1u /* several CPUs write into the ring; its records have KTRX_EXT_CPU */

#define KTRX_POLICY_OVERWRITE 0u
/* a full ring keeps the oldest records: it rejects new records and counts them */
#define KTRX_POLICY_STOP 1u

#define KTRX_NO_CPU 0xffffffffu

/* One ring. A writer needs only the first 64 bytes; only readers use the later bytes. */
struct ktrx_ring {
	uint64_t word;	/* reserve word of the ring, if head_where is KTRX_WHERE_NONE */
	uint64_t base;	/* writer's pointer to slot 0 */
	uint32_t mask;	/* number of slots - 1 */
	uint32_t shift; /* log2 of the number of slots: 9 to 30 */
	/* a writer with this or a later timestamp must write an anchor before its record */
	uint64_t deadline;
	uint64_t anchor_stamp; /* full timestamp of the newest anchor */
	uint64_t anchor_index; /* slot index of the newest anchor */
	uint64_t dropped;      /* number of records rejected by KTRX_POLICY_STOP */
	uint64_t lapped; /* number of slots whose writers noticed a delay of a whole lap; a lower bound */

	/* index of the first valid slot: the first of this boot, or the first after ktrace_clear() */
	uint64_t first;
	uint64_t address; /* address of slot 0; `where` is the kind of this address */
	uint64_t length;  /* size of the slots in bytes */
	uint32_t extents; /* number of extents, as in struct ktrx_section */
	uint16_t where;
	uint16_t kind;	       /* KTRX_RING_* */
	uint32_t cpu;	       /* KTRX_NO_CPU for a shared ring */
	uint32_t policy;       /* KTRX_POLICY_* */
	uint64_t head_address; /* address of the reserve word, if it is in the kernel's per-CPU area */
	uint16_t head_where;   /* kind of head_address; KTRX_WHERE_NONE: the head is `word` */
	uint16_t reserved0;
	uint32_t reserved1;
	uint64_t head; /* writer's pointer to the reserve word */
};

/*
 * An event descriptor, an entry of the event table. Entries are aligned to 8 bytes; zero bytes between them
 * are skipped. The id of an event is its ordinal number in the table; ids count from 1. Strings follow in
 * this order, each NUL-terminated: group, name, text, file, then name and unit of each field. There are no
 * pointers, so descriptors survive relocation and LTO.
 */
struct ktrx_event {
	uint16_t magic;	 /* KTRX_EVENT_MAGIC */
	uint16_t size;	 /* size in bytes of the descriptor with its strings, a multiple of 8 */
	uint8_t state;	 /* current KTRX_STATE_* */
	uint8_t wanted;	 /* requested KTRX_STATE_*; equal to `state`, except while recording is stopped */
	uint16_t id;	 /* copy of the ordinal number; 0 until the kernel has assigned ids */
	uint32_t header; /* private to the kernel: low half of word 0 of the event's first slots */
	uint16_t v1_id;	 /* id of the event in a v1 dump; KTRX_V1_NONE if it has none */
	uint8_t fields;	 /* number of fields, 0 to 16 */
	uint8_t flags;	 /* KTRX_EVENT_* */
	uint32_t line;	 /* line of the declaration */
	/*
	 * number of the event's bit in the group's mask, plus 1; 0: the event gets a free bit, in the order
	 * of file, line and id
	 */
	uint32_t mask_bit;
	uint64_t count;	  /* shared counter, used if there are no per-CPU counters */
	uint8_t type[16]; /* KTRX_TYPE_* of each field */
			  /* the strings follow the structure */
};
#define KTRX_EVENT_MAGIC  0x5645u
#define KTRX_EVENT_FIELDS 16u
#define KTRX_V1_NONE	  0xffffu

/*
 * A place descriptor: a place in the kernel's source that records an event which other places record as well.
 * Place descriptors are among the event descriptors, each aligned to 8 bytes. The name of the file follows,
 * NUL-terminated.
 *
 * A record with the id of a place is a record of the place's event, and has the fields of that event.
 */
struct ktrx_place {
	uint16_t magic; /* KTRX_PLACE_MAGIC */
	uint16_t size;	/* size in bytes of the descriptor with its string, a multiple of 8 */
	/*
	 * id of the place, above the ids of all events; 0: the place has no id, so its records have the
	 * event's id
	 */
	uint16_t id;
	/* id of the event; 0: the event is unknown, and no record has the id of this place */
	uint16_t event;
	uint32_t header; /* private to the kernel: low half of word 0 of the place's first slots */
	/* private to the kernel: distance in bytes from this descriptor to that of the event; 0: unknown */
	int32_t offset;
	uint64_t address; /* private to the kernel: address of the event descriptor, as linked or relocated */
	uint32_t line;
	uint32_t reserved;
};
#define KTRX_PLACE_MAGIC 0x4953u

/* Flags of an event. */
/* these bits contain the number of callers in each record: 0 to 2; 3 means 2 */
#define KTRX_EVENT_CALLERS 3u
#define KTRX_EVENT_SITE	   4u  /* each record contains the address of the code that recorded it */
#define KTRX_EVENT_FOLD	   8u  /* repetitions are counted in struct ktrx_fold instead of recorded */
#define KTRX_EVENT_RARE	   16u /* records go into the ring of rare events, if there is one */

/*
 * States of an event. Bit 0: it is recorded; bit 1: it is counted; bit 7: it is recorded out of line. 0: off.
 */
#define KTRX_STATE_OFF	  0u
#define KTRX_STATE_RECORD 1u
#define KTRX_STATE_COUNT  2u
#define KTRX_STATE_STOP	  4u /* when the event has fired once, all recording stops */
#define KTRX_STATE_SLOW	  0x80u

/* Field types. Fields are packed in the order of their declaration, without padding. */
#define KTRX_TYPE_U8	  1u
#define KTRX_TYPE_U16	  2u
#define KTRX_TYPE_U32	  3u
#define KTRX_TYPE_U64	  4u
#define KTRX_TYPE_I8	  5u
#define KTRX_TYPE_I16	  6u
#define KTRX_TYPE_I32	  7u
#define KTRX_TYPE_I64	  8u
#define KTRX_TYPE_POINTER 9u /* a field of 8 bytes */
/* a u16 (bit 15: the string was cut; low bits: length), then the bytes of the string without NUL */
#define KTRX_TYPE_STRING 10u
#define KTRX_TYPE_BOOL	 11u /* a field of 1 byte */
#define KTRX_TYPE_CHAR	 12u /* a field of 1 byte */
#define KTRX_STRING_CUT	 0x8000u

/*
 * The holder of a lock: a field with this name and type KTRX_TYPE_U32 has this value if the holder is
 * unknown. In the event's text, %u then prints "?".
 */
#define KTRX_HOLDER	    "holder"
#define KTRX_HOLDER_UNKNOWN 0xffffffffu

/*
 * A setting descriptor: a variable of the kernel, or one bit of it, that is read and set by name. Descriptors
 * are aligned to 8 bytes; zero bytes between them are skipped. A request identifies a setting by its ordinal
 * number; these numbers count from 0.
 */
struct ktrx_setting {
	uint16_t magic; /* KTRX_SETTING_MAGIC */
	uint16_t size;	/* size of the descriptor in bytes */
	uint8_t kind;	/* KTRX_SETTING_U32 … */
	uint8_t bit;	/* number of the bit, if the setting is a single bit */
	uint8_t flags;	/* KTRX_SETTING_READ_ONLY */
	uint8_t reserved;
	uint64_t address; /* virtual address of the variable; 0 if the image was not relocated */
	uint64_t value;	  /* value of the variable, in a dump and in persistent memory; otherwise 0 */
	uint64_t most;	  /* maximum value of the setting */
	char name[48];	  /* full name, as in "debug.ktr.stacktrace", NUL-terminated */
};
#define KTRX_SETTING_MAGIC     0x5453u
#define KTRX_SETTING_U32       1u
#define KTRX_SETTING_U64       2u
#define KTRX_SETTING_BIT32     3u
#define KTRX_SETTING_BIT64     4u
#define KTRX_SETTING_READ_ONLY 1u

/*
 * Requests from a host to the running kernel. The host writes requests[sequence % capacity] and, after that,
 * `requested`. The kernel carries the requests out in the order of their numbers, in its tick, and then
 * writes `applied`. A host writes nothing else.
 */
struct ktrx_request {
	uint32_t sequence; /* number of the request; the first request of a boot has number 1 */
	uint8_t op;	   /* KTRX_REQUEST_* */
	uint8_t change;	   /* EVENTS: KTRX_CHANGE_*, what to change */
	uint16_t first;	   /* EVENTS: first id; SETTING: ordinal number of the setting */
	uint16_t last;	   /* EVENTS: last id */
	uint8_t state;	   /* EVENTS: the requested KTRX_STATE_* */
	uint8_t flags;	   /* EVENTS: flags of the event descriptor */
	uint32_t result;   /* result: KTRX_RESULT_*, written by the kernel */
	uint64_t value;	   /* SETTING: the requested value */
	uint64_t check;	   /* ktrx_request_check(): shows that the request is complete */
};

#define KTRX_REQUEST_EVENTS  1u
#define KTRX_REQUEST_START   2u
#define KTRX_REQUEST_STOP    3u
#define KTRX_REQUEST_CLEAR   4u
#define KTRX_REQUEST_SETTING 5u

#define KTRX_CHANGE_STATE 1u
#define KTRX_CHANGE_FLAGS 0xfeu /* bit n + 1 is set to change bit n of the descriptor's flags */

/*
 * The words with which a user requests changes, for kernel and host: USE(word, change, state, flags), with
 * `change` as in struct ktrx_request.
 */
#define KTRX_CHANGE_CALLERS (KTRX_EVENT_CALLERS << 1)
#define KTRX_CHANGE_SITE    (KTRX_EVENT_SITE << 1)
#define KTRX_CHANGE_FOLD    (KTRX_EVENT_FOLD << 1)
#define KTRX_CHANGE_RARE    (KTRX_EVENT_RARE << 1)
#define KTRX_CHANGE_WORDS(USE)                                                  \
	USE("on", KTRX_CHANGE_STATE, KTRX_STATE_RECORD, 0)                      \
	USE("off", KTRX_CHANGE_STATE, KTRX_STATE_OFF, 0)                        \
	USE("count", KTRX_CHANGE_STATE, KTRX_STATE_COUNT, 0)                    \
	USE("both", KTRX_CHANGE_STATE, KTRX_STATE_RECORD | KTRX_STATE_COUNT, 0) \
	USE("stop", KTRX_CHANGE_STATE, KTRX_STATE_RECORD | KTRX_STATE_STOP, 0)  \
	USE("callers0", KTRX_CHANGE_CALLERS, 0, 0)                              \
	USE("callers1", KTRX_CHANGE_CALLERS, 0, 1)                              \
	USE("callers2", KTRX_CHANGE_CALLERS, 0, 2)                              \
	USE("site", KTRX_CHANGE_SITE, 0, KTRX_EVENT_SITE)                       \
	USE("nosite", KTRX_CHANGE_SITE, 0, 0)                                   \
	USE("fold", KTRX_CHANGE_FOLD, 0, KTRX_EVENT_FOLD)                       \
	USE("nofold", KTRX_CHANGE_FOLD, 0, 0)                                   \
	USE("rare", KTRX_CHANGE_RARE, 0, KTRX_EVENT_RARE)                       \
	USE("norare", KTRX_CHANGE_RARE, 0, 0)

#define KTRX_RESULT_NONE    0u /* the request has not been carried out yet */
#define KTRX_RESULT_DONE    1u
#define KTRX_RESULT_TORN    2u /* the request is not the expected request, or its check is wrong */
#define KTRX_RESULT_REFUSED 3u /* a member is out of range, or the setting does not accept the value */

#define KTRX_MAILBOX_REQUESTS 64u
#define KTRX_MAILBOX_MAGIC    "KTRXMBX\n"

struct ktrx_mailbox {
	uint8_t magic[8];	/* KTRX_MAILBOX_MAGIC */
	uint64_t nonce;		/* nonce of this boot, as in the root */
	uint32_t requested;	/* last sequence written by the host */
	uint32_t capacity;	/* KTRX_MAILBOX_REQUESTS */
	uint32_t applied;	/* last sequence that the kernel has processed */
	uint32_t refused;	/* number of the processed requests that were not carried out */
	uint64_t applied_stamp; /* counter value when `applied` was written */
	uint8_t reserved[24];
	struct ktrx_request request[KTRX_MAILBOX_REQUESTS];
};

/*
 * Head of each block of memory that the kernel gave to ktrace. The host can search for this head if neither a
 * physical address nor the mapping of the image leads to the block.
 */
struct ktrx_block {
	uint8_t magic[8]; /* "KTRXBLK\n" */
	uint64_t nonce;	  /* nonce of this boot, as in the root */
	uint64_t self;	  /* virtual address of this head */
	uint64_t length;  /* size in bytes of the block, including this head */
	/*
	 * persistent memory: number of the boot that uses this part, counted from 1; 0: the memory is not
	 * persistent
	 */
	uint64_t boot;
	uint8_t reserved[24];
};
#define KTRX_BLOCK_MAGIC "KTRXBLK\n"

KTRX_ASSERT_SIZE(struct ktrx_extent, 16);
KTRX_ASSERT_OFFSET(struct ktrx_extent, length, 8);
KTRX_ASSERT_SIZE(struct ktrx_section, 32);
KTRX_ASSERT_OFFSET(struct ktrx_section, where, 4);
KTRX_ASSERT_OFFSET(struct ktrx_section, entry_size, 6);
KTRX_ASSERT_OFFSET(struct ktrx_section, extents, 8);
KTRX_ASSERT_OFFSET(struct ktrx_section, index, 12);
KTRX_ASSERT_OFFSET(struct ktrx_section, address, 16);
KTRX_ASSERT_OFFSET(struct ktrx_section, length, 24);
KTRX_ASSERT_SIZE(struct ktrx_root, 704);
KTRX_ASSERT_OFFSET(struct ktrx_root, version, 4);
KTRX_ASSERT_OFFSET(struct ktrx_root, frequency, 8);
KTRX_ASSERT_OFFSET(struct ktrx_root, cpus, 16);
KTRX_ASSERT_OFFSET(struct ktrx_root, slots, 20);
KTRX_ASSERT_OFFSET(struct ktrx_root, slot_size, 24);
KTRX_ASSERT_OFFSET(struct ktrx_root, slot_format, 26);
KTRX_ASSERT_OFFSET(struct ktrx_root, flags, 28);
KTRX_ASSERT_OFFSET(struct ktrx_root, tag, 32);
KTRX_ASSERT_OFFSET(struct ktrx_root, root_size, 40);
KTRX_ASSERT_OFFSET(struct ktrx_root, sections, 44);
KTRX_ASSERT_OFFSET(struct ktrx_root, machine, 48);
KTRX_ASSERT_OFFSET(struct ktrx_root, table, 50);
KTRX_ASSERT_OFFSET(struct ktrx_root, checksum, 52);
KTRX_ASSERT_OFFSET(struct ktrx_root, nonce, 56);
KTRX_ASSERT_OFFSET(struct ktrx_root, self, 64);
KTRX_ASSERT_OFFSET(struct ktrx_root, self_phys, 72);
KTRX_ASSERT_OFFSET(struct ktrx_root, length, 80);
KTRX_ASSERT_OFFSET(struct ktrx_root, wall_stamp, 88);
KTRX_ASSERT_OFFSET(struct ktrx_root, wall_ns, 96);
KTRX_ASSERT_OFFSET(struct ktrx_root, outcome, 104);
KTRX_ASSERT_OFFSET(struct ktrx_root, status, 108);
KTRX_ASSERT_OFFSET(struct ktrx_root, sequence, 112);
KTRX_ASSERT_OFFSET(struct ktrx_root, v1_omitted, 116);
KTRX_ASSERT_OFFSET(struct ktrx_root, lost_events, 120);
KTRX_ASSERT_OFFSET(struct ktrx_root, kernel, 128);
KTRX_ASSERT_OFFSET(struct ktrx_root, section, 192);
KTRX_ASSERT_SIZE(struct ktrx_ring, 128);
KTRX_ASSERT_OFFSET(struct ktrx_ring, base, 8);
KTRX_ASSERT_OFFSET(struct ktrx_ring, mask, 16);
KTRX_ASSERT_OFFSET(struct ktrx_ring, shift, 20);
KTRX_ASSERT_OFFSET(struct ktrx_ring, deadline, 24);
KTRX_ASSERT_OFFSET(struct ktrx_ring, anchor_stamp, 32);
KTRX_ASSERT_OFFSET(struct ktrx_ring, anchor_index, 40);
KTRX_ASSERT_OFFSET(struct ktrx_ring, dropped, 48);
KTRX_ASSERT_OFFSET(struct ktrx_ring, lapped, 56);
KTRX_ASSERT_OFFSET(struct ktrx_ring, first, 64);
KTRX_ASSERT_OFFSET(struct ktrx_ring, address, 72);
KTRX_ASSERT_OFFSET(struct ktrx_ring, length, 80);
KTRX_ASSERT_OFFSET(struct ktrx_ring, extents, 88);
KTRX_ASSERT_OFFSET(struct ktrx_ring, where, 92);
KTRX_ASSERT_OFFSET(struct ktrx_ring, kind, 94);
KTRX_ASSERT_OFFSET(struct ktrx_ring, cpu, 96);
KTRX_ASSERT_OFFSET(struct ktrx_ring, policy, 100);
KTRX_ASSERT_OFFSET(struct ktrx_ring, head_address, 104);
KTRX_ASSERT_OFFSET(struct ktrx_ring, head_where, 112);
KTRX_ASSERT_OFFSET(struct ktrx_ring, head, 120);
KTRX_ASSERT_SIZE(struct ktrx_event, 48);
KTRX_ASSERT_OFFSET(struct ktrx_event, size, 2);
KTRX_ASSERT_OFFSET(struct ktrx_event, state, 4);
KTRX_ASSERT_OFFSET(struct ktrx_event, wanted, 5);
KTRX_ASSERT_OFFSET(struct ktrx_event, id, 6);
KTRX_ASSERT_OFFSET(struct ktrx_event, header, 8);
KTRX_ASSERT_OFFSET(struct ktrx_event, v1_id, 12);
KTRX_ASSERT_OFFSET(struct ktrx_event, fields, 14);
KTRX_ASSERT_OFFSET(struct ktrx_event, flags, 15);
KTRX_ASSERT_OFFSET(struct ktrx_event, line, 16);
KTRX_ASSERT_OFFSET(struct ktrx_event, count, 24);
KTRX_ASSERT_OFFSET(struct ktrx_event, type, 32);
KTRX_ASSERT_SIZE(struct ktrx_place, 32);
KTRX_ASSERT_OFFSET(struct ktrx_place, size, 2);
KTRX_ASSERT_OFFSET(struct ktrx_place, id, 4);
KTRX_ASSERT_OFFSET(struct ktrx_place, event, 6);
KTRX_ASSERT_OFFSET(struct ktrx_place, header, 8);
KTRX_ASSERT_OFFSET(struct ktrx_place, offset, 12);
KTRX_ASSERT_OFFSET(struct ktrx_place, address, 16);
KTRX_ASSERT_OFFSET(struct ktrx_place, line, 24);
KTRX_ASSERT_SIZE(struct ktrx_setting, 80);
KTRX_ASSERT_OFFSET(struct ktrx_setting, size, 2);
KTRX_ASSERT_OFFSET(struct ktrx_setting, kind, 4);
KTRX_ASSERT_OFFSET(struct ktrx_setting, bit, 5);
KTRX_ASSERT_OFFSET(struct ktrx_setting, flags, 6);
KTRX_ASSERT_OFFSET(struct ktrx_setting, address, 8);
KTRX_ASSERT_OFFSET(struct ktrx_setting, value, 16);
KTRX_ASSERT_OFFSET(struct ktrx_setting, most, 24);
KTRX_ASSERT_OFFSET(struct ktrx_setting, name, 32);
KTRX_ASSERT_SIZE(struct ktrx_request, 32);
KTRX_ASSERT_OFFSET(struct ktrx_request, op, 4);
KTRX_ASSERT_OFFSET(struct ktrx_request, change, 5);
KTRX_ASSERT_OFFSET(struct ktrx_request, first, 6);
KTRX_ASSERT_OFFSET(struct ktrx_request, last, 8);
KTRX_ASSERT_OFFSET(struct ktrx_request, state, 10);
KTRX_ASSERT_OFFSET(struct ktrx_request, flags, 11);
KTRX_ASSERT_OFFSET(struct ktrx_request, result, 12);
KTRX_ASSERT_OFFSET(struct ktrx_request, value, 16);
KTRX_ASSERT_OFFSET(struct ktrx_request, check, 24);
KTRX_ASSERT_SIZE(struct ktrx_mailbox, 2112);
KTRX_ASSERT_OFFSET(struct ktrx_mailbox, nonce, 8);
KTRX_ASSERT_OFFSET(struct ktrx_mailbox, requested, 16);
KTRX_ASSERT_OFFSET(struct ktrx_mailbox, capacity, 20);
KTRX_ASSERT_OFFSET(struct ktrx_mailbox, applied, 24);
KTRX_ASSERT_OFFSET(struct ktrx_mailbox, refused, 28);
KTRX_ASSERT_OFFSET(struct ktrx_mailbox, applied_stamp, 32);
KTRX_ASSERT_OFFSET(struct ktrx_mailbox, request, 64);
KTRX_ASSERT_SIZE(struct ktrx_block, 64);
KTRX_ASSERT_OFFSET(struct ktrx_block, nonce, 8);
KTRX_ASSERT_OFFSET(struct ktrx_block, self, 16);
KTRX_ASSERT_OFFSET(struct ktrx_block, length, 24);
KTRX_ASSERT_OFFSET(struct ktrx_block, boot, 32);

KTRX_CASTS_BEGIN

/*
 * Returns an FNV-1a hash over the members that do not change during a boot and that spec/ktrx.md lists.
 */
static inline uint32_t ktrx_root_checksum(const struct ktrx_root *root)
{
	const uint64_t constant[] = { root->version,   root->slot_size | (uint64_t)root->slot_format << 16,
				      root->root_size, root->sections,
				      root->machine,   root->table,
				      root->nonce,     root->self };
	uint32_t hash = 2166136261u;

	for (unsigned i = 0; i < sizeof(constant) / sizeof(constant[0]); i++)
		for (unsigned shift = 0; shift < 64; shift += 8)
			hash = (hash ^ (uint32_t)(constant[i] >> shift & 0xff)) * 16777619u;
	for (unsigned i = 0; i < sizeof(root->tag); i++)
		hash = (hash ^ root->tag[i]) * 16777619u;
	return hash;
}

/*
 * Returns the check of a request, over all members except `check` and `result`. It is never 0, so cleared
 * memory is not a valid request.
 */
static inline uint64_t ktrx_request_check(const struct ktrx_request *request)
{
	const uint64_t word[] = { request->sequence | (uint64_t)request->op << 32 |
					  (uint64_t)request->change << 40 | (uint64_t)request->first << 48,
				  request->last | (uint64_t)request->state << 16 |
					  (uint64_t)request->flags << 24,
				  request->value };
	uint64_t hash = KTRX_U64(0x9e3779b97f4a7c15);

	for (unsigned i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		hash = (hash ^ word[i]) * KTRX_U64(0xbf58476d1ce4e5b9);
		hash ^= hash >> 29;
	}
	return hash | 1;
}

KTRX_CASTS_END

#endif
