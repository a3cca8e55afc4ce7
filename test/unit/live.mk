# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
UNIT_TESTS += live_model
UNIT_SRCS_live_model := test/unit/live_model.c test/unit/script.c \
	$(patsubst %,host/ktread/%.c,format message types value) $(patsubst %,host/analyze/%.c,cost near order pattern scheduling switched threads wellknown) \
	$(patsubst %,host/export/%.c,escape json number output ticks) $(patsubst %,host/live/%.c,cpus holders lines model page rates tail waits watch)
UNIT_CFLAGS_live_model := -Ihost
