/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * KTRX version 2, around the rings: the root and the sections it leads to. One layout serves the running
 * kernel, a dump, a RAM file and a core: only the addresses differ (virtual or physical in memory, offsets
 * from the root in a dump). Everything here is data the host must not trust. Normative text: spec/ktrx.md.
 */
#ifndef KTRX_V2_H
#define KTRX_V2_H

#include <stdint.h>

#include "ktrx/assert.h"

#define KTRX_MAGIC     "KTRX"
#define KTRX_TAG       "ktrace2\n"
#define KTRX2_VERSION  2u
#define KTRX_SECTIONS  16u
#define KTRX_MAX_RINGS 4098u /* the boot ring, 4096 CPUs and the ring of rare events */

/* How the addresses of a section or a ring are meant. */
#define KTRX_WHERE_NONE	    0u /* absent */
#define KTRX_WHERE_VIRTUAL  1u /* as the kernel sees it; see spec on finding the physical address */
#define KTRX_WHERE_PHYSICAL 2u
#define KTRX_WHERE_FILE	    3u /* bytes from the root, in a dump */

struct ktrx_extent {
	uint64_t address;
	uint64_t length;
};

struct ktrx_section {
	uint32_t type;	     /* KTRX_SECTION_*; a reader skips and counts types it does not know */
	uint16_t where;	     /* KTRX_WHERE_* */
	uint16_t entry_size; /* bytes an entry, 0 for a byte stream */
	uint32_t extents;    /* 1: `address` is the data; more: `address` leads to that many ktrx_extent */
	uint32_t index;	     /* which one, where several sections share a type */
	uint64_t address;
	uint64_t length; /* bytes of data in all */
};

#define KTRX_SECTION_NONE      0u
#define KTRX_SECTION_RINGS     1u  /* struct ktrx_ring, ring 0 first */
#define KTRX_SECTION_EVENTS    2u  /* rows of struct ktrx_event, ktrx_place; ids run on, by `index` */
#define KTRX_SECTION_THREADS   3u  /* struct ktrx_thread */
#define KTRX_SECTION_CPUS      4u  /* struct ktrx_cpu, CPU 0 first */
#define KTRX_SECTION_OFFSETS   5u  /* int64_t a CPU: add to a stamp of that CPU */
#define KTRX_SECTION_BUILD_ID  6u  /* the bytes of the kernel's GNU build id */
#define KTRX_SECTION_COUNTERS  7u  /* uint64_t [ring][event id] */
#define KTRX_SECTION_SYSCALLS  8u  /* text, a line a call or an error (spec, section 3) */
#define KTRX_SECTION_MAILBOX   9u  /* struct ktrx_mailbox */
#define KTRX_SECTION_HOLDERS   10u /* struct ktrx_holder: a row a CPU, CPU 0 first, then threads' */
#define KTRX_SECTION_REGISTERS 11u /* text of the CPUs' registers, added by a host that halted them */
#define KTRX_SECTION_NOTE      12u /* text about the capture, added by the host */
#define KTRX_SECTION_SETTINGS  13u /* struct ktrx_setting rows */
#define KTRX_SECTION_CLOCKS    14u /* struct ktrx_clock, CPU 0 first */
#define KTRX_SECTION_FOLDS     15u /* struct ktrx_fold: repeats that are being counted */

/* Root flags. */
#define KTRX_FLAG_DUMP	  1u /* linearised: every address is KTRX_WHERE_FILE */
#define KTRX_FLAG_STOPPED 2u /* recording was stopped when this was written */
#define KTRX_FLAG_KEPT	  4u /* a copy of the root, in memory that outlives a reset (spec, section 13) */
#define KTRX_FLAG_PLACES  0x10000u /* records may bear ids of places: struct ktrx_place */
/*
 * Of the flags that a reader does not know it passes over those below these, and refuses the trace for one of
 * these.
 */
#define KTRX_FLAGS_NEEDED 0xffff0000u

#define KTRX_OUTCOME_RUNNING 0u
#define KTRX_OUTCOME_EXITED  1u
#define KTRX_OUTCOME_PANIC   2u

