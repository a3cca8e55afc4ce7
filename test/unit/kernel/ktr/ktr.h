/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations shared by the files that are written for DragonFly's macros and the test that calls their
 * functions.
 */
#ifndef TEST_KTR_H
#define TEST_KTR_H

#include <stdint.h>

struct globaldata;
struct lwkt_token;
struct objcache;
struct thread;

enum ifq_state { IFQ_IDLE, IFQ_BUSY = 7 };

extern char forms_copy[7];
void forms_hook(int value);
void tokens_log(struct lwkt_token *tok, struct thread *curthread, int some_condition);
void forms_log(const char *name, struct thread *td);
void forms_log_off(int *evaluated);
void extern_log(uint64_t offset);
void *objcache_get(struct objcache *cache, struct globaldata *cpu, unsigned flags);
void objcache_put(struct objcache *cache, void *object, uint64_t address);

#endif
