# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Hardware trace as a fuzz target: replayed over small inputs, each cut off and changed, by `make check`; `make
# fuzz-hwt` fuzzes until it is stopped.
HWT_FUZZ_SRCS := test/fuzz/hwt_fuzz.c test/fuzz/opencsd_leaks.c $(filter host/hwt/%,$(HWT_SRCS)) $(wildcard host/ktread/*.c host/base/*.c host/analyze/demangle.c host/analyze/symbols*.c)

build/test/asan/hwt_replay: $$(call unit_objects,asan,test/fuzz/replay.c $(HWT_FUZZ_SRCS),-Ihost)
	$(HOST_CC) $(UNIT_CFLAGS) $(SANITIZE) -o $@ $^ $(KTRACE_LDLIBS)

build/test/fuzz/hwt: $(HWT_FUZZ_SRCS) $(wildcard host/*/*.h include/*/*.h)
	@mkdir -p $(@D)
	clang -g -O1 $(HOST_CPPFLAGS) -I. -Ihost -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-o $@ $(filter %.c,$^) $(KTRACE_LDLIBS)

# Inputs to begin with are made by libipt's encoder.
ifneq ($(HWT_HAS_PT),)
build/test/hwt-traces: test/fuzz/hwt_traces.c test/unit/hwt_write.c test/unit/hwt_write.h
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -o $@ $(filter %.c,$^) -lipt

.PHONY: fuzz-hwt
fuzz-hwt: build/test/fuzz/hwt build/test/hwt-traces
	@mkdir -p build/test/fuzz/hwt-corpus
	build/test/hwt-traces build/test/fuzz/hwt-corpus
	build/test/fuzz/hwt -detect_leaks=0 -rss_limit_mb=1024 -timeout=10 -max_len=16384 build/test/fuzz/hwt-corpus

CHECK_NEEDS += build/test/asan/hwt_replay build/test/hwt-traces
SCRIPT_TESTS += test/fuzz/hwt_replay.sh
endif