struct ktrx_root {
	uint8_t magic[4];     /* "KTRX"; the first 32 bytes mean what they mean in version 1 */
	uint32_t version;     /* 2 */
	uint64_t frequency;   /* counter ticks a second, 0 while unknown */
	uint32_t cpus;	      /* CPUs known so far */
	uint32_t slots;	      /* slots of the largest ring */
	uint16_t slot_size;   /* 32 */
	uint16_t slot_format; /* KTRX_SLOTS_* */
	uint32_t flags;	      /* KTRX_FLAG_* */
	uint8_t tag[8];	      /* "ktrace2\n" */
	uint32_t root_size;   /* sizeof(struct ktrx_root); sections beyond a reader's own count are skipped */
	uint32_t sections;    /* entries in section[] */
	uint16_t machine;     /* ELF e_machine */
	uint16_t table;	      /* offset of section[] */
	uint32_t checksum;    /* ktrx_root_checksum() */
	uint64_t nonce;	      /* of this boot */
	uint64_t self;	      /* the root's own virtual address; 0 in a copy that never ran */
	uint64_t self_phys;   /* its physical address, 0 if unknown */
	uint64_t length;      /* bytes of the whole dump; 0 in memory */
	uint64_t wall_stamp;  /* counter value at … */
	uint64_t wall_ns;     /* … this Unix time in ns; 0 if unknown */
	uint32_t outcome;     /* KTRX_OUTCOME_* */
	int32_t status;	      /* exit status given with KTRX_OUTCOME_EXITED */
	uint32_t sequence;    /* odd while the table changes */
	uint32_t v1_omitted;  /* records a v1 dump of this trace could not carry */
	uint64_t lost_events; /* events not recorded because their row has no id: rows beyond 4095 */
	char kernel[64];      /* name and version, NUL-terminated */
	struct ktrx_section section[KTRX_SECTIONS];
};

#define KTRX_RING_PER_CPU 0u
#define KTRX_RING_SHARED  1u /* several CPUs write it; records carry KTRX_EXT_CPU */

#define KTRX_POLICY_OVERWRITE 0u
#define KTRX_POLICY_STOP      1u /* keep the oldest: refuse and count once full */

#define KTRX_NO_CPU 0xffffffffu

/* One ring. The first 64 bytes are what a writer needs; the rest is for readers. */
struct ktrx_ring {
	uint64_t word;	       /* reserve word, unless head_where says that it lies elsewhere */
	uint64_t base;	       /* writer's pointer to slot 0 */
	uint32_t mask;	       /* slots - 1 */
	uint32_t shift;	       /* log2 of slots; 9 to 30 */
	uint64_t deadline;     /* stamp from which a writer must put an anchor first */
	uint64_t anchor_stamp; /* newest anchor: whole stamp … */
	uint64_t anchor_index; /* … and slot index */
	uint64_t dropped;      /* records refused by KTRX_POLICY_STOP */
	uint64_t lapped; /* slots of writers that noticed being held up for a whole lap: a lower bound */

	uint64_t first;	  /* index of the first slot that counts: this boot's, or that behind a clear */
	uint64_t address; /* of slot 0, as `where` says */
	uint64_t length;  /* bytes */
	uint32_t extents; /* as in struct ktrx_section */
	uint16_t where;
	uint16_t kind;	       /* KTRX_RING_* */
	uint32_t cpu;	       /* KTRX_NO_CPU for a shared ring */
	uint32_t policy;       /* KTRX_POLICY_* */
	uint64_t head_address; /* of the reserve word, when it lies in the kernel's per-CPU area */
	uint16_t head_where;   /* KTRX_WHERE_NONE: `word` above is the head */
	uint16_t reserved0;
	uint32_t reserved1;
	uint64_t head; /* writer's pointer to the reserve word */
};

/*
 * One row of the event table. Rows are aligned to 8 bytes; zero bytes between rows are stepped over. Its id
 * is its ordinal number in the table, from 1. Strings follow in this order, each NUL-terminated: group, name,
 * text, file, then name and unit of each field. No pointers: rows survive relocation and LTO.
 */
