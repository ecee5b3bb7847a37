/* SPDX-License-Identifier: MIT */
#include "parent/translate/stream.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/clock.h"
#include "memory.h"
#include "parent/profile/data.h"
#include "parent/stepping/cache_model.h"
#include "parent/stepping/effect.h"
#include "parent/translate/line_finder.h"
#include "parent/translate/misses.h"
#include "parent/translate/process_curves.h"
#include "parent/translate/sharing.h"
#include "parent/translate/uses.h"
#include "parent/translate/what_ifs.h"

/*
 * Calls that allocate and have not returned, nr of them, the outermost first: where the return address is, and what is
 * asked for
 */
#define MOST_CALLS 8
struct open_calls {
	struct open_call {
		uint64_t stack, bytes;
	} items[MOST_CALLS];
	unsigned nr;
};

/* The mapped part of an area: both buffers, each with room for the frame that goes over its end. */
#define MAPPED_AT (AREA_BUFFER_END(0) - AREA_BUFFER_BYTES)
#define MAPPED_BYTES (AREA_BUFFER_END(1) + 4096 - MAPPED_AT)

#define MAX_FRAME_BYTES (16 * 8)

#define MAX_QUEUED 64

/* Lines that come again are dropped as for a level of so many ways: curves begin with larger capacities. */
#define WAYS_WITHOUT_LEVELS 8

/* Shared by threads that begin with the same caches. nr_users: these threads, and the stream until it gets others */
struct caches {
	struct cache_model *model; /* its last level is that of all threads */
	struct line_finder *finder;
	struct line_finder *sampling; /* of lines that are sampled; NULL: none is yet */
	unsigned nr_users;
};

/* number: of its area; counts: of the modeller, nr_split: of the worker, as of the thread; next: the one before */
struct bank_counts {
	int64_t number;
	struct uses_counts counts;
	uint64_t nr_split;
	struct bank_counts *next;
};

/*
 * model: only the modeller changes it, and counts of banks; others may when nr_waiting is 0
 * turns: the repeated instruction that has begun, and the registers then
 * search: of the lines that its frames use
 * calls: open ones behind the last frame that the worker has done; early_calls: behind those that it has done early
 * early: the end of the latter in the area, at least begin
 * banks: the worker reads them while others are added in front
 * bank: the one that it counted in behind the last frame
 * areas_address: of the process
 * buffer, begin: the one that is being filled, and where it begins in the area
 * number: from 1 on, in the order in which threads began
 * turned_ns: when it was given the buffer that it fills
 * is_burst: it fills a buffer with all that it accesses, though lines are sampled, so that curves can be corrected
 * time: of its curve, when it was given the buffer that it fills: the bytes of instructions that it has executed
 * to_burst: bytes that are recorded until then, at most; burst_interval: from one burst to the next
 * nr_waiting: each of its jobs counts 2, one until its lines are found, and one until they are used
 */
struct stream_thread {
	struct stream *stream;
	struct caches *caches;
	struct cache_model *model;
	struct cache_model **what_ifs; /* as of the stream */
	struct process_curve *curve;   /* NULL: none is asked for */
	struct line_search search;
	struct open_calls calls, early_calls;
	struct stream_thread *next; /* of the stream */
	uint8_t *mapped;
	int64_t area;
	uint64_t begin, early, turned_ns;
	uint64_t time, burst_interval, to_burst;
	unsigned nr_bursts;
	bool is_burst;
	unsigned number;
	uint64_t turns_registers[3];
	const struct site *turns;
	unsigned buffer;
	unsigned nr_waiting;
	bool is_waiting[2];
	bool is_sampled;   /* since a job that was begun */
	uint64_t nr_split; /* accesses that went from one line to the next */
	struct bank_counts own, *bank, *banks;
	uint64_t areas_address;
};

/* A buffer, or (accesses) what an instruction accessed that was not translated, or another bank, or another object. */
struct job {
	struct stream_thread *thread;
	unsigned buffer;
	const uint64_t *words, *end;
	uint64_t fs_base;
	struct work_access *accesses;
	size_t nr_accesses;
	bool is_repeated; /* they are of a string instruction */
	struct bank_counts *bank;
	struct put_object *put;
	const uint64_t *early;     /* from here to end it is looked for objects alone */
	uint64_t begin_ns, end_ns; /* between which it was recorded */
	uint64_t time;             /* that passed for the curve meanwhile */
	bool is_beside;            /* other threads have begun */
	bool is_burst;             /* of the thread, when it was recorded */
};

/*
 * jobs: a ring of those that are waiting, the first of which is being done by the worker
 * caches: of those that begin
 * line_shift: of the first level that was asked for first; lines of uses may be shorter
 * residues: those of lines that are sampled, after nr_all uses; 0: all lines are modelled
 * nr_uses: so far; it never falls, so that threads which come later are sampled at once
 * sample: of the threads that have ended
 * modeller: goes through the caches. NULL: there is none (yet), and the worker does it, with uses
 */
struct stream {
	struct caches *caches;
	struct modeller *modeller;
	struct uses uses;
	const struct sampling *sampling; /* that was asked for; NULL: none */
	bool has_sampled;
	unsigned line_shift;
	uint64_t residues, nr_uses, nr_all;
	struct cache_sample sample;
	struct sites *sites;
	struct causes *causes;         /* NULL: lines are not told apart by code */
	struct process_curves *curves; /* NULL: not asked for */
	struct cache_kinds *kinds;     /* likewise */
	struct what_ifs *what_ifs;
	struct data *data; /* likewise; then there are: */
	struct misses *misses;
	struct sharing *sharing;
	struct stream_thread *threads;
	unsigned nr_begun;
	pthread_t worker;
	pthread_mutex_t mutex;
	pthread_cond_t is_new, is_done;
	struct job jobs[MAX_QUEUED];
	size_t first, nr;
	size_t nr_threads;
	bool has_worker, ends, has_pages, has_regions;
};

