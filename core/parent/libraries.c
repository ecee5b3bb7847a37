/* SPDX-License-Identifier: MIT */
/* See libraries.h. */
#include "parent/libraries.h"

#include <elfutils/libdwfl.h>

#include "common/pfm.h"
#include "parent/symbols/zydis_decode.h"

static void
print_pfm(FILE *out)
{
	struct rot_error err;
	const struct pfm *pfm = pfm_open(&err);
	int version;

	if (!pfm) {
		fprintf(out, "libpfm4\t%s\n", err.text);
		return;
	}
	version = pfm->get_version();
	fprintf(out, "libpfm4\t%d.%d\n", PFM_MAJ_VERSION(version), PFM_MIN_VERSION(version));
}

void
libraries_print(FILE *out)
{
	const uint64_t zydis = ZydisGetVersion();

	print_pfm(out);
	fprintf(out, "libdw\t%s\n", dwfl_version(NULL));
	fprintf(out, "Zydis\t%u.%u.%u\n", (unsigned)ZYDIS_VERSION_MAJOR(zydis), (unsigned)ZYDIS_VERSION_MINOR(zydis),
		(unsigned)ZYDIS_VERSION_PATCH(zydis));
}