struct ktrx_event {
	uint16_t magic;	 /* KTRX_EVENT_MAGIC */
	uint16_t size;	 /* bytes of the row with its strings, a multiple of 8 */
	uint8_t state;	 /* KTRX_STATE_* as it is now */
	uint8_t wanted;	 /* as asked for; `state` follows while recording is started */
	uint16_t id;	 /* cache of the ordinal, 0 until the kernel numbered its rows */
	uint32_t header; /* kernel-private: low half of a first slot's leading word */
	uint16_t v1_id;	 /* id in a v1 dump, KTRX_V1_NONE if it has none */
	uint8_t fields;	 /* 0 to 16 */
	uint8_t flags;	 /* KTRX_EVENT_* */
	uint32_t line;	 /* where it was declared */
	/* in the mask of its group: 1 + the bit's number; 0: one that is free, by file, line and id */
	uint32_t mask_bit;
	uint64_t count;	  /* shared count, used where there are no per-CPU counters */
	uint8_t type[16]; /* KTRX_TYPE_* of each field */
			  /* strings follow */
};
#define KTRX_EVENT_MAGIC  0x5645u
#define KTRX_EVENT_FIELDS 16u
#define KTRX_V1_NONE	  0xffffu

/*
 * A place in the kernel's source that records an event of which other places record, too. These rows stand
 * among those of events, each aligned to 8 bytes. The name of the file follows, NUL-terminated.
 *
 * A record with a place's id is one of the place's event. Its fields are that event's.
 */
struct ktrx_place {
	uint16_t magic;	  /* KTRX_PLACE_MAGIC */
	uint16_t size;	  /* bytes of the row with its string, a multiple of 8 */
	uint16_t id;	  /* above the ids of all events; 0: none, then records bear the event's id */
	uint16_t event;	  /* id of the event; 0: not known, then no record bears the place's id */
	uint32_t header;  /* kernel-private: low half of a first slot's leading word */
	int32_t offset;	  /* kernel-private: from this row to that of the event, in bytes; 0: not known */
	uint64_t address; /* kernel-private: of the event's row, as linked or relocated */
	uint32_t line;
	uint32_t reserved;
};
#define KTRX_PLACE_MAGIC 0x4953u

/* Flags of an event. */
#define KTRX_EVENT_CALLERS 3u /* mask: how many callers of the recording function, 0 to 2; 3 is taken for 2 */
#define KTRX_EVENT_SITE	   4u /* where in the recording function */
#define KTRX_EVENT_FOLD	   8u /* a repetition is counted instead of recorded: struct ktrx_fold */
#define KTRX_EVENT_RARE	   16u /* records go into the ring of rare events, where there is one */

/* States of an event: bit 0 records, bit 1 counts, bit 7 sends it through the slow path. 0 is off. */
#define KTRX_STATE_OFF	  0u
#define KTRX_STATE_RECORD 1u
#define KTRX_STATE_COUNT  2u
#define KTRX_STATE_STOP	  4u /* stops all recording after it fired once */
#define KTRX_STATE_SLOW	  0x80u

/* Field types. Integers lie packed, in order, in their natural size; no padding. */
#define KTRX_TYPE_U8	  1u
#define KTRX_TYPE_U16	  2u
#define KTRX_TYPE_U32	  3u
#define KTRX_TYPE_U64	  4u
#define KTRX_TYPE_I8	  5u
#define KTRX_TYPE_I16	  6u
#define KTRX_TYPE_I32	  7u
#define KTRX_TYPE_I64	  8u
#define KTRX_TYPE_POINTER 9u  /* 8 bytes */
#define KTRX_TYPE_STRING  10u /* u16: bit 15 cut short, low bits length; then that many bytes, no NUL */
#define KTRX_TYPE_BOOL	  11u /* 1 byte */
#define KTRX_TYPE_CHAR	  12u /* 1 byte */
#define KTRX_STRING_CUT	  0x8000u

/*
 * One row of the table of settings: a word of the kernel's, or one bit of it, that is read and set by name.
 * Rows are aligned to 8 bytes; zero bytes between rows are stepped over. A request names a row by its
 * ordinal, from 0.
 */
