/* SPDX-License-Identifier: MIT */
/* How help and list print their rows on standard output. */
#include "commands/print.h"

#include <stdio.h>
#include <stdlib.h>

#include "memory.h"
#include "support/entry.h"

void
print_entry(const char *name, const char *more, const char *text)
{
	entry_print(name, more, text, stdout);
}

void
print_key(const struct configuration *configuration, const struct configuration_key *key)
{
	const char *value = configuration_text(configuration, key->name);
	char *name = rot_format("-%s=%s", key->name, value);
	char *more = rot_format("  [%s%s%s; %s]", configuration_type_name(key->type), key->choices ? ": " : "",
				key->choices ? key->choices : "",
				configuration_source_name(configuration_origin(configuration, key->name)));

	print_entry(name, more, key->description);
	free(name);
	free(more);
}
