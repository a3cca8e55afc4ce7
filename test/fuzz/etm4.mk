# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The decoder of ETMv4 as a fuzz target: replayed by `make check`; `make fuzz-etm4` fuzzes until it is stopped.
ETM4_FUZZ_SRCS := test/fuzz/etm4_fuzz.c test/fuzz/opencsd_leaks.c $(filter-out %_absent.c,$(wildcard host/hwt/etm4*.c)) host/hwt/library.c

build/test/asan/etm4_replay: $$(call unit_objects,asan,test/fuzz/replay.c $(ETM4_FUZZ_SRCS),-Ihost)
	$(HOST_CC) $(UNIT_CFLAGS) $(SANITIZE) -o $@ $^ $(KTRACE_LDLIBS)

build/test/fuzz/etm4: $(ETM4_FUZZ_SRCS) $(wildcard host/hwt/*.h include/*/*.h)
	@mkdir -p $(@D)
	clang -g -O1 -D_GNU_SOURCE $(HOST_CPPFLAGS) -I. -Ihost -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-o $@ $(filter %.c,$^) $(KTRACE_LDLIBS)

.PHONY: fuzz-etm4
fuzz-etm4: build/test/fuzz/etm4
	@mkdir -p build/test/fuzz/etm4-corpus
	build/test/fuzz/etm4 -detect_leaks=0 -rss_limit_mb=512 -timeout=10 -max_len=4096 build/test/fuzz/etm4-corpus test/golden/etm4

ifneq ($(HWT_HAS_ETM4),)
CHECK_NEEDS += build/test/asan/etm4_replay
SCRIPT_TESTS += test/fuzz/etm4_replay.sh
endif