struct ktrx_setting {
	uint16_t magic; /* KTRX_SETTING_MAGIC */
	uint16_t size;	/* bytes of the row */
	uint8_t kind;	/* KTRX_SETTING_U32 … */
	uint8_t bit;	/* which one, of a kind that is a bit */
	uint8_t flags;	/* KTRX_SETTING_READ_ONLY */
	uint8_t reserved;
	uint64_t address; /* of the word, virtual; 0 if the image was not relocated */
	uint64_t value;	  /* the word's, in a dump and in what is kept; else 0 */
	uint64_t most;	  /* the greatest value it takes */
	char name[48];	  /* whole, as in "debug.ktr.stacktrace", NUL-terminated */
};
#define KTRX_SETTING_MAGIC     0x5453u
#define KTRX_SETTING_U32       1u
#define KTRX_SETTING_U64       2u
#define KTRX_SETTING_BIT32     3u
#define KTRX_SETTING_BIT64     4u
#define KTRX_SETTING_READ_ONLY 1u

/*
 * Requests from a host to the running kernel. The host writes requests[sequence % capacity] and then, last,
 * `requested`; the kernel carries them out in order from its tick and then, last, writes `applied`. A host
 * writes
 * nothing else.
 */
struct ktrx_request {
	uint32_t sequence; /* 1 for the first of a boot */
	uint8_t op;	   /* KTRX_REQUEST_* */
	uint8_t change;	   /* EVENTS: KTRX_CHANGE_*, what of them */
	uint16_t first;	   /* EVENTS: first id; SETTING: row */
	uint16_t last;	   /* EVENTS: last id */
	uint8_t state;	   /* EVENTS: KTRX_STATE_* wanted */
	uint8_t flags;	   /* EVENTS: flags of the row */
	uint32_t result;   /* KTRX_RESULT_*, written by the kernel */
	uint64_t value;	   /* SETTING */
	uint64_t check;	   /* ktrx_request_check(): all of the request has arrived */
};

#define KTRX_REQUEST_EVENTS  1u
#define KTRX_REQUEST_START   2u
#define KTRX_REQUEST_STOP    3u
#define KTRX_REQUEST_CLEAR   4u
#define KTRX_REQUEST_SETTING 5u

#define KTRX_CHANGE_STATE 1u
#define KTRX_CHANGE_FLAGS 0xfeu /* bit n + 1: bit n of the row's flags */

/*
 * The words that kernel and host take for changes: USE(word, what changes, state, flags), what changes as
 * `change` of a request has it.
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

#define KTRX_RESULT_NONE    0u /* not carried out yet */
#define KTRX_RESULT_DONE    1u
#define KTRX_RESULT_TORN    2u /* not the request expected there, or its check is wrong */
#define KTRX_RESULT_REFUSED 3u /* a field is out of range, or the setting takes no such value */

#define KTRX_MAILBOX_REQUESTS 64u
#define KTRX_MAILBOX_MAGIC    "KTRXMBX\n"

struct ktrx_mailbox {
	uint8_t magic[8];	/* KTRX_MAILBOX_MAGIC */
	uint64_t nonce;		/* the root's */
	uint32_t requested;	/* last sequence written by the host */
	uint32_t capacity;	/* KTRX_MAILBOX_REQUESTS */
	uint32_t applied;	/* last sequence the kernel has dealt with */
	uint32_t refused;	/* of these, not carried out */
	uint64_t applied_stamp; /* counter when `applied` was written */
	uint8_t reserved[24];
	struct ktrx_request request[KTRX_MAILBOX_REQUESTS];
};

struct ktrx_thread {
	uint32_t id;   /* thread id + 1; 0 marks an empty row */
	char name[28]; /* NUL-terminated */
};

/*
 * What a CPU is doing, readable from outside at any time. Each field is written by its own CPU only, by the
 * hooks of ktrace/hooks.h: one whose hook a kernel does not call stays 0. Stamps are of the CPU's counter, 0:
 * never.
 */
