# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The reader of process traces as a fuzz target: replayed over golden and bad inputs by `make check`, every bit of them by
# `make soak`; `make fuzz-proc` fuzzes until it is stopped.
PROC_FUZZ_SRCS := test/fuzz/proc_fuzz.c $(wildcard host/ktread/*.c host/base/*.c)

build/test/asan/proc_replay: $$(call unit_objects,asan,test/fuzz/replay.c $(PROC_FUZZ_SRCS),)
	$(HOST_CC) $(UNIT_CFLAGS) $(SANITIZE) -o $@ $^

build/test/fuzz/proc: $(PROC_FUZZ_SRCS) $(wildcard host/ktread/*.h include/*/*.h)
	@mkdir -p $(@D)
	clang -g -O1 $(HOST_CPPFLAGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^)

.PHONY: fuzz-proc
fuzz-proc: build/test/fuzz/proc
	@mkdir -p build/test/fuzz/proc-corpus
	build/test/fuzz/proc -rss_limit_mb=512 -timeout=10 -max_len=16384 build/test/fuzz/proc-corpus \
		test/golden/proc test/golden/proc/bad

CHECK_NEEDS += build/test/asan/proc_replay
SCRIPT_TESTS += test/fuzz/proc_replay.sh
SOAK_TESTS += test/fuzz/proc_mutate.sh
