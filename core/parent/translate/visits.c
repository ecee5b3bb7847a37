/* SPDX-License-Identifier: MIT */
/*
 * Visits of threads to regions of a program that is translated as a whole. A thread has a bank of counters for each set
 * of regions that it is in. Translated code changes banks by itself (edges.c); here is what it stops for: a bank that
 * is not there yet, hits that are to be counted from now on or no more, and frames that were abandoned.
 *
 * The first hits of a region begin with a stop, in which its counts are read: what is abandoned then is taken away from
 * them. Where nothing was abandoned, later hits do without.
 */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/translate/translator_internal.h"

#define EXACT_HITS 64
#define ANY_NUMBER (UINT64_MAX / 2)

/* ---- banks ---- */

static void
add_bank(struct translated *translated, int64_t number, uint64_t regions)
{
	translated->banks = rot_realloc(translated->banks, translated->nr_banks + 1, sizeof(*translated->banks));
	translated->banks[translated->nr_banks++] = (struct bank){.number = number, .regions = regions};
}

static uint64_t
address_of(const struct translated *translated, size_t bank)
{
	return code_cache_area_address(translated->space->cache, translated->banks[bank].number);
}

void
visits_follow(struct translated *translated, uint64_t gs_base)
{
	const int64_t number = code_cache_bank_at(translated->space->cache, gs_base);

	for (size_t i = 0; i < translated->nr_banks; i++) {
		if (translated->banks[i].number == number)
			translated->bank = i;
	}
}

/* The bank of these regions, made where there is none. nr_banks: there can be none (why_incomplete). */
static size_t
find_bank(struct translator *self, struct thread *thread, uint64_t regions)
{
	struct translated *translated = thread->translated;
	int64_t number;
	size_t i = 0;

	while (i < translated->nr_banks && translated->banks[i].regions != regions)
		i++;
	if (i < translated->nr_banks || self->why_incomplete.text[0])
		return i;
	number = code_cache_take_bank(translated->space->cache, translated->area, thread->tid,
				      tracer_options(self->tracer), &self->why_incomplete);
	if (number < 0) {
		rot_error_prefix(&self->why_incomplete, "regions cannot be counted by blocks");
		return i;
	}
	add_bank(translated, number, regions);
	if (translated->stream)
		stream_add_bank(translated->stream, number);
	return i;
}

static void
set_toggle(const struct translated *translated, size_t bank, size_t region, uint64_t address)
{
	code_cache_set_slot(translated->space->cache, translated->banks[bank].number, TOGGLE_AT(region), address);
}

/* The thread goes on in the bank with the region, or without, from where it finds the way by itself then. */
static void
go_to(struct translator *self, struct thread *thread, size_t region, uint64_t regions,
      struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;
	const size_t from = translated->bank, to = find_bank(self, thread, regions);

	if (to == translated->nr_banks)
		return;
	set_toggle(translated, from, region, address_of(translated, to));
	if (to == from)
		return;
	set_toggle(translated, to, region, address_of(translated, from));
	translated->bank = to;
	registers->gs_base = address_of(translated, to);
	if (translated->stream)
		stream_switch(translated->stream, translated->space->cache, translated->fs_base,
			      translated->banks[to].number);
}

/* ---- counts of a region ---- */

static void
add_counts(const struct translated *translated, size_t region, int64_t counts[NR_VISIT_COUNTS])
{
	struct totals totals = {.nr_unknown = 0};

	for (size_t i = 0; i < translated->nr_banks; i++) {
		const struct bank *bank = &translated->banks[i];

		if (!(bank->regions >> region & 1))
			continue;
		translator_add_counters(translated, bank->number, &totals);
		for (size_t k = 0; k < STEP_NR_COUNTS; k++)
			totals.counts[k] += bank->counts[k];
		if (translated->stream)
			stream_bank_counts(translated->stream, translated->space->cache, translated->fs_base,
					   bank->number, totals.counts, counts + STEP_NR_COUNTS);
	}
	for (size_t i = 0; i < STEP_NR_COUNTS; i++)
		counts[i] += totals.counts[i];
}

/* ---- what translated code knows ---- */

static struct visit
read_visit(const struct translated *translated, size_t region)
{
	struct visit visit;

	code_cache_read_area(translated->space->cache, translated->area, VISIT_AT(region), &visit, sizeof(visit));
	return visit;
}

static void
write_visit(const struct translated *translated, size_t region, const struct visit *visit)
{
	code_cache_write_area(translated->space->cache, translated->area, VISIT_AT(region), visit, sizeof(*visit));
}

