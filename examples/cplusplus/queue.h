/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Events in a header that several files include: a declared event, a template, an inline function. */
#ifndef CPLUSPLUS_QUEUE_H
#define CPLUSPLUS_QUEUE_H

#include "ktrace/ktrace.h"

KTRACE_EVENT(queue, push, "%u waiting", (uint32_t, waiting));

/* A queue for one producer and one consumer. */
template <typename T, uint32_t Size> class queue
{
      public:
	bool push(const T &value)
	{
		if (head - tail == Size) {
			KTRACE_TEXT("full: %u elements of %u bytes", Size, static_cast<unsigned>(sizeof(T)));
			return false;
		}
		slots[head++ % Size] = value;
		KTRACE(queue, push, head - tail);
		return true;
	}

	bool pop(T &value)
	{
		if (head == tail)
			return false;
		value = slots[tail++ % Size];
		return true;
	}

      private:
	T slots[Size];
	uint32_t head = 0, tail = 0;
};

inline void note_sum(const char *who, unsigned long long sum)
{
	KTRACE_TEXT("%s counted %llu", who, sum);
}

void drain_words(uint32_t hart);

#endif
