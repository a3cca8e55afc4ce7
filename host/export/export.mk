# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Native Perfetto output and the models behind it.
ANALYZE_SOURCES := $(patsubst %,host/analyze/%.c,wellknown scheduling threads spans recorded switched files flows processes)
PERFETTO_SOURCES := host/export/perfetto.c host/export/perfetto_packet.c host/export/perfetto_track.c \
	host/export/perfetto_sched.c host/export/perfetto_functions.c host/export/perfetto_event.c host/export/perfetto_name.c \
	host/export/machine.c host/export/protobuf.c
KTRACE_SRCS += $(ANALYZE_SOURCES) $(PERFETTO_SOURCES)
EXPORT_FORMATS += perfetto

KTRACE_SRCS += host/export/stream.c
EXPORT_FORMATS += stream