static struct caches *
caches_new(const struct stream *stream, struct cache_model *model)
{
	const struct cache_front *front = cache_model_front(model);
	struct caches *caches = rot_calloc(1, sizeof(*caches));
	uint64_t nr_ways = cache_model_has_levels(model) ? cache_model_least_ways(model) : WAYS_WITHOUT_LEVELS;

	/* Lines of a frame that is repeated are in all caches if they are no more than that. */
	nr_ways = what_ifs_least_ways(stream->what_ifs, nr_ways);
	*caches = (struct caches){model, line_finder_new(stream->sites, front->line_shift, nr_ways, 0, true), NULL, 1};
	return caches;
}

static void
caches_release(struct caches *caches)
{
	if (--caches->nr_users > 0)
		return;
	line_finder_delete(caches->finder);
	line_finder_delete(caches->sampling);
	cache_model_delete(caches->model);
	free(caches);
}

/*
 * The lowest residue, and of each row of so many one other. They were searched so that strides of powers of two have
 * their share from each beginning. quantile: Student's t of 97.5 % for the number of the others less one.
 */
static const struct sampling {
	unsigned of;
	uint64_t residues;
	double quantile;
} samplings[] = {
	{2, 0x95a959a96a56a657, 2.04},  {4, 0x2112422888811445, 2.13},  {8, 0x0880402001021005, 2.36},
	{16, 0x0040100000080003, 3.18}, {32, 0x0040000000080001, 12.7},
};

/* Processors of AMD before Zen 3 take some hundred cycles. */
static bool
has_quick_pext(void)
{
	return __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("amdfam17h") && !__builtin_cpu_is("bdver4");
}

/* NULL: all lines are modelled. */
static const struct sampling *
find_sampling(unsigned of)
{
	for (size_t i = 0; i < sizeof(samplings) / sizeof(*samplings); i++) {
		if (samplings[i].of == of)
			return &samplings[i];
	}
	return NULL;
}

static struct cache_model *
model_of(const struct stream *stream, const struct step_caches *caches)
{
	struct cache_model *model = cache_model_new_of(caches, stream->what_ifs->line_bytes);

	cache_model_front(model)->has_pages = stream->has_pages;
	return model;
}

struct stream *
stream_new(const struct step_caches *caches, const struct stream_options *options)
{
	struct stream *stream = rot_calloc(1, sizeof(*stream));
	struct cache_model *model;

	stream->has_pages = options->has_pages;
	stream->has_regions = options->has_regions;
	stream->line_shift = cache_model_line_shift(caches->line_bytes[0]);
	stream->what_ifs =
		what_ifs_new(options->what_ifs, options->nr_what_ifs, caches->line_bytes[0], options->has_pages);
	model = model_of(stream, caches);
	stream->sampling = find_sampling(options->sampling);
	if (stream->sampling && !options->has_pages && !options->has_kinds && options->nr_what_ifs == 0 &&
	    !(options->has_curve && options->has_regions) && cache_model_can_be_sampled(model))
		stream->residues =
			stream->sampling->residues & (cache_model_has_levels(model) ? UINT64_MAX : CURVE_RESIDUES);

	stream->sites = sites_new();
	stream->sites->has_causes = options->has_causes;
	stream->causes = options->has_causes ? causes_new() : NULL;
	stream->sites->merges = stream->what_ifs->line_bytes >= SITE_LINE;
	stream->sites->leaves_out = stream->residues && stream->what_ifs->line_bytes == SITE_LINE && has_quick_pext();
	if (options->has_kinds) {
		stream->kinds = rot_calloc(1, sizeof(*stream->kinds));
		cache_model_tell_kinds(model);
	}
	if (options->has_kinds && options->has_causes && options->data) {
		stream->data = options->data;
		stream->misses = misses_new(stream->data, cache_model_front(model)->line_shift);
		stream->sharing = sharing_new(
			cache_model_front(model)->line_shift < 6 ? cache_model_front(model)->line_shift : 6);
		stream->sites->merges = false; /* bytes that threads share are to be exact */
	}
	stream->caches = caches_new(stream, model);
	if (options->has_curve) {
		stream->curves = rot_calloc(1, sizeof(*stream->curves));
		stream->curves->line_shift = stream->line_shift;
		stream->curves->shift = stream->line_shift - cache_model_front(model)->line_shift;
	}
	stream->nr_all = cache_model_has_levels(model) ? STREAM_ALL : STREAM_ALL_WITHOUT_LEVELS;
	pthread_mutex_init(&stream->mutex, NULL);
	pthread_cond_init(&stream->is_new, NULL);
	pthread_cond_init(&stream->is_done, NULL);
	return stream;
}

/* Lines stay at least as long as they were, as accesses were merged for them. */
void
stream_set_caches(struct stream *stream, const struct step_caches *caches)
{
	struct cache_model *model = model_of(stream, caches), *old = stream->caches->model;

	/* The finder of the old one may serve the new one. */
	if (stream->caches->nr_users == 1 &&
	    cache_model_front(model)->line_shift == cache_model_front(old)->line_shift &&
	    cache_model_least_ways(model) == cache_model_least_ways(old)) {
		cache_model_delete(old);
		stream->caches->model = model;
		return;
	}
	caches_release(stream->caches);
	stream->caches = caches_new(stream, model);
}

struct sites *
stream_sites(struct stream *stream)
{
	return stream->sites;
}

/* ---- going through what was recorded ---- */

/* The lines of one job, as far as they have been found. */
struct finding {
	struct stream *stream;
	struct stream_thread *thread;
	struct uses *uses;
	uint32_t site; /* that is not left to the line finder; CAUSES_OTHER: none */
	bool is_burst;
};

static void
begin_uses(struct finding *finding)
{
	struct stream *stream = finding->stream;

	finding->uses = stream->modeller ? modeller_take(stream->modeller) : &stream->uses;
	finding->uses->model = finding->thread->model;
	finding->uses->what_ifs = finding->thread->what_ifs;
	finding->uses->curve = finding->thread->curve;
	finding->uses->residues = 0;
	finding->uses->time = 0;
	finding->uses->burst = finding->is_burst ? stream->residues : 0;
	finding->uses->done = NULL;
	finding->uses->causes = finding->stream->causes;
	finding->uses->misses = finding->stream->misses;
	finding->uses->thread = finding->thread->number;
	uses_set_origin(finding->uses, finding->site);
}