#define KTRX_SAMPLES 8u
struct ktrx_cpu {
	uint64_t heartbeats;	  /* calls of ktrace_heartbeat() */
	uint64_t heartbeat_stamp; /* counter at the last one */
	uint64_t pc;		  /* interrupted there */
	uint32_t thread;	  /* running there */
	uint8_t mode;		  /* KTRX_MODE_* */
	uint8_t online;
	uint8_t interrupts;  /* KTRX_INTERRUPTS_* */
	uint8_t hooks;	     /* KTRX_HOOK_*: hooks called at least once */
	uint32_t preempt;    /* how often preemption was turned off and not on again */
	uint32_t nesting;    /* interrupts entered and not left */
	uint64_t now;	     /* newest stamp that was read here: no hook that needs none reads the clock */
	uint64_t mode_stamp; /* `now` when the mode last changed */
	uint64_t interrupts_stamp; /* `now` when interrupts were last turned off */
	uint64_t interrupts_pc;	   /* who did */
	uint64_t space;		   /* address space id */
	uint64_t switches;	   /* context switches … */
	uint64_t switch_stamp;	   /* … and the last one */
	uint64_t irqs;		   /* interrupts entered … */
	uint64_t irq_stamp;	   /* … and the last one */
	uint64_t eois;		   /* interrupts ended at the controller */
	uint32_t irq;		   /* number of the last one entered … */
	uint32_t eoi;		   /* … and of the last one ended */
	uint64_t ipi_stamp;	   /* since when it awaits an answer */
	uint64_t ipi_pc;	   /* where */
	uint32_t ipi_cpu;	   /* from that CPU + 1; KTRX_ALL_CPUS: from all others; 0: it awaits none */
	uint32_t ipi_what;	   /* what it has asked for */
	uint64_t ipi_answered;	   /* when it last answered one itself */
	uint64_t user_enters;	   /* times it left user mode … */
	uint64_t user_exits;	   /* … and went there */
	uint32_t broken;	   /* KTRX_BROKEN_*: the first rule that was broken here */
	uint32_t broken_thread;
	uint64_t broken_stamp;
	uint64_t broken_pc;
	uint64_t broken_object;	       /* a lock */
	uint64_t sample[KTRX_SAMPLES]; /* pc of the last heartbeats: number n at n modulo KTRX_SAMPLES */
	uint8_t reserved[48];
};
#define KTRX_MODE_UNKNOWN   0u
#define KTRX_MODE_IDLE	    1u
#define KTRX_MODE_KERNEL    2u
#define KTRX_MODE_USER	    3u
#define KTRX_MODE_INTERRUPT 4u

#define KTRX_INTERRUPTS_UNKNOWN 0u
#define KTRX_INTERRUPTS_ON	1u
#define KTRX_INTERRUPTS_OFF	2u

#define KTRX_ALL_CPUS 0xffffffffu

/* Which hooks a kernel has: what is not lit is not known, rather than not so. */
#define KTRX_HOOK_LOCK	  1u
#define KTRX_HOOK_THREAD  2u
#define KTRX_HOOK_IRQ	  4u
#define KTRX_HOOK_EOI	  8u
#define KTRX_HOOK_IPI	  16u
#define KTRX_HOOK_PREEMPT 32u
#define KTRX_HOOK_SPACE	  64u
#define KTRX_HOOK_EXIT	  128u /* by the thread that ends, before its last switch */

#define KTRX_BROKEN_NOTHING	     0u
#define KTRX_BROKEN_SWITCH_LOCKED    1u /* a switch by who holds a lock that its CPU holds */
#define KTRX_BROKEN_SWITCH_PREEMPT   2u /* a switch while preemption is off */
#define KTRX_BROKEN_SWITCH_INTERRUPT 3u /* a switch inside an interrupt */
#define KTRX_BROKEN_RELEASE	     4u /* a lock given up that was not held */
#define KTRX_BROKEN_ACQUIRE	     5u /* a lock taken by who has it already */

/*
 * Who can hold locks and wait: a CPU, for what it must not be taken away from, or a thread. Evidence that
 * outlives the rings. A CPU's row is written by that CPU; a thread's by the thread, and by who wakes it.
 */
