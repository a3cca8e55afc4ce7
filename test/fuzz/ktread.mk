# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The reader as a fuzz target: replayed over golden and bad inputs by `make check`, every bit of them by `make soak`;
# `make fuzz-ktread` fuzzes until it is stopped.
KTREAD_FUZZ_SRCS := test/fuzz/ktread_fuzz.c test/fuzz/ktread_exercise.c $(wildcard host/ktread/*.c host/base/*.c)

build/test/asan/ktread_replay: $$(call unit_objects,asan,test/fuzz/replay.c $(KTREAD_FUZZ_SRCS),)
	$(HOST_CC) $(UNIT_CFLAGS) $(SANITIZE) -o $@ $^

build/test/fuzz/ktread: $(KTREAD_FUZZ_SRCS) $(wildcard host/ktread/*.h include/*/*.h)
	@mkdir -p $(@D)
	clang -g -O1 $(HOST_CPPFLAGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^)

.PHONY: fuzz-ktread
fuzz-ktread: build/test/fuzz/ktread
	@mkdir -p build/test/fuzz/corpus
	build/test/fuzz/ktread -rss_limit_mb=512 -timeout=10 -max_len=65536 build/test/fuzz/corpus \
		test/golden/ktread test/golden/bad

CHECK_NEEDS += build/test/asan/ktread_replay
SCRIPT_TESTS += test/fuzz/ktread_replay.sh
SOAK_TESTS += test/fuzz/ktread_mutate.sh