/* The site that uses belong to from here on. */
static void
set_site(struct finding *finding, uint32_t site)
{
	finding->site = site;
	uses_set_origin(finding->uses, site);
}

static void
end_uses(struct finding *finding)
{
	finding->stream->nr_uses += finding->uses->nr;
	if (finding->stream->modeller)
		modeller_put(finding->stream->modeller);
	else
		uses_do(finding->uses);
}

/* Room for all that a site accesses. */
static inline void
make_room(struct finding *finding)
{
	if (finding->uses->nr <= USES_ROOM - LINE_FINDER_MAX_USES)
		return;
	end_uses(finding);
	begin_uses(finding);
}

static unsigned
flags_of(const struct work_access *access)
{
	const unsigned flush = access->flush == WORK_CLEAN ? USES_CLEAN : access->flush ? USES_EVICT : 0;

	return flush | (access->is_store ? USES_STORE : 0) | (access->is_streaming ? USES_STREAMING : 0);
}

/* Adds an access to each of its lines that are sampled. A flush of no bytes has one line. */
static void
add_sampled(struct finding *finding, const struct work_access *access, uint64_t at, unsigned shift)
{
	const uint64_t line_bytes = UINT64_C(1) << shift;
	const bool is_plain = !access->flush && !access->is_streaming;

	for (uint64_t left = access->flush && !access->bytes ? 1 : access->bytes, within; left > 0; left -= within) {
		const uint64_t room = line_bytes - (at & (line_bytes - 1));

		within = left < room ? left : room;
		if (!(finding->stream->residues >> (at >> shift) % CACHE_RESIDUES & 1) &&
		    !(is_plain && finding->is_burst))
			;
		else if (is_plain)
			finding->uses->words[finding->uses->nr++] = CACHE_USE(at >> shift, access->is_store);
		else
			uses_add_access(finding->uses, at, within, flags_of(access));
		at += within;
	}
}

/* An access of a process: its lines are told from those of others by bits that addresses do not have. */
static void
add(struct finding *finding, const struct work_access *access)
{
	const unsigned shift = cache_model_front(finding->thread->model)->line_shift;
	const uint64_t first = access->address | finding->thread->search.space, last = first + access->bytes - 1;

	if (finding->thread->is_sampled) {
		add_sampled(finding, access, first, shift);
		return;
	}
	if (access->flush || access->is_streaming || access->bytes == 0 || access->bytes > UINT64_C(1) << shift) {
		uses_add_access(finding->uses, first, access->bytes, flags_of(access));
		return;
	}
	for (uint64_t line = first >> shift; line <= last >> shift; line++)
		finding->uses->words[finding->uses->nr++] = CACHE_USE(line, access->is_store);
}

/* Accesses of more than a line, by instructions that save many registers, are no splits. */
static void
count_split(struct finding *finding, const struct site_access *access, uint64_t address)
{
	const struct stream_thread *thread = finding->thread;
	const unsigned shift = finding->stream->line_shift;

	if (access->flush || access->bytes == 0 || access->bytes > UINT64_C(1) << shift ||
	    (address + access->bytes - 1) >> shift == address >> shift)
		return;
	line_search_split(&finding->thread->search, finding->stream->sites, finding->site, access, address, shift,
			  thread->is_sampled && !finding->is_burst ? finding->stream->residues : 0);
}

static void
add_single(struct finding *finding, const struct work_access *access)
{
	count_split(finding, &(struct site_access){.bytes = access->bytes, .flush = access->flush}, access->address);
	add(finding, access);
}

/* With accesses of more than a line, or not by way of the caches. */
static void
do_odd(struct finding *finding, const struct site *site, const uint64_t *frame, uint64_t fs_base)
{
	for (unsigned i = 0; i < site->nr_accesses; i++) {
		const struct site_access *access = &site->accesses[i];

		count_split(finding, access, site_address(access, frame, fs_base));
		add(finding, &(struct work_access){.address = site_address(access, frame, fs_base),
						   .bytes = access->bytes,
						   .is_store = access->is_store,
						   .is_streaming = access->is_streaming,
						   .flush = access->flush});
	}
}

/* Frames have their words in the order of the registers' numbers. */
static struct user_regs_struct
registers_of(const struct site *site, const uint64_t *frame, uint64_t fs_base)
{
	struct user_regs_struct registers = {.fs_base = fs_base, .rip = site->origin};
	unsigned word = 1;

	for (unsigned left = site->registers; left; left &= left - 1)
		((unsigned long long *)&registers)[effect_word((uint8_t)__builtin_ctz(left))] = frame[word++];
	return registers;
}

static const struct vector_registers *
recorded_vectors(void *context)
{
	return context;
}

/* A vector whose elements have these signs. */
static void
set_signs(struct vector_registers *vectors, const struct work *work, uint64_t active)
{
	uint8_t *vector = vectors->vectors[work->mask_register];

	for (unsigned lane = 0; lane < work->nr_lanes; lane++)
		vector[(lane + 1) * work->mask_bytes - 1] = active >> lane & 1 ? 0x80 : 0;
}

static void
do_work(struct finding *finding, const struct site *site, const uint64_t *frame, uint64_t fs_base)
{
	static struct vector_registers vectors;
	const struct user_regs_struct registers = registers_of(site, frame, fs_base);
	const struct work_thread worker = {&registers, recorded_vectors, &vectors, NULL};
	const struct work *work = site->work;
	const uint64_t *besides = frame + 1 + __builtin_popcount(site->registers);
	const uint8_t index = recording_index(work);
	struct work_done done;

	if (work->mask == WORK_MASK_REGISTER)
		vectors.masks[work->mask_register] = besides[0];
	else if (work->mask == WORK_SIGNS)
		set_signs(&vectors, work, besides[0]);
	if (index != WORK_NO_REGISTER)
		memcpy(vectors.vectors[index], besides + 1, VECTOR_REGISTER_BYTES);
	work_do(work, &worker, &done);
	for (size_t i = 0; i < done.nr_accesses; i++)
		add_single(finding, &done.accesses[i]);
}

