# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# build/lib/ktrace-pt.so: the trace unit in software, a plugin of QEMU.
PLUGIN_SRCS := $(wildcard host/plugin/*.c)
PLUGIN_OBJS := $(PLUGIN_SRCS:%.c=build/%.o)

host: build/lib/ktrace-pt.so

$(PLUGIN_OBJS): HOST_CFLAGS += -fPIC -fvisibility=hidden

build/lib/ktrace-pt.so: $(PLUGIN_OBJS)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	@$(HOST_CC) $(HOST_CFLAGS) -shared -Wl,-Bsymbolic -o $@.new $^ && mv $@.new $@

-include $(PLUGIN_OBJS:.o=.d)
