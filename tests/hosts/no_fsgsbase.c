/* SPDX-License-Identifier: MIT */
/* A processor, or a kernel, where programs may not change their gs base by themselves: preloaded (LD_PRELOAD). */
#include <dlfcn.h>
#include <sys/auxv.h>

#define MAY_CHANGE_BASES 2UL

unsigned long
getauxval(unsigned long type)
{
	static unsigned long (*real_getauxval)(unsigned long type);

	if (!real_getauxval)
		*(void **)&real_getauxval = dlsym(RTLD_NEXT, "getauxval");
	return real_getauxval(type) & ~(type == AT_HWCAP2 ? MAY_CHANGE_BASES : 0);
}