/* More than between two frames in which a string of single bytes runs for a minute. */
#define MAX_TURNS (UINT64_C(1) << 42)

/* All that a repeated instruction accessed between two frames; by lines, as operands take turns. */
static void
do_turns(struct finding *finding, const struct site *site, const uint64_t *end, uint64_t fs_base)
{
	const struct stream_thread *thread = finding->thread;
	const struct work *work = site->work;
	const uint64_t before[4] = {0, thread->turns_registers[0], thread->turns_registers[1],
				    thread->turns_registers[2]};
	struct user_regs_struct first = registers_of(site, before, fs_base);
	uint64_t nr = (before[1] - end[1]) & work->counter_mask, chunk;
	const bool is_down = end[2] < before[2] || end[3] < before[3];

	/* The program has written into the frame. */
	if (nr > MAX_TURNS)
		return;
	for (; nr > 0; nr -= chunk) {
		chunk = SITE_LINE / work->parts[0].bytes;
		if (chunk > nr)
			chunk = nr;
		for (unsigned i = 0; i < work->nr_parts; i++) {
			const struct work_part *part = &work->parts[i];
			const uint64_t bytes = chunk * part->bytes;
			const uint64_t at = ((unsigned long long *)&first)[part->base] + part->displacement +
					    (part->segment == WORK_NO_REGISTER ? 0 : fs_base);

			add(finding, &(struct work_access){.address = is_down ? at + part->bytes - bytes : at,
							   .bytes = (uint32_t)bytes,
							   .is_store = part->is_store});
		}
		make_room(finding);
		first.rsi += is_down ? -chunk * work->parts[0].bytes : chunk * work->parts[0].bytes;
		first.rdi += is_down ? -chunk * work->parts[0].bytes : chunk * work->parts[0].bytes;
	}
}

static struct bank_counts *
find_bank(struct stream_thread *thread, int64_t number)
{
	struct bank_counts *bank = __atomic_load_n(&thread->banks, __ATOMIC_ACQUIRE);

	while (bank && bank->number != number)
		bank = bank->next;
	return bank;
}

/* The splits so far are of its bank. */
static void
take_splits(struct stream_thread *thread)
{
	thread->nr_split += thread->search.splits;
	thread->bank->nr_split += thread->search.splits;
	thread->search.splits = 0;
}

/* NULL: the program has written the frame. */
static void
do_bank(struct finding *finding, struct bank_counts *bank)
{
	struct stream_thread *thread = finding->thread;

	if (!bank)
		return;
	uses_add_counts(finding->uses, &thread->bank->counts);
	take_splits(thread);
	thread->bank = bank;
}

/*
 * Calls whose frame is gone have no result that can be seen any more. If there are too many, the outermost is dropped.
 * Results of calls within a call are part of its own result, which comes later.
 */
static void
do_call(struct open_calls *calls, const struct site *site, const uint64_t *frame)
{
	const uint64_t arguments[] = {frame[4], frame[3], frame[1]}, stack = frame[2];
	struct open_call *call;

	while (calls->nr > 0 && calls->items[calls->nr - 1].stack <= stack)
		calls->nr--;
	if (calls->nr == MOST_CALLS)
		memmove(&calls->items[0], &calls->items[1], --calls->nr * sizeof(*calls->items));
	call = &calls->items[calls->nr++];
	*call = (struct open_call){stack, 1};
	for (unsigned i = 0; i < 3; i++)
		call->bytes *= site->allocation.size >> i & 1 ? arguments[i] : 1;
}

static void
do_result(struct finding *finding, struct open_calls *calls, const struct site *site, const uint64_t *frame)
{
	const uint64_t most = UINT64_C(1) << 47, start = frame[1], stack = frame[2] - sizeof(uint64_t);
	const uint64_t space = finding->thread->search.space;
	const struct open_call *call;
	struct put_object *put;

	while (calls->nr > 0 && calls->items[calls->nr - 1].stack < stack)
		calls->nr--;
	if (calls->nr == 0 || calls->items[calls->nr - 1].stack != stack)
		return;
	call = &calls->items[--calls->nr];
	if (start == 0 || start >= most || call->bytes >= most)
		return;
	put = rot_calloc(1, sizeof(*put));
	*put = (struct put_object){finding->stream->data, start | space, (start + call->bytes) | space,
				   site->allocation.object};
	uses_add_access(finding->uses, (uint64_t)(uintptr_t)put, 0, USES_PUT);
}

static void
do_frame(struct finding *finding, const struct site *site, const uint64_t *frame, uint64_t fs_base)
{
	struct stream_thread *thread = finding->thread;

	thread->search.last = 0;
	switch (site->kind) {
	case SITE_PLAIN:
		do_odd(finding, site, frame, fs_base);
		break;
	case SITE_WORK:
		do_work(finding, site, frame, fs_base);
		break;
	case SITE_TURNS:
		thread->turns = site;
		memcpy(thread->turns_registers, frame + 1, sizeof(thread->turns_registers));
		break;
	case SITE_TURNS_END:
		if (thread->turns)
			do_turns(finding, thread->turns, frame, fs_base);
		thread->turns = NULL;
		break;
	case SITE_CALL:
		do_call(&thread->calls, site, frame);
		break;
	case SITE_RESULT:
		do_result(finding, &thread->calls, site, frame);
		break;
	case SITE_BANK:
		do_bank(finding, find_bank(thread, (int64_t)((frame[1] - thread->areas_address) / AREA_BYTES)));
		break;
	}
}

/* Accesses at plain addresses are those of nearly all lines that threads share. */
static void
look_for_sharing(struct stream *stream, const struct job *job)
{
	const struct site *site;

	if (!stream->sharing || !job->words || !job->is_beside)
		return;
	sharing_begin(stream->sharing, job->thread->number, job->begin_ns, job->end_ns);
	for (const uint64_t *frame = job->words; frame < job->end; frame += site->nr_words) {
		site = sites_find(stream->sites, RECORD_SITE(frame[0]));
		if (!site || (frame[0] & RECORD_HEADER) != RECORD_HEADER)
			return;
		for (unsigned i = 0; site->kind == SITE_PLAIN && i < site->nr_accesses; i++) {
			const struct site_access *access = &site->accesses[i];

			if (!access->flush)
				sharing_access(stream->sharing,
					       site_address(access, frame, job->fs_base) | job->thread->search.space,
					       access->bytes, access->is_store);
		}
	}
}

