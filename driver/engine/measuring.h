/* SPDX-License-Identifier: MIT */
/*
 * Measurements in, results out: looks in the result cache, builds the core if it must, runs it for the missing runs,
 * and stores. Sole user of the build, launch and cache modules beside it. Source: thesis, "The
 * MeasurementAppController".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "entities.h"
#include "error.h"

struct rot;
struct measuring;

/* rot->paths, configuration, machine, kernels and registry must be there. */
struct measuring *measuring_new(struct rot *rot);
void measuring_delete(struct measuring *measuring);

/*
 * Gives nr_runs runs of each of the nr_passes measurements (the passes of one point: all have the same kernels, so one
 * core). On success results[i] is a MeasurementResult with exactly nr_runs outputs, owned by the caller
 * (rot_graph_delete). Missing runs are measured interleaved, run by run, and spread over nr_starts starts of the core
 * (as evenly as they go; at most one start a run; 0: one): memory lies elsewhere in each start. Ids within the
 * measurements are set by this function. Interrupted: error "interrupted". With rot->is_cached_only nothing is built or
 * measured: missing runs are an error.
 */
int measuring_perform(struct rot *rot, struct measurement *const *passes, size_t nr_passes, int nr_runs, int nr_starts,
		      struct measurement_result **results, struct rot_error *err);

/* The output of the first region that was to be stepped through, and was cut; of the result. NULL: there is none. */
const struct step_measurer_output *measuring_find_cut(const struct measurement_result *result);

/*
 * True if all its regions have counted more instructions than this. Such a result is not counted again: with modelled
 * caches that takes minutes, and counts repeat exactly.
 */
#define MEASURING_LONG_COUNT 100000000
bool measuring_has_long_counts(const struct measurement_result *result);

/*
 * Results that were measured by this process count as any other from now on: with useCachedResults=false everything is
 * measured anew, once more.
 */
void measuring_forget(struct measuring *measuring);

/*
 * While it stops, missing runs are not measured: what needs them fails, and measuring_has_stopped is true. Whoever
 * measures many points can then measure their runs in another order, and begin the point that failed once more.
 */
void measuring_stop_at_missing(struct rot *rot, bool stops);
bool measuring_has_stopped(const struct rot *rot);

/*
 * Makes ready the cores of many measurements, so that measuring them need not wait for the compiler: builds those that
 * are missing, as many at a time as there are CPUs, and shows how far it is. The measurements are as of
 * quantities_measure and stay as they are. Gives the number of those that cannot be built, or whose kernel is refused:
 * err then holds the reason of the first, and each is an error again when it is measured. -1: interrupted, or nothing
 * can be built at all. With rot->is_cached_only nothing is done.
 */
int measuring_prepare(struct rot *rot, struct measurement *const *measurements, size_t nr, struct rot_error *err);

/*
 * Needs of measuring: runs that are in the cache already, and the core. Nothing is built or measured. is_enough:
 * no runs are added to these, since one was cut (measuring_find_cut), but not in passing, or they have long counts.
 * is_built: the core is there; else core_key tells cores apart that must be built.
 */
struct measuring_look {
	int nr_runs_cached;
	bool is_enough;
	bool is_built;
	char core_key[65];
};
int measuring_look(struct rot *rot, struct measurement *pass, struct measuring_look *look, struct rot_error *err);

/* SHA-256 of the canonical XML of a description and of the machine's identity, in hex. Fresh memory. The second sets
 * the ids within the measurement first. */
char *measuring_hash(struct rot *rot, const void *description);
char *measuring_description_hash(struct rot *rot, struct measurement *measurement);

/* SHA-256 of the machine's identity and a text, in hex. Fresh memory. */
char *measuring_machine_hash(const struct machine *machine, const char *text);

/*
 * The measurement with its only workload on nr (at least 1) threads, each on a CPU of its own; their kernels begin
 * together. Fresh graph (rot_graph_delete).
 */
struct measurement *measurement_on_cpus(const struct measurement *measurement, const int *cpus, size_t nr);
