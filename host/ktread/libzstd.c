/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* libzstd, loaded on demand. It stays loaded: what it costs is paid once. */
#include <dlfcn.h>
#include <pthread.h>

#include "message.h"
#include "libzstd.h"

static struct ktread_zstd functions;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int loaded;

static void load(void)
{
	const struct {
		const char *name;
		void *function;
	} wanted[] = {
		{ "ZSTD_createCCtx", &functions.create_writer },
		{ "ZSTD_freeCCtx", &functions.free_writer },
		{ "ZSTD_CCtx_setParameter", &functions.set },
		{ "ZSTD_compress2", &functions.compress },
		{ "ZSTD_createDCtx", &functions.create_reader },
		{ "ZSTD_freeDCtx", &functions.free_reader },
		{ "ZSTD_decompressDCtx", &functions.decompress },
		{ "ZSTD_decompressStream", &functions.decompress_some },
		{ "ZSTD_isError", &functions.is_error },
		{ "ZSTD_getErrorName", &functions.error_name },
	};
	void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	loaded = 1;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *found = dlsym(library, wanted[i].name);

		*(void **)wanted[i].function = found;
		loaded &= found != NULL;
	}
}

int ktread_zstd_load(const struct ktread_zstd **zstd, const char *name)
{
	pthread_once(&once, load);
	*zstd = &functions;
	return loaded ? 0
		      : ktread_fail(KTREAD_E_UNSUPPORTED, "%s: zstd is needed, and libzstd.so.1 is not here",
				    name);
}