#define KTRX_HELD 6u
struct ktrx_held {
	uint64_t object; /* 0: an empty place */
	uint64_t stamp;	 /* it was had then or later: the CPU's `now` */
	uint64_t pc;	 /* where */
};
struct ktrx_holder {
	uint32_t id;	      /* thread + 1, or KTRX_HOLDER_CPU | CPU; 0: an empty row */
	uint8_t state;	      /* of a thread: KTRX_THREAD_* */
	uint8_t wait;	      /* KTRX_WAIT_*: what for */
	uint8_t held_count;   /* locks; those beyond KTRX_HELD are only counted */
	uint8_t priority;     /* of a thread, greater is more urgent; 0: unknown */
	uint64_t state_stamp; /* since when `state` is so */
	uint64_t object;      /* waited for, while `wait` is not 0 */
	uint64_t wait_stamp;  /* since when */
	uint64_t wait_pc;     /* where */
	uint32_t owner;	      /* who had the object when the wait began, as `id`; 0: unknown */
	uint16_t cpu;	      /* of a thread: it runs there, or ran there last */
	uint8_t whole;	      /* of a thread: 1 if all locks that it holds are known */
	uint8_t cause;	      /* of a thread that is runnable: KTRX_CAUSE_* */
	uint64_t deadline;    /* stamp by which the wait ends by itself; 0: it does not */
	uint32_t waker;	      /* thread + 1 that made it runnable last; 0: none, or an interrupt */
	uint32_t wakes;	      /* how often it was made runnable */
	uint64_t stack_low;   /* of a thread: its stack, 0: unknown */
	uint64_t stack_high;
	char object_name[32]; /* NUL-terminated, "" unknown */
	struct ktrx_held held[KTRX_HELD];
	/*
	 * Threads only: the newest waits of kind KTRX_WAIT_EVENT or _DEVICE that a wakeup ended before their
	 * deadline, all for …
	 */
	uint64_t habit_object;	/* … this */
	uint64_t habit_first;	/* stamp of the wakeup that ended the first of them … */
	uint64_t habit_last;	/* … and of the last one */
	uint64_t habit_longest; /* ticks, the longest from one wakeup to the next */
	uint64_t habit_usual;	/* ticks, a running mean of these times */
	uint32_t habit_wakes;	/* how many there were; 0: none, or an older kernel */
	uint32_t habit_alike;	/* of the times between, how many lay within half and twice the mean */
	uint32_t habit_waker;	/* thread + 1 that woke it last from such a wait; 0: an interrupt */
	uint32_t reserved[3];	/* 0 */
};
#define KTRX_HOLDER_CPU 0x80000000u

#define KTRX_THREAD_UNKNOWN  0u
#define KTRX_THREAD_RUNNING  1u
#define KTRX_THREAD_RUNNABLE 2u
#define KTRX_THREAD_WAITING  3u

/*
 * Why a thread is runnable. One that ended after its switch, without ktrace_thread_exit(), looks like
 * KTRX_CAUSE_SWITCH.
 */
#define KTRX_CAUSE_UNKNOWN 0u
#define KTRX_CAUSE_WAKE	   1u /* it was woken */
#define KTRX_CAUSE_START   2u /* it was woken for the first time, and has not run on any CPU yet */
#define KTRX_CAUSE_SWITCH  3u /* its CPU switched to another thread while it ran */

#define KTRX_WAIT_NONE	 0u
#define KTRX_WAIT_SPIN	 1u /* for a lock, running */
#define KTRX_WAIT_LOCK	 2u /* for a lock, asleep */
#define KTRX_WAIT_EVENT	 3u /* until woken, by whoever does what is waited for */
#define KTRX_WAIT_TIME	 4u /* for a time to pass */
#define KTRX_WAIT_THREAD 5u /* for the end of the thread whose number is `object` */
#define KTRX_WAIT_DEVICE 6u /* until a device has answered */

/* One measurement of a CPU's clock against CPU 0's. */
struct ktrx_clock_sample {
	uint64_t stamp; /* of the CPU whose clock it is */
	int64_t offset; /* ticks to be added to that stamp to have CPU 0's … */
	uint64_t error; /* … and how many that can be wrong by */
	uint64_t check; /* ktrx_clock_check(): anything else is not there, or not whole */
};
#define KTRX_CLOCK_SAMPLES 32u

/*
 * What was measured of one CPU's clock, written by that CPU. Samples lie in order of their stamps. When they
 * are full, every other one is dropped and twice as many measurements go between two of them; the last is the
 * newest.
 */
