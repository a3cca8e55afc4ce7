# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace why as a fuzz target: replayed over damaged traces by `make check`; `make fuzz-why` fuzzes until it is stopped.
WHY_FUZZ_SRCS := test/fuzz/why_fuzz.c test/unit/why_property.c $(filter-out test/unit/% host/ktread/%,$(WHY_TEST_SRCS)) $(wildcard host/ktread/*.c host/base/*.c)

build/test/asan/why_replay: $$(call unit_objects,asan,test/fuzz/replay.c $(WHY_FUZZ_SRCS),-Ihost)
	$(HOST_CC) $(UNIT_CFLAGS) $(SANITIZE) -o $@ $^ $(KTRACE_LDLIBS)

build/test/fuzz/why: $(WHY_FUZZ_SRCS) $(wildcard host/*/*.h include/*/*.h)
	@mkdir -p $(@D)
	clang -g -O1 -D_GNU_SOURCE $(HOST_CPPFLAGS) -Itest -Ihost -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-o $@ $(filter %.c,$^) $(KTRACE_LDLIBS)

.PHONY: fuzz-why
fuzz-why: build/test/fuzz/why build/test/why-traces
	@mkdir -p build/test/fuzz/why-corpus
	build/test/why-traces build/test/fuzz/why-corpus
	build/test/fuzz/why -rss_limit_mb=512 -timeout=10 -max_len=131072 build/test/fuzz/why-corpus

CHECK_NEEDS += build/test/asan/why_replay build/test/why-traces build/test/cmd-mutate
SCRIPT_TESTS += test/fuzz/why.sh