/* The lines of a job have been found (by the worker), or used (by the modeller). */
static void
end_half(void *context)
{
	struct stream_thread *thread = context;
	struct stream *stream = thread->stream;

	pthread_mutex_lock(&stream->mutex);
	thread->nr_waiting--;
	pthread_cond_broadcast(&stream->is_done);
	pthread_mutex_unlock(&stream->mutex);
}

/* From this job of the thread on, lines are sampled. */
static void
begin_sampling(struct finding *finding)
{
	struct stream *stream = finding->stream;
	struct caches *caches = finding->thread->caches;
	const struct cache_front *front = cache_model_front(caches->model);

	if (!caches->sampling)
		caches->sampling =
			line_finder_new(stream->sites, front->line_shift, front->nr_ways, stream->residues, true);
	finding->uses->residues = stream->residues;
	finding->thread->is_sampled = true;
	pthread_mutex_lock(&stream->mutex);
	stream->has_sampled = true;
	pthread_mutex_unlock(&stream->mutex);
}

/* Memory that a thread allocates may be used by others before its buffer is full. Calls are looked at again then. */
static void
do_early(struct stream *stream, const struct job *job)
{
	struct finding finding = {stream, job->thread, NULL, CAUSES_OTHER, false};
	struct open_calls *calls = &job->thread->early_calls;
	const struct site *site;

	begin_uses(&finding);
	for (const uint64_t *frame = job->early; frame < job->end; frame += site->nr_words) {
		site = sites_find(stream->sites, RECORD_SITE(frame[0]));
		if (!site || (frame[0] & RECORD_HEADER) != RECORD_HEADER)
			break;
		if (site->kind == SITE_CALL)
			do_call(calls, site, frame);
		else if (site->kind == SITE_RESULT)
			do_result(&finding, calls, site, frame);
		make_room(&finding);
	}
	finding.uses->done = end_half;
	finding.uses->context = job->thread;
	end_uses(&finding);
}

/* Finds the lines that the words of a job tell of. */
static void
find_lines(struct finding *finding, const struct job *job, struct line_finder *finder)
{
	struct line_search *search = &job->thread->search;

	search->frame = job->words;
	search->end = job->end;
	search->fs_base = job->fs_base;
	search->last = job->is_burst ? 0 : search->last;
	for (; search->frame < search->end; make_room(finding)) {
		struct uses *uses = finding->uses;
		const struct site *site;

		search->to = uses->words + uses->nr;
		search->room = uses->words + USES_ROOM - LINE_FINDER_MAX_USES;
		search->origins = uses_next_origin(uses);
		site = line_finder_run(finder, search);
		uses->nr = (size_t)(search->to - uses->words);
		uses->nr_origins = (size_t)(search->origins - uses->origins);
		if (!site)
			continue;
		set_site(finding, RECORD_SITE(search->frame[0]));
		do_frame(finding, site, search->frame, job->fs_base);
		search->frame += site->nr_words;
	}
}

static void
do_job(struct stream *stream, const struct job *job)
{
	struct finding finding = {stream, job->thread, NULL, CAUSES_OTHER, job->is_burst};
	const struct caches *caches = job->thread->caches;
	bool is_sampled;

	if (job->early) {
		do_early(stream, job);
		return;
	}
	look_for_sharing(stream, job);
	begin_uses(&finding);
	if (stream->residues && stream->nr_uses >= stream->nr_all && !job->thread->is_sampled)
		begin_sampling(&finding);
	is_sampled = job->thread->is_sampled && !job->is_burst;
	find_lines(&finding, job, is_sampled ? caches->sampling : caches->finder);
	if (job->words)
		job->thread->early_calls = job->thread->calls;
	set_site(&finding, CAUSES_OTHER);
	for (size_t i = 0; i < job->nr_accesses; i++) {
		job->thread->search.last = 0;
		(job->is_repeated ? add : add_single)(&finding, &job->accesses[i]);
	}
	free(job->accesses);
	take_splits(job->thread);
	do_bank(&finding, job->bank);
	if (job->thread->bank->counts.by_capacity)
		uses_add_counts(finding.uses, &job->thread->bank->counts); /* other threads use the curve, too */
	if (job->put)
		uses_add_access(finding.uses, (uint64_t)(uintptr_t)job->put, 0, USES_PUT);
	finding.uses->time = job->time;
	finding.uses->done = end_half;
	finding.uses->context = job->thread;
	end_uses(&finding);
}

static void *
work_on(void *context)
{
	struct stream *stream = context;

	pthread_mutex_lock(&stream->mutex);
	for (;;) {
		struct job job;

		while (stream->nr == 0 && !stream->ends)
			pthread_cond_wait(&stream->is_new, &stream->mutex);
		if (stream->nr == 0)
			break;
		job = stream->jobs[stream->first];
		pthread_mutex_unlock(&stream->mutex);
		do_job(stream, &job);
		pthread_mutex_lock(&stream->mutex);
		stream->first = (stream->first + 1) % MAX_QUEUED;
		stream->nr--;
		if (job.words)
			job.thread->is_waiting[job.buffer] = false;
		job.thread->nr_waiting--;
		pthread_cond_broadcast(&stream->is_done);
	}
	pthread_mutex_unlock(&stream->mutex);
	return NULL;
}

/* ---- buffers ---- */

static void
hand_over(struct stream *stream, const struct job *job)
{
	if (!stream->has_worker) {
		if (!stream->modeller)
			stream->modeller = modeller_new();
		stream->has_worker = uses_start_thread(&stream->worker, work_on, stream);
	}
	pthread_mutex_lock(&stream->mutex);
	job->thread->nr_waiting += 1 + stream->has_worker;
	while (stream->nr == MAX_QUEUED)
		pthread_cond_wait(&stream->is_done, &stream->mutex);
	if (stream->has_worker) {
		stream->jobs[(stream->first + stream->nr++) % MAX_QUEUED] = *job;
		if (job->words)
			job->thread->is_waiting[job->buffer] = true;
		pthread_cond_signal(&stream->is_new);
	}
	pthread_mutex_unlock(&stream->mutex);
	if (!stream->has_worker)
		do_job(stream, job);
}

