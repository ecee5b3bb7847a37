/* SPDX-License-Identifier: MIT */
#include "common/pfm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct pfm library;
static struct rot_error why_not; /* empty: it is ready */

static bool
find_all(void *handle)
{
	const struct {
		const char *name;
		void *function;
	} functions[] = {
		{"pfm_initialize", &library.initialize},
		{"pfm_strerror", &library.strerror},
		{"pfm_get_version", &library.get_version},
		{"pfm_get_os_event_encoding", &library.get_os_event_encoding},
		{"pfm_get_event_info", &library.get_event_info},
		{"pfm_get_event_attr_info", &library.get_event_attr_info},
		{"pfm_get_event_next", &library.get_event_next},
		{"pfm_get_pmu_info", &library.get_pmu_info},
	};

	/* POSIX: what dlsym returns can be a function, which C does not know. */
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void **function = functions[i].function;

		*function = dlsym(handle, functions[i].name);
		if (!*function)
			return false;
	}
	return true;
}

static void
load_pfm(void)
{
	void *handle;
	int status;

	/* lets events of processors other than this one be encoded */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	handle = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!handle || !find_all(handle)) {
		rot_error_set(&why_not, 0, "cannot load libpfm4: %s", dlerror());
		rot_error_hint(&why_not, "sudo apt-get install libpfm4");
		return;
	}
	status = library.initialize();
	if (status != PFM_SUCCESS)
		rot_error_set(&why_not, 0, "cannot initialize libpfm4: %s", library.strerror(status));
}

const struct pfm *
pfm_open(struct rot_error *err)
{
	pthread_once(&once, load_pfm);
	if (!why_not.text[0])
		return &library;
	if (err)
		*err = why_not;
	return NULL;
}