struct ktrx_clock {
	uint64_t measured; /* measurements that succeeded … */
	uint64_t failed;   /* … and those that brought nothing new, as CPU 0 did not answer in time */
	uint64_t due;	   /* the writer's: when the next one is to be */
	uint32_t samples;
	uint32_t spacing; /* measurements between two samples */
	uint32_t since;	  /* the writer's: of these, so far */
	uint32_t reserved[7];
	struct ktrx_clock_sample sample[KTRX_CLOCK_SAMPLES];
};

/*
 * What a CPU recorded last of an event that folds, and how often it came again since without a record.
 * Written by that CPU. When something else comes, the library's event ktrace.repeat tells the count, and the
 * row is used anew.
 */
#define KTRX_FOLD_PAYLOAD 256u
struct ktrx_fold {
	uint64_t sequence; /* even while nobody changes the row, another number after each change */
	uint16_t event;	   /* id; 0: an empty row */
	uint16_t bytes;	   /* of payload */
	uint32_t second;   /* thread, context and extension bit, as in bits 88:64 of a record's first slot */
	uint32_t cpu;
	uint32_t ring;	/* where the record is */
	uint64_t count; /* repetitions without a record … */
	uint64_t first; /* … stamp of the first of them … */
	uint64_t last;	/* … and of the last one */
	uint16_t place; /* id of the place that recorded; 0: not known */
	uint8_t reserved[14];
	uint8_t payload[KTRX_FOLD_PAYLOAD]; /* the record's, extension block included */
};

/*
 * Head of each block of memory that a kernel lent: lets the host find the block by itself when neither a
 * physical address nor the image's own mapping leads there.
 */