static void
wait_for(struct stream_thread *thread)
{
	struct stream *stream = thread->stream;

	pthread_mutex_lock(&stream->mutex);
	while (thread->nr_waiting > 0)
		pthread_cond_wait(&stream->is_done, &stream->mutex);
	pthread_mutex_unlock(&stream->mutex);
}

/* Many threads get less memory each. */
#define FEW_THREADS 4
#define BYTES_OF_MANY (UINT64_C(1) << 20)

/*
 * Bursts: so many in each interval, from which on it is twice as long; first it is a buffer. Lines that are used again
 * after a longer time are not corrected, so a few long bursts say more than many short ones.
 */
#define BURST_BYTES (UINT64_C(1) << 21)
#define BURSTS_OF_INTERVAL 8

static bool
set_place(struct stream_thread *thread, const struct code_cache *cache)
{
	thread->begin =
		AREA_BUFFER_END(thread->buffer) - (thread->is_burst                           ? BURST_BYTES
						   : thread->stream->nr_threads > FEW_THREADS ? BYTES_OF_MANY
											      : AREA_BUFFER_BYTES);
	thread->early = thread->begin;
	return code_cache_set_slot(cache, thread->area, AREA_RECORD,
				   code_cache_area_address(cache, thread->area) + thread->begin);
}

/*
 * Curves are asked for, lines are sampled, and it is time for a burst of this thread, which has recorded so many bytes
 * since it was asked last. That of another one of its process is over: frames will be left out again.
 */
static bool
begin_burst(struct stream_thread *thread, uint64_t bytes)
{
	struct stream_thread *other = thread->stream->threads;

	for (; other; other = other->next)
		other->is_burst &= other->search.space != thread->search.space;
	thread->to_burst -= bytes < thread->to_burst ? bytes : thread->to_burst;
	if (!thread->curve || thread->to_burst > 0)
		return false;
	if (thread->nr_bursts++ % BURSTS_OF_INTERVAL == 0)
		thread->burst_interval = thread->burst_interval ? 2 * thread->burst_interval : AREA_BUFFER_BYTES;
	thread->to_burst = thread->burst_interval;
	return true;
}

/* The job is that of the buffer which the thread has filled. */
static void
turn(struct stream_thread *thread, const struct code_cache *cache, const struct job *job)
{
	struct stream *stream = thread->stream;
	bool is_sampling;

	hand_over(stream, job);
	thread->buffer ^= 1;
	pthread_mutex_lock(&stream->mutex);
	while (thread->is_waiting[thread->buffer])
		pthread_cond_wait(&stream->is_done, &stream->mutex);
	is_sampling = stream->has_sampled;
	pthread_mutex_unlock(&stream->mutex);
	if (is_sampling)
		thread->is_burst =
			begin_burst(thread, (uint64_t)((const uint8_t *)job->end - (const uint8_t *)job->words));
	/* So are all lines in buffers that are being filled now, so that frames without one need not be written. */
	if (is_sampling && stream->sites->leaves_out)
		recording_leave_out(cache->low, thread->is_burst ? UINT64_MAX : stream->residues);
	set_place(thread, cache);
}

/* at: in the area */
static const uint64_t *
in_buffer(const struct stream_thread *thread, uint64_t at)
{
	return (const uint64_t *)(const void *)(thread->mapped + (at - MAPPED_AT));
}

/* Where the next frame will be, in the area. The frames before it are whole, though the thread may run. */
static uint64_t
end_of(const struct stream_thread *thread, const struct code_cache *cache)
{
	return code_cache_slot(cache, thread->area, AREA_RECORD) - code_cache_area_address(cache, thread->area);
}

/* Objects that the other threads have allocated so far are to be known before the uses of this one. */
static void
look_early(const struct stream_thread *thread, const struct code_cache *cache)
{
	struct stream *stream = thread->stream;

	for (struct stream_thread *other = stream->threads; stream->data && other; other = other->next) {
		const bool is_beside = other != thread && other->search.space == thread->search.space;
		const uint64_t end = is_beside ? end_of(other, cache) : 0;

		if (end <= other->early || end > AREA_BUFFER_END(other->buffer) + MAX_FRAME_BYTES)
			continue;
		hand_over(stream, &(struct job){.thread = other,
						.early = in_buffer(other, other->early),
						.end = in_buffer(other, end)});
		other->early = end;
	}
}

/* Bytes of instructions: blocks of straight code are long. */
struct executed {
	const struct code_cache *cache;
	uint64_t bytes;
};

static void
add_executed(void *context, uint32_t counter, uint64_t value)
{
	struct executed *executed = context;
	const uint32_t owner = executed->cache->owners[counter];

	if (!(owner & OWNER_DYNAMIC))
		executed->bytes += value * executed->cache->fragments[owner].nr_origin_bytes;
}

/* The time that has passed for its curve since it was asked last; 0: nobody needs it. */
static uint64_t
pass_time(struct stream_thread *thread, const struct code_cache *cache)
{
	const uint64_t before = thread->time;
	struct executed executed = {cache, 0};

	if (!thread->curve || !thread->stream->residues)
		return 0;
	for (const struct bank_counts *bank = thread->banks; bank; bank = bank->next)
		code_cache_each_counter(cache, bank->number, add_executed, &executed);
	thread->time = executed.bytes;
	return thread->time > before ? thread->time - before : 0;
}

