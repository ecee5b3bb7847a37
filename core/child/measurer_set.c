/* SPDX-License-Identifier: MIT */
#include "child/measurer_set.h"

#include <stdlib.h>
#include <unistd.h>

#include "child/journal.h"
#include "memory.h"

static void
do_nothing(void *state)
{
	(void)state;
}

static const struct measurer_type no_measurer = {.start = do_nothing, .stop = do_nothing};

const struct measurer_state *
set_main(const struct set_state *state)
{
	static const struct measurer_state none = {.type = &no_measurer};

	return state->states ? &state->states[0] : &none;
}

static struct measurer_state *
additional_at(const struct set_state *state, size_t i)
{
	return &state->states[1 + i];
}

static struct measurer_state *
validation_at(const struct set_state *state, size_t i)
{
	return &state->states[1 + state->nr_additional + i];
}

static int
measurer_initialize(struct measurer_state *state, const struct measurer_base *description, struct failure *failure)
{
	const struct measurer_type *type = description ? measurer_type_of(description) : &no_measurer;
	struct rot_error error;

	if (!type) {
		rot_error_set(&error, 0, "cannot measure with a %s: the core has none",
			      ROT_ENTITY(description)->class->name);
		return failure_record(failure, FAILURE_ERROR, &error);
	}
	state->description = description;
	state->memory = rot_calloc(1, type->state_size + 1);
	state->type = type;
	if (!type->initialize || type->initialize(state->memory, description, &error) == 0)
		return 0;
	return failure_record(failure, type->failure_kind, &error);
}

int
set_initialize(struct set_state *state, const struct measurer_set *set, struct failure *failure)
{
	*state = (struct set_state){.set = set, .tid = gettid()};
	if (!set)
		return 0;
	journal_add("set initialize", set->id);
	state->nr_additional = measurer_set_nr_additional_measurers(set);
	state->nr_validation = measurer_set_nr_validation_measurers(set);
	state->states = rot_calloc(1 + state->nr_additional + state->nr_validation, sizeof(*state->states));
	for (size_t i = 0; i < 1 + state->nr_additional + state->nr_validation; i++)
		state->states[i].type = &no_measurer;
	for (size_t i = 0; i < state->nr_validation; i++)
		if (measurer_initialize(validation_at(state, i), measurer_set_validation_measurers_at(set, i),
					failure) < 0)
			return -1;
	for (size_t i = 0; i < state->nr_additional; i++)
		if (measurer_initialize(additional_at(state, i), measurer_set_additional_measurers_at(set, i),
					failure) < 0)
			return -1;
	return measurer_initialize(&state->states[0], set->main_measurer, failure);
}

static void
measurer_start(struct measurer_state *state)
{
	journal_add("measurer start", state->description ? state->description->id : -1);
	state->type->start(state->memory);
}

static void
measurer_stop(struct measurer_state *state)
{
	state->type->stop(state->memory);
	journal_add("measurer stop", state->description ? state->description->id : -1);
}

void
set_start_validation(struct set_state *state)
{
	for (size_t i = 0; i < state->nr_validation; i++)
		measurer_start(validation_at(state, i));
}

void
set_stop_validation(struct set_state *state)
{
	for (size_t i = state->nr_validation; i-- > 0;)
		measurer_stop(validation_at(state, i));
}

static void
start_additional(struct set_state *state, bool is_ahead)
{
	for (size_t i = 0; i < state->nr_additional; i++)
		if (additional_at(state, i)->type->is_ahead == is_ahead)
			measurer_start(additional_at(state, i));
}

void
set_start_ahead(struct set_state *state)
{
	start_additional(state, true);
}

void
set_start_additional(struct set_state *state)
{
	start_additional(state, false);
}

static void
stop_additional(struct set_state *state, bool is_ahead)
{
	for (size_t i = state->nr_additional; i-- > 0;)
		if (additional_at(state, i)->type->is_ahead == is_ahead)
			measurer_stop(additional_at(state, i));
}

void
set_stop_additional(struct set_state *state)
{
	stop_additional(state, false);
	stop_additional(state, true);
}

void
set_start(struct set_state *state)
{
	set_start_validation(state);
	set_start_ahead(state);
	set_start_additional(state);
	if (state->set && state->set->main_measurer)
		measurer_start(&state->states[0]);
}

void
set_stop(struct set_state *state)
{
	if (state->set && state->set->main_measurer)
		measurer_stop(&state->states[0]);
	set_stop_additional(state);
	set_stop_validation(state);
}

bool
set_is_signal_safe(const struct set_state *state)
{
	size_t nr = state->states ? 1 + state->nr_additional + state->nr_validation : 0;

	for (size_t i = 0; i < nr; i++)
		if (state->states[i].description && !state->states[i].type->is_signal_safe)
			return false;
	return nr > 0;
}

void
set_warm(struct set_state *state)
{
	const struct measurer_state *main = set_main(state);

	for (size_t i = 0; i < state->nr_additional; i++)
		additional_at(state, i)->type->start(additional_at(state, i)->memory);
	main->type->start(main->memory);
	main->type->stop(main->memory);
	for (size_t i = state->nr_additional; i-- > 0;)
		additional_at(state, i)->type->stop(additional_at(state, i)->memory);
	journal_add("measurers warmed", -1);
}

bool
set_start_warming(struct set_state *state)
{
	const struct measurer_state *main = set_main(state);

	return main->type->start_warming && main->type->start_warming(main->memory);
}

void
set_stop_warming(struct set_state *state)
{
	const struct measurer_state *main = set_main(state);

	main->type->stop_warming(main->memory);
}

/* NULL without a measurer; *failed says whether there should be one. */
static struct measurer_output_base *
measurer_output(struct measurer_state *state, struct failure *failure, bool *failed)
{
	struct measurer_output_base *output;
	struct rot_error error;

	if (!state->description)
		return NULL;
	output = state->type->output(state->memory, state->description, &error);
	if (output) {
		output->measurer_id = state->description->id;
	} else {
		*failed = true;
		failure_record(failure, state->type->output_failure_kind, &error);
	}
	return output;
}

struct measurer_set_output *
set_output(struct set_state *state, struct failure *failure)
{
	struct measurer_set_output *output;
	bool failed = false;

	if (!state->set)
		return NULL;
	journal_add("set output", state->set->id);
	output = measurer_set_output_new();
	output->set_id = state->set->id;
	output->tid = state->tid;
	output->main_measurer_output = measurer_output(&state->states[0], failure, &failed);
	for (size_t i = 0; i < state->nr_additional && !failed; i++)
		measurer_set_output_additional_measurer_outputs_add(
			output, measurer_output(additional_at(state, i), failure, &failed));
	for (size_t i = 0; i < state->nr_validation && !failed; i++)
		measurer_set_output_validation_measurer_outputs_add(
			output, measurer_output(validation_at(state, i), failure, &failed));
	if (!failed)
		return output;
	rot_graph_delete(output);
	return NULL;
}

void
set_dispose(struct set_state *state)
{
	size_t nr = state->states ? 1 + state->nr_additional + state->nr_validation : 0;

	for (size_t i = 0; i < nr; i++) {
		if (state->states[i].memory && state->states[i].type->dispose)
			state->states[i].type->dispose(state->states[i].memory);
		free(state->states[i].memory);
	}
	free(state->states);
	if (state->set)
		journal_add("set dispose", state->set->id);
	*state = (struct set_state){0};
}
