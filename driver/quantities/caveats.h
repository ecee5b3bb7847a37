/* SPDX-License-Identifier: MIT */
/* Why a number should not be taken as measured and sound: what the key strict asks for. Pure. */
#ifndef QUANTITIES_CAVEATS_H
#define QUANTITIES_CAVEATS_H

#include <stddef.h>

#include "quantities/quantity.h"

/* Of more disturbed runs than this share what is left may be of lucky ones. */
#define CAVEAT_DISTURBED_SHARE 0.3

/* Each is a bit of what quantity_caveats_of gives, from 1 on, in this order. */
struct quantity_caveat {
	const char *name;    /* "expected", in OUTPUT.json */
	const char *meaning; /* "3 of 12 numbers: MEANING" */
	bool (*applies)(const struct quantity_value *value);
};
extern const struct quantity_caveat quantity_caveats[];
extern const size_t quantity_nr_caveats;

/* Those that apply; 0: the number is measured and sound. Given work is taken as it is given. */
unsigned quantity_caveats_of(const struct quantity_value *value);

#endif