void
stream_turn(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base)
{
	const uint64_t end = end_of(thread, cache);

	if (end > thread->begin)
		look_early(thread, cache);
	/* More than a buffer is there only if the program has written into the area. */
	if (end - thread->begin > AREA_BUFFER_END(thread->buffer) + MAX_FRAME_BYTES - thread->begin)
		set_place(thread, cache);
	else if (end > thread->begin)
		turn(thread, cache,
		     &(struct job){.thread = thread,
				   .buffer = thread->buffer,
				   .words = in_buffer(thread, thread->begin),
				   .end = in_buffer(thread, end),
				   .fs_base = fs_base,
				   .begin_ns = thread->turned_ns,
				   .end_ns = clock_raw_ns(),
				   .time = pass_time(thread, cache),
				   .is_beside = thread->stream->nr_begun > 1,
				   .is_burst = thread->is_burst});
	thread->turned_ns = clock_raw_ns();
}

bool
stream_is_full(const struct code_cache *cache, int64_t area)
{
	return (code_cache_slot(cache, area, AREA_RECORD) >> 8 * RECORD_FULL_BYTE & 0xff) == 0;
}

/* NULL: curves are not told apart. */
static double *
by_capacity_new(const struct stream_thread *thread)
{
	return thread->curve && thread->stream->has_regions
		       ? rot_calloc(REUSE_NR + 1, sizeof(*thread->own.counts.by_capacity))
		       : NULL;
}

struct stream_thread *
stream_begin(struct stream *stream, struct code_cache *cache, int64_t area, uint32_t space, struct rot_error *err)
{
	struct stream_thread *thread = rot_calloc(1, sizeof(*thread));

	stream->nr_threads++;
	*thread = (struct stream_thread){.stream = stream,
					 .area = area,
					 .search.space = (uint64_t)space << 48,
					 .own.number = area,
					 .bank = &thread->own,
					 .banks = &thread->own,
					 .areas_address = cache->areas->address,
					 .number = ++stream->nr_begun,
					 .turned_ns = clock_raw_ns()};
	thread->mapped = mmap(NULL, MAPPED_BYTES, PROT_READ, MAP_SHARED | MAP_NORESERVE, cache->areas->fd,
			      (off_t)((uint64_t)area * AREA_BYTES + MAPPED_AT));
	if (thread->mapped == MAP_FAILED || !set_place(thread, cache)) {
		rot_error_set(err, errno, "cannot access what a thread records");
		if (thread->mapped != MAP_FAILED)
			munmap(thread->mapped, MAPPED_BYTES);
		stream->nr_threads--;
		free(thread);
		return NULL;
	}
	thread->caches = stream->caches;
	thread->caches->nr_users++;
	thread->model = cache_model_new_sharing(thread->caches->model);
	thread->what_ifs = what_ifs_begin(stream->what_ifs);
	if (stream->curves)
		thread->curve = process_curve_share(stream->curves, space, stream->residues);
	thread->own.counts.by_capacity = by_capacity_new(thread);
	thread->next = stream->threads;
	stream->threads = thread;
	return thread;
}

void
stream_add(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base, const struct work_done *done,
	   bool is_repeated)
{
	struct job job = {.thread = thread,
			  .accesses = rot_calloc(done->nr_accesses, sizeof(*job.accesses)),
			  .nr_accesses = done->nr_accesses,
			  .is_repeated = is_repeated};

	stream_turn(thread, cache, fs_base);
	memcpy(job.accesses, done->accesses, done->nr_accesses * sizeof(*job.accesses));
	hand_over(thread->stream, &job);
}

void
stream_put(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base, uint64_t start, uint64_t end,
	   uint32_t object)
{
	struct job job = {.thread = thread, .put = rot_calloc(1, sizeof(*job.put))};

	*job.put = (struct put_object){thread->stream->data, start | thread->search.space, end | thread->search.space,
				       object};
	stream_turn(thread, cache, fs_base);
	hand_over(thread->stream, &job);
}

unsigned
stream_number(const struct stream_thread *thread)
{
	return thread->number;
}

void
stream_counts(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base,
	      int64_t counts[STEP_NR_COUNTS])
{
	uint64_t lines[STEP_NR_COUNTS] = {0};

	stream_turn(thread, cache, fs_base);
	wait_for(thread);
	cache_model_add_counts(thread->model, lines);
	cache_model_in_step_lines(thread->model, lines);
	lines[STEP_SPLIT_ACCESSES] = thread->nr_split;
	for (size_t i = 0; i < STEP_NR_COUNTS; i++)
		counts[i] += (int64_t)lines[i];
}

void
stream_add_bank(struct stream_thread *thread, int64_t number)
{
	struct bank_counts *bank = rot_calloc(1, sizeof(*bank));

	bank->number = number;
	bank->counts.by_capacity = by_capacity_new(thread);
	bank->next = thread->banks;
	__atomic_store_n(&thread->banks, bank, __ATOMIC_RELEASE);
}

void
stream_switch(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base, int64_t number)
{
	const struct job job = {.thread = thread, .bank = find_bank(thread, number)};

	stream_turn(thread, cache, fs_base);
	hand_over(thread->stream, &job);
}

void
stream_bank_counts(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base, int64_t number,
		   int64_t counts[STEP_NR_COUNTS], int64_t by_capacity[REUSE_NR + 1])
{
	const struct bank_counts *bank = find_bank(thread, number);
	uint64_t lines[STEP_NR_COUNTS];

	stream_turn(thread, cache, fs_base);
	wait_for(thread);
	cache_model_move_counts(thread->model, thread->bank->counts.counts);
	memcpy(lines, bank->counts.counts, sizeof(lines));
	cache_model_in_step_lines(thread->model, lines);
	for (size_t i = 0; i < STEP_NR_COUNTS; i++)
		counts[i] += (int64_t)lines[i];
	counts[STEP_SPLIT_ACCESSES] += (int64_t)bank->nr_split;
	for (int i = 0; bank->counts.by_capacity && i <= REUSE_NR; i++)
		by_capacity[i] += llround(bank->counts.by_capacity[i]);
}