struct ktrx_block {
	uint8_t magic[8]; /* "KTRXBLK\n" */
	uint64_t nonce;	  /* the root's */
	uint64_t self;	  /* virtual address of this head */
	uint64_t length;  /* bytes of the block, this head included */
	uint64_t boot;	  /* of memory kept over resets: which boot this is, from 1; 0: it is not kept */
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
KTRX_ASSERT_SIZE(struct ktrx_thread, 32);
KTRX_ASSERT_OFFSET(struct ktrx_thread, name, 4);
KTRX_ASSERT_SIZE(struct ktrx_cpu, 320);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, heartbeat_stamp, 8);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, pc, 16);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, thread, 24);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, mode, 28);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, online, 29);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, interrupts, 30);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, hooks, 31);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, preempt, 32);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, nesting, 36);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, now, 40);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, mode_stamp, 48);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, interrupts_stamp, 56);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, interrupts_pc, 64);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, space, 72);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, switches, 80);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, switch_stamp, 88);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, irqs, 96);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, irq_stamp, 104);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, eois, 112);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, irq, 120);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, eoi, 124);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, ipi_stamp, 128);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, ipi_pc, 136);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, ipi_cpu, 144);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, ipi_what, 148);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, ipi_answered, 152);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, user_enters, 160);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, user_exits, 168);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, broken, 176);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, broken_thread, 180);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, broken_stamp, 184);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, broken_pc, 192);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, broken_object, 200);
KTRX_ASSERT_OFFSET(struct ktrx_cpu, sample, 208);
KTRX_ASSERT_SIZE(struct ktrx_held, 24);
KTRX_ASSERT_OFFSET(struct ktrx_held, stamp, 8);
KTRX_ASSERT_OFFSET(struct ktrx_held, pc, 16);
KTRX_ASSERT_SIZE(struct ktrx_holder, 320);
KTRX_ASSERT_OFFSET(struct ktrx_holder, state, 4);
KTRX_ASSERT_OFFSET(struct ktrx_holder, wait, 5);
KTRX_ASSERT_OFFSET(struct ktrx_holder, held_count, 6);
KTRX_ASSERT_OFFSET(struct ktrx_holder, priority, 7);
KTRX_ASSERT_OFFSET(struct ktrx_holder, state_stamp, 8);
KTRX_ASSERT_OFFSET(struct ktrx_holder, object, 16);
KTRX_ASSERT_OFFSET(struct ktrx_holder, wait_stamp, 24);
KTRX_ASSERT_OFFSET(struct ktrx_holder, wait_pc, 32);
KTRX_ASSERT_OFFSET(struct ktrx_holder, owner, 40);
KTRX_ASSERT_OFFSET(struct ktrx_holder, cpu, 44);
KTRX_ASSERT_OFFSET(struct ktrx_holder, deadline, 48);
KTRX_ASSERT_OFFSET(struct ktrx_holder, waker, 56);
KTRX_ASSERT_OFFSET(struct ktrx_holder, wakes, 60);
KTRX_ASSERT_OFFSET(struct ktrx_holder, stack_low, 64);
KTRX_ASSERT_OFFSET(struct ktrx_holder, stack_high, 72);
KTRX_ASSERT_OFFSET(struct ktrx_holder, object_name, 80);
KTRX_ASSERT_OFFSET(struct ktrx_holder, held, 112);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_object, 256);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_first, 264);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_last, 272);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_longest, 280);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_usual, 288);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_wakes, 296);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_alike, 300);
KTRX_ASSERT_OFFSET(struct ktrx_holder, habit_waker, 304);
KTRX_ASSERT_SIZE(struct ktrx_fold, 320);
KTRX_ASSERT_OFFSET(struct ktrx_fold, event, 8);
KTRX_ASSERT_OFFSET(struct ktrx_fold, bytes, 10);
KTRX_ASSERT_OFFSET(struct ktrx_fold, second, 12);
KTRX_ASSERT_OFFSET(struct ktrx_fold, cpu, 16);
KTRX_ASSERT_OFFSET(struct ktrx_fold, ring, 20);
KTRX_ASSERT_OFFSET(struct ktrx_fold, count, 24);
KTRX_ASSERT_OFFSET(struct ktrx_fold, first, 32);
KTRX_ASSERT_OFFSET(struct ktrx_fold, last, 40);
KTRX_ASSERT_OFFSET(struct ktrx_fold, place, 48);
KTRX_ASSERT_OFFSET(struct ktrx_fold, payload, 64);
KTRX_ASSERT_SIZE(struct ktrx_block, 64);
KTRX_ASSERT_OFFSET(struct ktrx_block, nonce, 8);
KTRX_ASSERT_OFFSET(struct ktrx_block, self, 16);
KTRX_ASSERT_OFFSET(struct ktrx_block, length, 24);
KTRX_ASSERT_OFFSET(struct ktrx_block, boot, 32);
KTRX_ASSERT_SIZE(struct ktrx_clock_sample, 32);
KTRX_ASSERT_OFFSET(struct ktrx_clock_sample, offset, 8);
KTRX_ASSERT_OFFSET(struct ktrx_clock_sample, error, 16);
KTRX_ASSERT_OFFSET(struct ktrx_clock_sample, check, 24);
KTRX_ASSERT_SIZE(struct ktrx_clock, 1088);
KTRX_ASSERT_OFFSET(struct ktrx_clock, failed, 8);
KTRX_ASSERT_OFFSET(struct ktrx_clock, due, 16);
KTRX_ASSERT_OFFSET(struct ktrx_clock, samples, 24);
KTRX_ASSERT_OFFSET(struct ktrx_clock, spacing, 28);
KTRX_ASSERT_OFFSET(struct ktrx_clock, since, 32);
KTRX_ASSERT_OFFSET(struct ktrx_clock, sample, 64);

KTRX_CASTS_BEGIN

static inline uint64_t ktrx_clock_check(const struct ktrx_clock_sample *sample)
{
	return ~(sample->stamp + 3 * (uint64_t)sample->offset + 5 * sample->error);
}

/* FNV-1a over what stays constant through a boot: version, slot size, tag, sizes, machine, nonce, self. */
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

/* Over all of a request but its result; never 0, so that cleared memory is no request. */
static inline uint64_t ktrx_request_check(const struct ktrx_request *request)
{
	const uint64_t word[] = { request->sequence | (uint64_t)request->op << 32 |
					  (uint64_t)request->change << 40 | (uint64_t)request->first << 48,
				  request->last | (uint64_t)request->state << 16 |
					  (uint64_t)request->flags << 24,
				  request->value };
	uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);

	for (unsigned i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		hash = (hash ^ word[i]) * UINT64_C(0xbf58476d1ce4e5b9);
		hash ^= hash >> 29;
	}
	return hash | 1;
}

KTRX_CASTS_END

#endif
