/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A process trace: what processes request from their kernel. It is a separate file, with the clock and the
 * thread numbers of the rings. A head is followed by records, each a multiple of 8 bytes. If more records
 * were appended to a file later, there is another head before them, in the place of a record. The host must
 * not trust any of this data. Normative text: spec/ktrx-proc.md.
 */
#ifndef KTRX_PROC_H
#define KTRX_PROC_H

#include "ktrx/base.h"

/*
 * the first bytes of a head. If a reader takes these bytes for the size of a record, the size is above
 * KTRX_PROC_PAYLOAD_MAX
 */
#define KTRX_PROC_MAGIC	  "KTRP"
#define KTRX_PROC_VERSION 1u

struct ktrx_proc_head {
	uint8_t magic[4];
	uint32_t version;
	uint64_t frequency;  /* ticks per second of all timestamps; 0 if unknown */
	uint64_t nonce;	     /* nonce of the boot, as in struct ktrx_root; 0 if there are no rings */
	uint64_t wall_stamp; /* counter value at the time wall_ns */
	uint64_t wall_ns;    /* Unix time in ns at the counter value wall_stamp; 0 if unknown */
	uint16_t machine;    /* ELF e_machine; 0 if unknown */
	uint16_t head_size;  /* sizeof(struct ktrx_proc_head): offset at which the records begin */
	/* sizeof(struct ktrx_proc_record): offset in a record at which its payload begins */
	uint16_t record_head;
	uint16_t reserved0;
	uint8_t reserved[12];
	uint32_t check; /* result of ktrx_proc_check() for the members before this one */
};

/* Types of records. Numbers below 32 are FreeBSD's, but most payloads differ. */
#define KTRX_PROC_SYSCALL 1u
#define KTRX_PROC_SYSRET  2u
#define KTRX_PROC_NAMEI	  3u /* the path that is looked up, without NUL */
#define KTRX_PROC_GENIO	  4u
#define KTRX_PROC_PSIG	  5u
#define KTRX_PROC_CSW	  6u
#define KTRX_PROC_USER	  7u /* data that the program passed to utrace(2), at most KTRX_PROC_USER_MAX bytes */
/* the structure's name, NUL, the structure's bytes; a line "struct" of TABLE describes their layout */
#define KTRX_PROC_STRUCT       8u
#define KTRX_PROC_SYSCTL       9u /* the setting's name, without NUL */
#define KTRX_PROC_PROCCTOR     10u
#define KTRX_PROC_PROCDTOR     11u
#define KTRX_PROC_CAPFAIL      12u
#define KTRX_PROC_FAULT	       13u
#define KTRX_PROC_FAULTEND     14u
#define KTRX_PROC_STRUCT_ARRAY 15u
#define KTRX_PROC_NAME	       32u /* the process's name from this record on, without NUL */
/*
 * text: the kernel's system calls, errors and types; the texts of all TABLE records up to the next head are
 * joined
 */
#define KTRX_PROC_TABLE 33u
#define KTRX_PROC_END	34u /* the last record of this sink */
#define KTRX_PROC_FD	35u /* what a file descriptor refers to from this record on */

#define KTRX_PROC_USER_MAX 2048u
/* maximum size of a payload; a larger size means that the file is damaged */
#define KTRX_PROC_PAYLOAD_MAX (KTRX_U32(1) << 20)
#define KTRX_PROC_ARGS_MAX    8u

/* Flags of a record. */
#define KTRX_PROC_CUT 1u /* the payload was longer and has been cut */
/* recorded in a context that must not sleep, so the timestamp may be lower than that of an earlier record */
#define KTRX_PROC_QUEUED 2u

/*
 * NAMEI, GENIO, STRUCT and STRUCT_ARRAY: number of the system call's argument that contained the address of
 * the payload; 1 is the first argument; 0: not recorded
 */
#define KTRX_PROC_ARGUMENT_SHIFT  8
#define KTRX_PROC_ARGUMENT(flags) ((flags) >> KTRX_PROC_ARGUMENT_SHIFT & 15u)

#define KTRX_PROC_NO_CPU 0xffffu
#define KTRX_PROC_MARK	 0x9e4bu /* constant that lets a reader find the next record after damage */