void
stream_end(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base)
{
	struct stream_thread **link;

	if (!thread)
		return;
	for (link = &thread->stream->threads; *link != thread; link = &(*link)->next)
		;
	*link = thread->next;
	stream_turn(thread, cache, fs_base);
	wait_for(thread);
	cache_model_add_sample(thread->model, &thread->stream->sample);
	what_ifs_end(thread->stream->what_ifs, thread->what_ifs, thread->model);
	if (thread->curve)
		process_curve_release(thread->stream->curves, thread->curve);
	if (thread->stream->kinds)
		cache_model_add_kinds(thread->model, thread->stream->kinds);
	munmap(thread->mapped, MAPPED_BYTES);
	cache_model_delete(thread->model);
	caches_release(thread->caches);
	while (thread->banks != &thread->own) {
		struct bank_counts *bank = thread->banks;

		thread->banks = bank->next;
		free(bank->counts.by_capacity);
		free(bank);
	}
	free(thread->own.counts.by_capacity);
	thread->stream->nr_threads--;
	free(thread);
}

/* Numbers that sampled lines stand for are rounded in the sum, so that many sites with few lines lose nothing. */
void
stream_each_code(const struct stream *stream,
		 void (*visit)(void *context, const struct counted_at *at, const uint64_t counts[STEP_NR_COUNTS]),
		 void *context)
{
	const uint64_t residues = stream->has_sampled ? stream->residues : 0;
	uint64_t before[STEP_NR_COUNTS] = {0};
	struct cache_cause sum = {{{0}}};

	for (uint32_t i = 0; stream->causes && i < stream->sites->nr; i++) {
		const struct cache_cause *cause = causes_find(stream->causes, i);
		uint64_t now[STEP_NR_COUNTS] = {0}, counts[STEP_NR_COUNTS];

		if (!cause && stream->sites->splits[i] == 0)
			continue;
		for (unsigned k = 0; cause && k <= CACHE_CAUSE_STREAMED; k++) {
			sum.lines[0][k] += cause->lines[0][k];
			sum.lines[1][k] += cause->lines[1][k];
		}
		cache_model_add_cause(stream->caches->model, &sum, residues, now);
		cache_model_in_step_lines(stream->caches->model, now);
		for (size_t k = 0; k < STEP_NR_COUNTS; k++)
			counts[k] = now[k] - before[k];
		counts[STEP_SPLIT_ACCESSES] = stream->sites->splits[i];
		memcpy(before, now, sizeof(before));
		visit(context, &sites_at(stream->sites, i)->at, counts);
	}
}

/* ---- what sampling is worth ---- */

/* Shares of a value: how far off it was while all lines were modelled, and half its interval since. */
struct estimate {
	double first, interval;
	bool is_there; /* else sampled lines did not cross the border */
};

static struct estimate
estimate(const uint64_t first[CACHE_RESIDUES], const uint64_t later[CACHE_RESIDUES], const struct sampling *sampling)
{
	const double n = __builtin_popcountll(sampling->residues) - 1, nr_others = CACHE_RESIDUES - 1;
	double all = (double)first[0], sampled = 0, sum = 0, squares = 0, value;

	for (unsigned i = 1; i < CACHE_RESIDUES; i++) {
		all += (double)first[i];
		if (!(sampling->residues >> i & 1))
			continue;
		sampled += (double)first[i];
		sum += (double)later[i];
		squares += (double)later[i] * (double)later[i];
	}
	if (all <= 0 || sum <= 0)
		return (struct estimate){.is_there = false};
	value = (double)later[0] + sum * nr_others / n;
	return (struct estimate){
		.first = fabs(((double)first[0] + sampled * nr_others / n) / all - 1),
		.interval = sampling->quantile * nr_others / value *
			    sqrt(fmax(squares - sum * sum / n, 0) / (n - 1) / n * (1 - n / nr_others)),
		.is_there = true,
	};
}

const struct process_curves *
stream_curves(const struct stream *stream)
{
	return stream->curves;
}

const struct cache_kinds *
stream_kinds(const struct stream *stream)
{
	return stream->kinds;
}

const struct misses *
stream_misses(const struct stream *stream)
{
	return stream->misses;
}

struct sharing *
stream_sharing(const struct stream *stream)
{
	return stream->sharing;
}

const struct what_ifs *
stream_what_ifs(const struct stream *stream)
{
	return stream->what_ifs;
}

char *
stream_sample_text(const struct stream *stream)
{
	static const char *const names[STEP_NR_LEVELS] = {"L1-L2", "L2-L3", "LLC-RAM"};
	char *text;

	if (!stream->sampling || (stream->residues && !cache_model_has_levels(stream->caches->model)))
		return NULL;
	if (!stream->residues)
		return rot_strdup("all lines of caches were modelled: sets of these caches cannot be sampled, nor can "
				  "pages, kinds of misses or curves of regions");
	if (!stream->has_sampled)
		return rot_strdup("all lines of caches were modelled, since there were few uses of them");
	text = rot_format(
		"after the first %llu million uses of lines, one line of %u was modelled; errors seen before, and "
		"expected since:",
		(unsigned long long)(STREAM_ALL / 1000000), stream->sampling->of);
	for (int i = 0; i < STEP_NR_LEVELS; i++) {
		const struct estimate border =
			estimate(stream->sample.first[i], stream->sample.later[i], stream->sampling);
		const char *separator = i > 0 ? "," : "";
		char *longer = border.is_there ? rot_format("%s%s %s %.1f %% and %.1f %%", text, separator, names[i],
							    100 * border.first, 100 * border.interval)
					       : rot_format("%s%s %s not known", text, separator, names[i]);

		free(text);
		text = longer;
	}
	return text;
}

void
stream_delete(struct stream *stream)
{
	if (!stream)
		return;
	if (stream->has_worker) {
		pthread_mutex_lock(&stream->mutex);
		stream->ends = true;
		pthread_cond_signal(&stream->is_new);
		pthread_mutex_unlock(&stream->mutex);
		pthread_join(stream->worker, NULL);
	}
	modeller_delete(stream->modeller);
	causes_delete(stream->causes);
	what_ifs_delete(stream->what_ifs);
	caches_release(stream->caches);
	free(stream->curves);
	free(stream->kinds);
	misses_delete(stream->misses);
	sharing_delete(stream->sharing);
	sites_delete(stream->sites);
	pthread_mutex_destroy(&stream->mutex);
	pthread_cond_destroy(&stream->is_new);
	pthread_cond_destroy(&stream->is_done);
	free(stream);
}
