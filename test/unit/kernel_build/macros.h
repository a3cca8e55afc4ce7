/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Macros that kernel headers define before they include ktrace's headers: names of attributes, and the
 * kernel's own printf.
 */
#define aligned(n)	  __attribute__((__aligned__(n)))
#define always_inline	  __inline__ __attribute__((__always_inline__))
#define cold		  __attribute__((__cold__))
#define format(kind, ...) __attribute__((__format__(__printf__, __VA_ARGS__)))
#define may_alias	  __attribute__((__may_alias__))
#define noinline	  __attribute__((__noinline__))
#define packed		  __attribute__((__packed__))
#define printf		  printf_
#define retain		  __attribute__((__retain__))
#define section(name)	  __attribute__((__section__(name)))
#define unused		  __attribute__((__unused__))
#define used		  __attribute__((__used__))
#define visibility(kind)  __attribute__((__visibility__(kind)))

/* In some kernels, such as Unikraft, <stddef.h> has an offsetof() that needs another header of the kernel. */
#include <stddef.h>
#undef offsetof
#define offsetof(type, member) offsetof_of_another_header(type, member)

/* Helper macros that most kernels define. */
#define ARRAY_SIZE(array)		    (sizeof(array) / sizeof((array)[0]))
#define BIT(n)				    (1ul << (n))
#define likely(x)			    __builtin_expect(!!(x), 1)
#define max(a, b)			    ((a) > (b) ? (a) : (b))
#define min(a, b)			    ((a) < (b) ? (a) : (b))
#define unlikely(x)			    __builtin_expect(!!(x), 0)
#define clamp(x, low, high)		    ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - __builtin_offsetof(type, member)))
#define swap(a, b)			    ((void)(a), (void)(b))
#define roundup(x, n)			    (((x) + (n)-1) / (n) * (n))
#define howmany(x, n)			    (((x) + (n)-1) / (n))
#define nitems(array)			    ARRAY_SIZE(array)
#define barrier()			    __asm__ volatile("" : : : "memory")
#define cpu_relax()			    barrier()
#define mb()				    barrier()
#define rmb()				    barrier()
#define wmb()				    barrier()
#define current				    kernel_current_thread()
#define curproc				    kernel_current_process()
#define curthread			    kernel_current_thread()
#define errno				    (*kernel_errno())
#define assert(x)			    ((x) ? (void)0 : __builtin_trap())
#define panic(...)			    __builtin_trap()
#define debug(...)			    ((void)0)
#define trace(...)			    ((void)0)
#define log(...)			    ((void)0)
#define warn(...)			    ((void)0)
#define info(...)			    ((void)0)
#define die(...)			    __builtin_trap()
#define isdigit(c)			    ((c) >= '0' && (c) <= '9')
#define tolower(c)			    ((c) | 32)
#define major(device)			    ((device) >> 8)
#define minor(device)			    ((device)&255)
#define near
#define far
#define try	kernel_try
#define acquire kernel_acquire
#define release kernel_release
#define block	kernel_block
#define wake	kernel_wake
#define contend kernel_contend
#define TRUE	1
#define FALSE	0
#define OK	0
#define ERROR	(-1)
#define FAIL	(-1)
#define EOF	(-1)
#define NONE	0
#define FAR
#define NEAR
#define IN
#define OUT
#define CONST	const
#define VOID	void
#define PRIVATE static
#define PUBLIC
#define EXTERN		   extern
#define STATIC		   static
#define INLINE		   inline
#define PACKED		   __attribute__((__packed__))
#define UNUSED(x)	   ((void)(x))
#define ALIGN(x, n)	   (((x) + (n)-1) & ~((n)-1))
#define ALIGN_UP(x, n)	   ALIGN(x, n)
#define ALIGN_DOWN(x, n)   ((x) & ~((n)-1))
#define ROUND_UP(x, n)	   ALIGN(x, n)
#define ROUNDUP(x, n)	   ALIGN(x, n)
#define DIV_ROUND_UP(x, n) (((x) + (n)-1) / (n))
#define MIN(a, b)	   min(a, b)
#define MAX(a, b)	   max(a, b)
#define ABS(x)		   ((x) < 0 ? -(x) : (x))
#define SWAP(a, b)	   swap(a, b)
#define STR(x)		   #x
#define CONCAT(a, b)	   a##b
#define PAGE		   4096
#define PAGE_SIZE	   4096ul
#define PAGE_SHIFT	   12
#define PAGE_MASK	   (~(PAGE_SIZE - 1))
#define PGSIZE		   4096
#define KERNBASE	   0xffffffff80000000ul
#define PHYSTOP		   0x88000000ul
#define MAXCPU		   8
#define NCPU		   8
#define HZ		   100
#define KB		   1024ul
#define MB		   (1024ul * KB)
#define GB		   (1024ul * MB)
#define BYTE		   8
#define WORD		   32
#define DWORD		   64
#define MASK(n)		   (BIT(n) - 1)
#define GENMASK(high, low) ((~0ul << (low)) & (~0ul >> (63 - (high))))
#define READ		   0
#define WRITE		   1
#define EXEC		   4
#define USER		   4
#define KERNEL		   0
#define PRESENT		   1
#define VALID		   1
#define ENABLE		   1
#define DISABLE		   0
#define ENABLED		   1
#define DISABLED	   0
#define ON		   1
#define OFF		   0
#define START		   1
#define STOP		   2
#define BEGIN		   {
#define END		   }
#define RUNNING		   1
#define BLOCKED		   2
#define IDLE		   3
#define READY		   4
#define STATUS		   0x5
#define CONTROL		   0x4
#define DATA		   0x0
#define FLAGS		   0x6
#define MAGIC		   0x1234
#define VERSION		   "1.0"
#define PREFIX		   "kernel: "
#define EMPTY
#define FRAME	    3
#define LOCK	    1
#define UNLOCK	    0
#define EVENTS	    16
#define NAMES	    16
#define MOST	    16
#define CONSOLE	    1
#define DEVICE	    2
#define STATES	    4
#define NS_PER_S    1000000000
#define SSTATUS_SIE (1L << 1)
#define MSTATUS_MIE (1L << 3)
#define SYS_OPEN    5
#define SYS_WRITE   4
#define EL2	    2
#define EL3	    3
#define TRCPRGCTLR  1
#define BUG()	    __builtin_trap()
#define BUG_ON(x)   ((x) ? __builtin_trap() : (void)0)
#define ASSERT(x)   assert(x)
#define PANIC(...)  panic(__VA_ARGS__)
#define TRACE(...)  ((void)0)
#define DEBUG	    1
#define INFO	    2
#define WARN	    3
#define LOG(...)    ((void)0)
