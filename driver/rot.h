/* SPDX-License-Identifier: MIT */
/* The driver as a library: what commands, controllers and other programs hold on to. */
#pragma once

#include <stdbool.h>

#include "entity.h"
#include "error.h"

struct cache_ways;
struct configuration;
struct definitions;
struct machine;
struct monitor;
struct paths;
struct architecture;
struct measuring;
struct measured_levels;

/* One open driver. Everything in it is owned by it; parts are never NULL between rot_open and rot_close. */
struct rot {
	struct configuration *configuration;  /* base/configuration.h */
	struct paths *paths;                  /* base/paths.h: where data and results live */
	struct monitor *monitor;              /* engine/monitor.h: where the time went */
	struct machine *machine;              /* the entity Machine, filled by machine/machine.h */
	struct measured_levels *measured;     /* machine/measured.h: what was measured of it before */
	struct machine *modelled;             /* with the caches of the key caches, if it names any; borrows the rest */
	struct cache_shapes *modelled_caches; /* theirs: machine/caches.h */
	struct definitions *kernels;          /* codegen/definition.h: all kernels that were found */
	struct rot_registry *registry;        /* all classes: shared entities and kernels */
	struct architecture *architecture;    /* quantities/architecture.h: how this CPU is measured */
	struct measuring *measuring;          /* engine/measuring.h: cores and the result cache */
	const char *const *command_line; /* as typed, after the program's name; ends with NULL; borrowed. NULL: none */
	bool is_cached_only;             /* what is not in the result cache is an error: nothing is built or measured */
};

/*
 * Opens the driver with a loaded configuration (which it takes over, also on error): finds the paths, reads the
 * machine, the kernels' definitions and the architecture. A kernel whose definition is broken is left out with a
 * warning on stderr, unless it is used. Without kernels it takes a third less time, and nothing but programs can be
 * measured.
 */
int rot_open(struct rot *rot, struct configuration *configuration, bool has_kernels, struct rot_error *err);

/* Closing what is closed or zeroed is allowed. */
void rot_close(struct rot *rot);

/* The machine as formulas of kernels and sizes of controllers know it: with measured caches if the key caches says so.
 */
const struct machine *rot_facts(const struct rot *rot);

/*
 * One message to stderr, "rot: warning: ..." or a plain note. They never go into results; what belongs to a result is
 * attached to it. Notes are silent with -quiet. Both first clear a progress line that is on the terminal.
 */
void rot_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void rot_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True once the user asked to stop (SIGINT, SIGTERM): finish nothing new, keep what is finished. */
bool rot_interrupted(void);

/*
 * An experiment: what "rot measure NAME" runs. XML controllers are turned into this by planning/xml_plan.h; a
 * C controller is a file that defines "const struct rot_controller controller".
 */
struct rot_controller {
	const char *name;
	const char *description;
	/* output_name: files are output_name.pdf, ... in the current folder. */
	int (*measure)(struct rot *rot, const struct rot_controller *self, const char *output_name,
		       struct rot_error *err);
	void *context;    /* the controller's own */
	const char *plan; /* what it would measure, for rot measure --dry-run; NULL: nobody knows before it runs */
};

/*
 * Loads the definitions USER/kernels and DATA/kernels hold (FOLDER/NAME/NAME.xml) into rot->kernels and their classes
 * into rot->registry, which holds the shared entities already. The user's kernel hides a built-in one of the same name.
 * A broken definition is left out with a warning. An error only if there is no kernel at all.
 */
int kernels_load(struct rot *rot, struct rot_error *err);
