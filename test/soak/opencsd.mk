# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests that decode published hardware trace, and compare the result with that of its authors. The data is not part of ktrace: the
# scripts are skipped unless a variable names a directory with it (CSIGHT, CORESIGHT_DECODER, SPE_LISTINGS).

SOAK_TESTS += test/soak/opencsd.sh
CHECK_NEEDS += build/test/opencsd-snapshot build/bin/ktrace
build/test/opencsd-snapshot: test/hwt/opencsd_snapshot.c test/unit/support/hwt_write.c test/unit/support/hwt_write.h $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)

SOAK_TESTS += test/soak/edges.sh test/soak/spe.sh
CHECK_NEEDS += build/test/spe-listing
build/test/spe-listing: test/hwt/spe_listing.c test/unit/support/hwt_write.c test/unit/support/hwt_write.h $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)