struct ktrx_proc_record {
	uint32_t size; /* size of the payload in bytes; zero bytes follow it, up to a multiple of 8 */
	uint16_t type; /* KTRX_PROC_*; a reader skips records of unknown types, and counts them */
	uint16_t flags;
	uint64_t stamp;
	uint32_t pid;
	uint32_t tid; /* thread number, as in the rings */
	uint16_t cpu; /* KTRX_PROC_NO_CPU if unknown */
	uint16_t mark;
	uint32_t lost; /* number of records of this sink that were lost directly before this record */
};

struct ktrx_proc_syscall {
	uint32_t number;
	uint16_t args; /* number of arguments that follow, a uint64_t each; at most KTRX_PROC_ARGS_MAX */
	uint16_t abi;  /* ABI of the call; 0: the kernel's own */
};

struct ktrx_proc_sysret {
	uint32_t number;
	int32_t error; /* 0, or a positive error number of the kernel */
	int64_t result;
};

struct ktrx_proc_genio {
	int32_t fd;
	uint32_t write; /* 0: the program read, 1: it wrote */
	/*
	 * number of bytes that were read or written. The bytes follow the structure; if the record has the
	 * flag KTRX_PROC_CUT, only the first part of the bytes follows
	 */
	uint64_t size;
};

struct ktrx_proc_psig {
	uint32_t signal;
	int32_t code;	  /* the kernel's number for the reason why the signal was sent */
	uint64_t handler; /* address of the handler; 0: default action */
	uint64_t mask[2]; /* signals that were blocked at the time of the record: bit n - 1 for signal n */
};
/* value of `handler` if the signal is caught, but the address of the handler is unknown */
#define KTRX_PROC_HANDLER_UNKNOWN KTRX_U64_MAX

/*
 * A path follows, without NUL; or, for an object without a path, the kernel's name for it. If nothing follows
 * the structure, the target of the descriptor is unknown from here on.
 */
struct ktrx_proc_fd {
	int32_t fd; /* KTRX_PROC_FD_CWD: the current directory */
	uint32_t reserved;
};
#define KTRX_PROC_FD_CWD (-100)

/*
 * The name of what the thread waits for follows the structure, without NUL; nothing follows if the name is
 * unknown.
 */
struct ktrx_proc_csw {
	uint32_t out;	    /* 1: the thread leaves its CPU, 0: it runs again */
	uint32_t voluntary; /* 1: the thread waits for something, 0: it was preempted */
	/*
	 * 0: the record describes one switch. Otherwise the record is only a count: the number of switches
	 * with these values of `out` and `voluntary` since recording began
	 */
	uint64_t count;
};

/* The name of the program follows, without NUL. */
struct ktrx_proc_ctor {
	uint32_t parent;
	uint32_t flags; /* KTRX_PROC_CTOR_* */
};
#define KTRX_PROC_CTOR_FORK 0u
#define KTRX_PROC_CTOR_EXEC 1u
#define KTRX_PROC_CTOR_SET  2u /* the process existed when its trace began */

struct ktrx_proc_dtor {
	uint32_t status;   /* exit status, or, if `signaled` is 1, the signal that ended the process */
	uint32_t signaled; /* 1: `status` is the number of a signal */
};

/* After this struct comes the path to which access was denied, without NUL. The path may be empty. */
struct ktrx_proc_capfail {
	uint32_t reason; /* KTRX_PROC_DENIED_* */
	uint32_t number; /* number of the call, as in struct ktrx_proc_syscall; 0xffffffff: none */
	uint64_t needed; /* rights that are needed, as in the type "rights" of TABLE */
	uint64_t held;
};
#define KTRX_PROC_DENIED_OTHER	   0u
#define KTRX_PROC_DENIED_RIGHTS	   1u /* the permissions of a file do not allow it */
#define KTRX_PROC_DENIED_OWNER	   2u /* the process or the file belongs to another user */
#define KTRX_PROC_DENIED_PRIVILEGE 3u /* only the superuser may do what was requested */
#define KTRX_PROC_DENIED_SYSCALL   4u /* the system call itself is not allowed */
/* the descriptor was not opened with the rights for what was requested */
#define KTRX_PROC_DENIED_DESCRIPTOR 5u

