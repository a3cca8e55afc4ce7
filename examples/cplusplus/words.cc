// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// A second file that uses the template and the inline function of queue.h.
#include "queue.h"

void drain_words(uint32_t hart)
{
	queue<uint64_t, 4> words;
	unsigned long long sum = 0;

	for (uint64_t n = 0; n < 5; n++)
		words.push(n + hart);
	for (uint64_t word; words.pop(word);)
		sum += word;
	note_sum("words", sum);
}