/* Takes over what was counted since the last stop. */
static void
take(struct visits *visits, struct visit *visit)
{
	const uint64_t nr_outermost = visits->nr_free - visit->nr_free;

	visits->has_before &= nr_outermost == 0;
	visits->hits += (int64_t)(visit->nr_begins - visit->nr_team_begins);
	visits->nr_outermost += (int64_t)nr_outermost;
	if (visits->is_measured) {
		visits->measured_hits += (int64_t)visit->nr_ends;
		visits->team_hits += (int64_t)visit->nr_team_ends;
		visits->inner_hits += (int64_t)(visit->nr_begins - nr_outermost);
	}
	visits->nr_free = visit->nr_free;
	visit->nr_begins = visit->nr_ends = visit->nr_team_begins = visit->nr_team_ends = 0;
}

/* ---- frames ---- */

static uint64_t
frame_of(const struct visit *visit)
{
	return ~visit->frame;
}

/* A frame is left (frames.h) if it is as deep as the new one, or deeper, and on the same stack. */
static bool
is_left(const struct visit *visit, uint64_t rsp)
{
	return frame_of(visit) <= rsp && rsp - frame_of(visit) < FRAMES_STACK_BYTES;
}

static void
end_inner(struct visits *visits, struct visit *visit)
{
	visits->abandoned_hits += (int64_t)(visit->nr_inner - visits->inner.nr_open);
	visit->nr_inner = 0;
	frames_end(&visits->inner);
	visits->abandoned_hits += visits->inner.abandoned_hits;
	visits->inner.abandoned_hits = 0;
}

/* The frame that is open, with those in it. is_end: the thread is not counted any more. */
static void
abandon(struct translator *self, const struct translated *translated, size_t region, bool is_end, struct visit *visit)
{
	struct visits *visits = &translated->visits[region];
	int64_t now[NR_VISIT_COUNTS] = {0};

	take(visits, visit);
	end_inner(visits, visit);
	visit->frame = 0;
	visits->abandoned_hits++;
	self->are_abandoned |= UINT64_C(1) << region;
	if (!visits->is_measured)
		return;
	if (!visits->has_before) {
		visits->nr_mixed += !is_end;
		visits->nr_cut += is_end;
		return;
	}
	add_counts(translated, region, now);
	for (size_t i = 0; i < NR_VISIT_COUNTS; i++)
		visits->counts[i] -= now[i] - visits->counts_before[i];
	visits->inner_hits = visits->inner_before;
	visits->has_before = false;
}

/*
 * Hits that are the same for translated code, from this one on: how many. The last one is always abandoned where a hit
 * ends when the next one begins.
 */
static uint64_t
nr_alike(const struct translator *self, const struct visits *visits, const struct edge *edge)
{
	const struct frames_rule *rule = &self->rules[edge->region];

	if (!visits->is_measured)
		return visits->nr_outermost < rule->first_hit ? (uint64_t)(rule->first_hit - 1 - visits->nr_outermost)
							      : ANY_NUMBER;
	if (visits->nr_outermost - rule->first_hit + 1 < EXACT_HITS || edge->is_behind ||
	    self->are_abandoned >> edge->region & 1)
		return 0;
	return rule->last_hit ? (uint64_t)(rule->last_hit - visits->nr_outermost) : ANY_NUMBER;
}

static void
enter(struct translator *self, struct thread *thread, const struct edge *edge, struct visit *visit,
      struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;
	const size_t region = edge->region;
	struct visits *visits = &translated->visits[region];
	const struct frames_rule *rule = &self->rules[region];
	const uint64_t regions = translated->banks[translated->bank].regions;
	bool is_measured;

	take(visits, visit);
	visits->hits += !edge->is_team;
	visits->nr_outermost++;
	is_measured = visits->nr_outermost >= rule->first_hit &&
		      (rule->last_hit == 0 || visits->nr_outermost <= rule->last_hit);
	/* Where hits are measured from now on, or no more, banks do not lead the same way as before. */
	for (size_t i = 0; is_measured != visits->is_measured && i < translated->nr_banks; i++)
		set_toggle(translated, i, region, 0);
	visits->is_measured = is_measured;
	visit->nr_free = visits->nr_free = nr_alike(self, visits, edge);
	visit->frame = ~registers->rsp;
	visit->is_team = edge->is_team;
	visits->has_before = is_measured && visit->nr_free == 0;
	if (visits->has_before) {
		visits->inner_before = visits->inner_hits;
		memset(visits->counts_before, 0, sizeof(visits->counts_before));
		add_counts(translated, region, visits->counts_before);
	}
	go_to(self, thread, region, is_measured ? regions | UINT64_C(1) << region : regions, registers);
}

static void
leave(struct translator *self, struct thread *thread, size_t region, struct visit *visit,
      struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;

	end_inner(&translated->visits[region], visit);
	visit->frame = 0;
	if (visit->is_team)
		visit->nr_team_ends++;
	else
		visit->nr_ends++;
	translated->visits[region].has_before = false;
	go_to(self, thread, region, translated->banks[translated->bank].regions & ~(UINT64_C(1) << region), registers);
}