struct ktrx_proc_fault {
	uint64_t address;
	uint32_t access; /* kind of access: 1 read, 2 write, 4 execute; 0 unknown */
	/* 1: the program caused the fault; 0: the kernel caused it on behalf of the program */
	uint32_t user;
};

struct ktrx_proc_faultend {
	int32_t result; /* 0: the fault was resolved; otherwise a positive error number of the kernel */
	uint32_t reserved;
};

/* A name, a NUL, and the elements of the array follow the structure. */
struct ktrx_proc_struct_array {
	uint32_t element_size;
	uint32_t count;
};

struct ktrx_proc_end {
	uint32_t reason; /* KTRX_PROC_ENDED_* */
	int32_t error;	 /* positive error number of the kernel */
	uint64_t records;
	uint64_t lost; /* total number of records that were lost */
	uint64_t bytes;
};
#define KTRX_PROC_ENDED_CLOSED 0u /* no process is traced into the sink any more */
#define KTRX_PROC_ENDED_LIMIT  1u
#define KTRX_PROC_ENDED_ERROR  2u

KTRX_CASTS_BEGIN

/* Returns the FNV-1a hash of the first 60 bytes of the head. */
static inline uint32_t ktrx_proc_check(const struct ktrx_proc_head *head)
{
	const uint8_t *byte = (const uint8_t *)head;
	uint32_t check = KTRX_U32(2166136261);

	for (uint32_t i = 0; i < 60; i++)
		check = (check ^ byte[i]) * KTRX_U32(16777619);
	return check;
}

KTRX_CASTS_END

KTRX_ASSERT_SIZE(struct ktrx_proc_head, 64);
KTRX_ASSERT_OFFSET(struct ktrx_proc_head, frequency, 8);
KTRX_ASSERT_OFFSET(struct ktrx_proc_head, nonce, 16);
KTRX_ASSERT_OFFSET(struct ktrx_proc_head, wall_stamp, 24);
KTRX_ASSERT_OFFSET(struct ktrx_proc_head, wall_ns, 32);
KTRX_ASSERT_OFFSET(struct ktrx_proc_head, machine, 40);
KTRX_ASSERT_OFFSET(struct ktrx_proc_head, head_size, 42);
KTRX_ASSERT_OFFSET(struct ktrx_proc_head, record_head, 44);
KTRX_ASSERT_OFFSET(struct ktrx_proc_head, check, 60);
KTRX_ASSERT_SIZE(struct ktrx_proc_record, 32);
KTRX_ASSERT_OFFSET(struct ktrx_proc_record, type, 4);
KTRX_ASSERT_OFFSET(struct ktrx_proc_record, flags, 6);
KTRX_ASSERT_OFFSET(struct ktrx_proc_record, stamp, 8);
KTRX_ASSERT_OFFSET(struct ktrx_proc_record, pid, 16);
KTRX_ASSERT_OFFSET(struct ktrx_proc_record, tid, 20);
KTRX_ASSERT_OFFSET(struct ktrx_proc_record, cpu, 24);
KTRX_ASSERT_OFFSET(struct ktrx_proc_record, mark, 26);
KTRX_ASSERT_OFFSET(struct ktrx_proc_record, lost, 28);
KTRX_ASSERT_SIZE(struct ktrx_proc_syscall, 8);
KTRX_ASSERT_SIZE(struct ktrx_proc_sysret, 16);
KTRX_ASSERT_SIZE(struct ktrx_proc_genio, 16);
KTRX_ASSERT_SIZE(struct ktrx_proc_fd, 8);
KTRX_ASSERT_SIZE(struct ktrx_proc_psig, 32);
KTRX_ASSERT_SIZE(struct ktrx_proc_csw, 16);
KTRX_ASSERT_SIZE(struct ktrx_proc_ctor, 8);
KTRX_ASSERT_SIZE(struct ktrx_proc_dtor, 8);
KTRX_ASSERT_SIZE(struct ktrx_proc_capfail, 24);
KTRX_ASSERT_SIZE(struct ktrx_proc_fault, 16);
KTRX_ASSERT_SIZE(struct ktrx_proc_faultend, 8);
KTRX_ASSERT_SIZE(struct ktrx_proc_struct_array, 8);
KTRX_ASSERT_SIZE(struct ktrx_proc_end, 32);

#endif
