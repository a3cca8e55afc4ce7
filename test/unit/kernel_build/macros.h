/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the headers of kernels define before they include ktrace's: names of attributes, and a printf of their own. */
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

/* And helpers that most of them have. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(n)		  (1ul << (n))
#define likely(x)	  __builtin_expect(!!(x), 1)
#define max(a, b)	  ((a) > (b) ? (a) : (b))
#define min(a, b)	  ((a) < (b) ? (a) : (b))
#define unlikely(x)	  __builtin_expect(!!(x), 0)