static void
begin(struct translator *self, struct thread *thread, const struct edge *edge, struct visit *visit,
      struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;
	struct visits *visits = &translated->visits[edge->region];
	const struct frames_moment moment = {.stack_pointer = registers->rsp};
	int64_t nr = 1;

	if (visit->frame && edge->rule == FRAMES_LOOP && registers->rsp == frame_of(visit))
		return;
	if (visit->frame && is_left(visit, registers->rsp)) {
		abandon(self, translated, edge->region, false, visit);
		go_to(self, thread, edge->region,
		      translated->banks[translated->bank].regions & ~(UINT64_C(1) << edge->region), registers);
	}
	if (!visit->frame) {
		enter(self, thread, edge, visit, registers);
		return;
	}
	if (edge->rule == FRAMES_LOOP) {
		nr = -visits->inner.hits;
		visits->inner.rule.kind = FRAMES_LOOP;
		frames_enter(&visits->inner, &moment);
		nr += visits->inner.hits;
		visit->nr_inner = visits->inner.nr_open;
	} else {
		visit->nr_inner++;
	}
	visit->nr_begins += (uint64_t)nr;
	visit->nr_team_begins += edge->is_team ? (uint64_t)nr : 0;
}

static void
end(struct translator *self, struct thread *thread, const struct edge *edge, struct visit *visit,
    struct user_regs_struct *registers)
{
	struct visits *visits = &thread->translated->visits[edge->region];
	const struct frames_moment moment = {.stack_pointer = registers->rsp};

	if (!visit->frame)
		return;
	if (registers->rsp == frame_of(visit) || (edge->rule == FRAMES_SPAN && visit->nr_inner == 0)) {
		leave(self, thread, edge->region, visit, registers);
	} else if (edge->rule == FRAMES_LOOP) {
		frames_leave(&visits->inner, &moment);
		visit->nr_inner = visits->inner.nr_open;
	} else if (visit->nr_inner > 0) {
		visit->nr_inner--;
	}
}

void
visits_pass(struct translator *self, struct thread *thread, const struct edge *edge, struct user_regs_struct *registers)
{
	struct translated *translated = thread->translated;
	struct visit visit = read_visit(translated, edge->region);

	if (!code_is_taken(edge->condition, registers->eflags, registers->rcx))
		return;
	if (edge->kind == EDGE_BEGIN)
		begin(self, thread, edge, &visit, registers);
	else
		end(self, thread, edge, &visit, registers);
	write_visit(translated, edge->region, &visit);
}

/* ---- beginning and end ---- */

void
visits_begin(struct translator *self, struct translated *translated)
{
	translated->nr_banks = translated->bank = 0;
	translated->has_ended_visits = false;
	add_bank(translated, translated->area, 0);
	if (!translated->visits && self->nr_regions > 0)
		translated->visits = rot_calloc(self->nr_regions, sizeof(*translated->visits));
	for (size_t i = 0; i < self->nr_regions; i++)
		translated->visits[i].nr_free = 0;
}

void
visits_end(struct translator *self, struct thread *thread)
{
	struct translated *translated = thread->translated;
	const size_t nr = translated->nr_banks > 0 && !translated->has_ended_visits ? self->nr_regions : 0;

	translated->has_ended_visits = true;
	for (size_t i = 0; i < nr; i++) {
		struct visit visit = read_visit(translated, i);

		if (visit.frame)
			abandon(self, translated, i, true, &visit);
		take(&translated->visits[i], &visit);
		write_visit(translated, i, &visit);
		add_counts(translated, i, translated->visits[i].counts);
	}
}

void
visits_clear(struct translator *self, struct translated *translated)
{
	for (size_t i = 0; translated->visits && i < self->nr_regions; i++)
		frames_clear(&translated->visits[i].inner);
	free(translated->visits);
	free(translated->banks);
	free(translated->edges);
}

void
translator_take_visits(struct translator *self, struct thread *thread, size_t region, struct translated_visits *result)
{
	const bool is_there = thread->translated && thread->translated->visits && region < self->nr_regions;
	struct visits *visits = is_there ? &thread->translated->visits[region] : NULL;

	*result = (struct translated_visits){.hits = 0};
	if (!visits)
		return;
	visits_end(self, thread);
	*result = (struct translated_visits){.hits = visits->hits,
					     .measured_hits = visits->measured_hits,
					     .team_hits = visits->team_hits,
					     .inner_hits = visits->inner_hits,
					     .abandoned_hits = visits->abandoned_hits,
					     .nr_mixed = visits->nr_mixed,
					     .nr_cut = visits->nr_cut};
	for (size_t i = 0; i < STEP_NR_COUNTS; i++)
		result->counts[i] = (uint64_t)visits->counts[i];
	for (size_t i = 0; i <= REUSE_NR; i++)
		result->by_capacity[i] = (uint64_t)visits->counts[STEP_NR_COUNTS + i];
	frames_clear(&visits->inner);
	*visits = (struct visits){.hits = 0};
}

const char *
translator_why_incomplete(const struct translator *self)
{
	return self->why_incomplete.text;
}
