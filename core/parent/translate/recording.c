/* SPDX-License-Identifier: MIT */
#include "parent/translate/recording.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/stepping/cache_model.h"
#include "parent/stepping/effect.h"

#define NR_REGISTERS 16
#define NO_NUMBER 0xff
#define MOST_REGISTERS 14 /* of a frame; a short jump reaches over the code that writes so many */

/* ---- sites ---- */

struct sites *
sites_new(void)
{
	struct sites *sites = rot_calloc(1, sizeof(*sites));

	sites->splits = rot_calloc(RECORD_MAX_SITES + 1, sizeof(*sites->splits));
	return sites;
}

void
sites_delete(struct sites *sites)
{
	if (!sites)
		return;
	for (uint32_t i = 0; i < sites->nr; i++) {
		struct site *site = &sites->chunks[i / SITES_CHUNK][i % SITES_CHUNK];

		for (unsigned k = 0; k < site->nr_accesses; k++)
			free(site->accesses[k].splits);
		free(site->accesses);
		free(site->work);
	}
	for (size_t i = 0; i < RECORD_MAX_SITES / SITES_CHUNK; i++)
		free(sites->chunks[i]);
	free(sites->splits);
	free(sites);
}

/* UINT32_MAX: there are too many. */
static uint32_t
add_site(struct sites *sites, const struct site *site)
{
	struct site **chunk;

	if (sites->nr == RECORD_MAX_SITES)
		return UINT32_MAX;
	chunk = &sites->chunks[sites->nr / SITES_CHUNK];
	if (!*chunk)
		*chunk = rot_calloc(SITES_CHUNK, sizeof(**chunk));
	(*chunk)[sites->nr % SITES_CHUNK] = *site;
	return __atomic_fetch_add(&sites->nr, 1, __ATOMIC_RELEASE);
}

uint32_t
recording_bank_site(struct sites *sites)
{
	const struct site site = {.kind = SITE_BANK, .registers = 1 << RDX, .nr_words = 2};

	if (!sites->has_bank)
		sites->bank = add_site(sites, &site);
	sites->has_bank = true;
	return sites->bank;
}

uint32_t
recording_allocation_site(struct sites *sites, bool is_call, const struct site_allocation *allocation)
{
	const struct site site = {.kind = is_call ? SITE_CALL : SITE_RESULT,
				  .registers = is_call ? RECORD_CALL : RECORD_RESULT,
				  .nr_words = is_call ? 5 : 3,
				  .allocation = *allocation};

	return add_site(sites, &site);
}

/* ---- what a block accesses ---- */

/* A register's value is that of origin, where the frame is recorded, plus a constant. origin NO_NUMBER: the latter. */
struct value {
	bool is_known;
	uint8_t origin;
	uint64_t constant;
};

/* nr_accesses: of the frame that is being planned; base and index are numbers of registers until it is complete. */
struct planner {
	struct sites *sites;
	const struct basic_block *block;
	struct recording *recordings;
	size_t nr;
	struct value values[NR_REGISTERS];
	size_t first; /* item before which the frame is recorded */
	uint16_t registers;
	struct site_access accesses[SITE_MAX_ACCESSES];
	size_t nr_accesses;
};

/* The word of a register in a frame. */
static uint8_t
word_in(uint16_t registers, uint8_t number)
{
	return number == NO_NUMBER ? 0 : (uint8_t)(1 + __builtin_popcount(registers & ((UINT32_C(1) << number) - 1)));
}

static void
add_recording(struct planner *planner, size_t item, const struct site *site)
{
	const uint32_t number = add_site(planner->sites, site);

	if (number != UINT32_MAX)
		planner->recordings[planner->nr++] = (struct recording){number, (uint16_t)item};
}

/* Completes the frame that is being planned, if any. */
static void
close_frame(struct planner *planner)
{
	const size_t nr = planner->nr_accesses;
	struct site site = {.kind = SITE_PLAIN, .registers = planner->registers, .nr_accesses = (uint16_t)nr};

	if (nr == 0)
		return;
	site.nr_words = (uint16_t)(1 + __builtin_popcount(site.registers));
	site.accesses = rot_calloc(nr, sizeof(*site.accesses));
	site.is_repeatable = true;
	memcpy(site.accesses, planner->accesses, nr * sizeof(*site.accesses));
	for (size_t i = 0; i < nr; i++) {
		site.accesses[i].base = word_in(site.registers, site.accesses[i].base);
		site.accesses[i].index = word_in(site.registers, site.accesses[i].index);
		site.is_repeatable &= !site.accesses[i].is_streaming && !site.accesses[i].flush &&
				      site.accesses[i].bytes > 0 && site.accesses[i].bytes <= SITE_LINE;
	}
	add_recording(planner, planner->first, &site);
	planner->nr_accesses = 0;
}

static void
open_frame(struct planner *planner, size_t item)
{
	close_frame(planner);
	planner->first = item;
	planner->registers = 0;
	for (uint8_t i = 0; i < NR_REGISTERS; i++)
		planner->values[i] = (struct value){true, i, 0};
}

static bool
is_plain(const struct work *work)
{
	if (work->is_repeated || work->mask != WORK_ALL_LANES)
		return false;
	for (unsigned i = 0; i < work->nr_parts; i++) {
		const struct work_part *part = &work->parts[i];

		if (part->selector != WORK_NO_REGISTER || part->shape != WORK_WHOLE ||
		    (part->index != WORK_NO_REGISTER && part->index_mask != UINT64_MAX))
			return false;
	}
	return true;
}

static bool
is_known(const struct planner *planner, uint8_t word)
{
	const uint8_t number = effect_number(word);

	return number == EFFECT_NO_REGISTER || planner->values[number].is_known;
}

static bool
are_known(const struct planner *planner, const struct work *work)
{
	for (unsigned i = 0; i < work->nr_parts; i++) {
		if (!is_known(planner, work->parts[i].base) || !is_known(planner, work->parts[i].index))
			return false;
	}
	return planner->nr_accesses > 0 && __builtin_popcount(planner->registers) < MOST_REGISTERS - 2 * WORK_MAX_PARTS;
}

/* The number of the register in the frame, and what is added to it. */
static uint8_t
take(struct planner *planner, uint8_t word, uint8_t scale, uint64_t *constant)
{
	const uint8_t number = effect_number(word);
	const struct value *value;

	if (number == EFFECT_NO_REGISTER)
		return NO_NUMBER;
	value = &planner->values[number];
	*constant += value->constant << scale;
	if (value->origin != NO_NUMBER)
		planner->registers |= (uint16_t)(1U << value->origin);
	return value->origin;
}

/* The access goes over addresses behind that of a merged one, from which it is so many bytes away. */
static void
add_splits(struct site_access *merged, uint64_t away, uint32_t bytes)
{
	for (uint64_t i = away + 1; i < away + bytes; i++)
		merged->splits[i]++;
}

static void
merge_splits(struct site_access *before, uint64_t away, uint32_t bytes)
{
	if (!before->splits) {
		before->splits = rot_calloc(SITE_LINE + 1, sizeof(*before->splits));
		add_splits(before, 0, before->bytes);
	}
	add_splits(before, away, bytes);
}

/*
 * Makes one of two accesses in a row, where caches cannot tell; else false. Within as many bytes as a line has, both
 * use the same one or two lines as one access to all of these bytes. A load and then a store are a store.
 */
static bool
merge(struct site_access *before, const struct site_access *access)
{
	const uint64_t away = access->displacement - before->displacement;

	if (before->bytes > SITE_LINE || before->base != access->base || before->index != access->index ||
	    before->scale != access->scale || before->address_mask != access->address_mask ||
	    before->is_local != access->is_local || before->flush || access->flush || before->is_streaming ||
	    access->is_streaming)
		return false;
	if (away == 0 && before->bytes == access->bytes) {
		merge_splits(before, 0, access->bytes);
		before->is_store |= access->is_store;
		return true;
	}
	if (before->is_store != access->is_store || away > SITE_LINE || away + access->bytes > SITE_LINE ||
	    away + access->bytes < before->bytes)
		return false;
	merge_splits(before, away, access->bytes);
	before->bytes = (uint32_t)away + access->bytes;
	return true;
}

static void
plan_plain(struct planner *planner, size_t item, const struct work *work)
{
	const uint64_t origin = planner->block->origin + planner->block->items[item].at;

	if (!are_known(planner, work))
		open_frame(planner, item);
	for (unsigned i = 0; i < work->nr_parts; i++) {
		const struct work_part *part = &work->parts[i];
		struct site_access *access = &planner->accesses[planner->nr_accesses++];

		*access = (struct site_access){.displacement = part->displacement,
					       .address_mask = part->address_mask,
					       .bytes = part->bytes,
					       .scale = part->scale,
					       .flush = part->flush,
					       .is_local = part->segment != WORK_NO_REGISTER,
					       .is_store = part->is_store,
					       .is_streaming = part->is_streaming};
		if (part->base == EFFECT_WORD_RIP)
			access->displacement += origin;
		access->base = take(planner, part->base, 0, &access->displacement);
		access->index = take(planner, part->index, part->scale, &access->displacement);
		if (planner->sites->merges && planner->nr_accesses > 1 && merge(access - 1, access))
			planner->nr_accesses--;
	}
}

static uint16_t
bit_of(uint8_t word)
{
	const uint8_t number = effect_number(word);

	return number == EFFECT_NO_REGISTER ? 0 : (uint16_t)(1U << number);
}

/*
 * Adds what a masked instruction may access at most, so that frames can be left out. Not for one that has another
 * shape, or no plain address.
 */
static void
add_extent(struct site *site)
{
	const struct work *work = site->work;
	const struct work_part *part = &work->parts[0];
	const uint32_t nr = part->shape == WORK_WHOLE ? 1 : work->nr_lanes;

	if (site->kind != SITE_WORK || work->nr_parts != 1 || part->shape == WORK_INDEXED || part->flush ||
	    part->is_streaming || part->selector != WORK_NO_REGISTER || part->base == EFFECT_WORD_RIP ||
	    part->bytes * nr == 0 || part->bytes * nr > SITE_LINE)
		return;
	site->accesses = rot_calloc(1, sizeof(*site->accesses));
	site->nr_accesses = 1;
	site->accesses[0] = (struct site_access){.displacement = part->displacement,
						 .address_mask = part->address_mask,
						 .bytes = part->bytes * nr,
						 .base = word_in(site->registers, effect_number(part->base)),
						 .index = word_in(site->registers, effect_number(part->index)),
						 .scale = part->scale,
						 .is_local = part->segment != WORK_NO_REGISTER};
}

/* An instruction that has a frame of its own. */
static void
plan_other(struct planner *planner, size_t item, const struct work *work)
{
	struct site site = {.kind = SITE_WORK, .origin = planner->block->origin + planner->block->items[item].at};

	close_frame(planner);
	for (unsigned i = 0; i < work->nr_parts; i++) {
		const struct work_part *part = &work->parts[i];

		site.registers |= bit_of(part->base) | bit_of(part->selector);
		if (part->shape != WORK_INDEXED)
			site.registers |= bit_of(part->index);
	}
	site.work = rot_calloc(1, sizeof(*site.work));
	*site.work = *work;
	if (work->is_repeated) {
		site.kind = SITE_TURNS;
		site.registers = RECORD_TURNS;
	}
	site.nr_words = (uint16_t)(1 + __builtin_popcount(site.registers));
	if (work->mask != WORK_ALL_LANES)
		site.nr_words++;
	if (recording_index(work) != WORK_NO_REGISTER)
		site.nr_words += VECTOR_REGISTER_BYTES / 8;
	add_extent(&site);
	add_recording(planner, item, &site);
	if (site.kind == SITE_TURNS) {
		site.kind = SITE_TURNS_END;
		site.work = NULL;
		add_recording(planner, item, &site);
	}
}

uint8_t
recording_index(const struct work *work)
{
	for (unsigned i = 0; i < work->nr_parts; i++) {
		if (work->parts[i].shape == WORK_INDEXED)
			return work->parts[i].index;
	}
	return WORK_NO_REGISTER;
}

/* Follows what the instruction does to registers. */
static void
follow(struct planner *planner, const struct basic_block_item *item)
{
	struct effect effect;
	struct value value = {false, NO_NUMBER, 0};
	uint8_t base, target;

	effect_of(&item->instruction, item->operands, &effect);
	base = effect_number(effect.base);
	target = effect_number(effect.target);
	if (target != EFFECT_NO_REGISTER && effect.index == EFFECT_NO_REGISTER && !effect.is_narrow) {
		value = base == EFFECT_NO_REGISTER ? (struct value){true, NO_NUMBER, 0} : planner->values[base];
		value.constant += effect.constant;
	}
	for (uint32_t left = effect.clobbered; left; left &= left - 1)
		planner->values[effect_number((uint8_t)__builtin_ctz(left))].is_known = false;
	if (target != EFFECT_NO_REGISTER)
		planner->values[target] = value;
}

size_t
recording_plan(struct sites *sites, const struct basic_block *block, struct recording recordings[RECORDING_MAX])
{
	static struct planner planner;

	planner.sites = sites;
	planner.block = block;
	planner.recordings = recordings;
	planner.nr = planner.nr_accesses = 0;
	for (size_t i = 0; i < block->nr; i++) {
		const struct work *work = &block->items[i].work;

		if (!work->is_unknown && work->nr_parts > 0) {
			if (is_plain(work))
				plan_plain(&planner, i, work);
			else if (work->mask != WORK_COMPONENTS)
				plan_other(&planner, i, work);
		}
		if (planner.nr_accesses > 0)
			follow(&planner, &block->items[i]);
	}
	close_frame(&planner);
	return planner.nr;
}

/* ---- frames ---- */

/* mov [rcx + 8 * word], reg */
static void
emit_word(struct emitter *to, unsigned word, unsigned reg)
{
	emit_8(to, reg < 8 ? 0x48 : 0x4c);
	emit_8(to, 0x89);
	emit_8(to, 0x41 | (reg & 7) << 3);
	emit_8(to, 8 * word);
}

/* vmovdqu64 [rcx + 8 * word], zmm; vmovdqu of xmm or ymm where that is enough */
static void
emit_vector(struct emitter *to, unsigned word, unsigned reg, unsigned bytes)
{
	if (bytes > 32 || reg >= 16) {
		emit_8(to, 0x62);
		emit_8(to, 0x61 | (reg & 8 ? 0 : 0x80) | (reg & 16 ? 0 : 0x10));
		emit_8(to, 0xfe);
		emit_8(to, bytes > 32 ? 0x48 : bytes > 16 ? 0x28 : 0x08);
	} else {
		emit_8(to, 0xc5);
		emit_8(to, (reg & 8 ? 0 : 0x80) | 0x7a | (bytes > 16 ? 4 : 0));
	}
	emit_8(to, 0x7f);
	emit_8(to, 0x81 | (reg & 7) << 3);
	emit_32(to, 8 * word);
}

static void
emit_besides(struct emitter *to, const struct work *work, unsigned word)
{
	const uint8_t index = recording_index(work);

	if (work->mask == WORK_ALL_LANES)
		return;
	emit_save(to, RAX, AREA_RAX);
	emit_mask(to, work);
	emit_word(to, word, RAX);
	emit_load(to, RAX, AREA_RAX);
	if (index != WORK_NO_REGISTER)
		emit_vector(to, word + 1, index, (unsigned)work->nr_lanes * work->parts[0].index_bytes);
}

/* ---- frames without sampled lines ---- */

/* Jumps of one byte reach over so many accesses. */
#define NEAR_ACCESSES 4
#define MOST_FILTERED 16

/* The register that a word of the frame has. */
static unsigned
register_in(const struct site *site, unsigned word)
{
	unsigned left = site->registers;

	while (--word > 0)
		left &= left - 1;
	return (unsigned)__builtin_ctz(left);
}

/* Its address is known. */
static bool
is_absolute(const struct site_access *access)
{
	return !access->base && !access->index && !access->is_local;
}

static bool
can_be_left_out(const struct site *site)
{
	if ((site->kind != SITE_WORK && !site->is_repeatable) || site->nr_accesses == 0 ||
	    site->nr_accesses > MOST_FILTERED)
		return false;
	for (unsigned i = 0; i < site->nr_accesses; i++) {
		const struct site_access *access = &site->accesses[i];
		const bool has_registers = access->base || access->index;
		/* An index may have been a copy of rsp, which cannot be encoded as one. */
		const bool has_rsp = access->index && register_in(site, access->index) == 4;

		if ((access->is_local && has_registers) || access->address_mask != UINT64_MAX || has_rsp ||
		    (!is_absolute(access) && (int64_t)access->displacement != (int32_t)access->displacement))
			return false;
	}
	return true;
}

/* The register that has what the program's register of that word of the frame had. */
static unsigned
holder_of(const struct site *site, unsigned word, const struct aside *aside)
{
	const unsigned reg = register_in(site, word);

	return reg == RCX && aside->rcx == RCX_IN_REGISTER ? aside->reg : reg;
}

/* lea reg, [base + index * scale + displacement], the lower 32 bits. is_changed: reg has been */
static void
emit_lea(struct emitter *to, unsigned reg, const struct site *site, const struct site_access *access,
	 const struct aside *aside, bool is_changed)
{
	const unsigned base = access->is_local ? reg : access->base ? holder_of(site, access->base, aside) : 5;
	const unsigned index = access->index ? holder_of(site, access->index, aside) : 4;
	const bool has_base = access->base || access->is_local;
	const bool is_plain = has_base && !access->index && (base & 7) != 4;
	const bool is_short = has_base && (int64_t)access->displacement == (int8_t)access->displacement;

	if (access->is_local)
		emit_load(to, reg, AREA_FS_BASE);
	else if (is_changed && aside->rcx == RCX_SAVED && (base == RCX || index == RCX))
		emit_load(to, RCX, AREA_RCX);
	if (reg >= 8 || base >= 8 || index >= 8)
		emit_8(to, 0x40 | (reg & 8) >> 1 | (base & 8) >> 3 | (index & 8) >> 2);
	emit_8(to, 0x8d);
	emit_8(to, (!has_base ? 0 : is_short ? 0x40 : 0x80) | (reg & 7) << 3 | (is_plain ? base & 7 : 4));
	if (!is_plain)
		emit_8(to, (unsigned)access->scale << 6 | (index & 7) << 3 | (base & 7));
	if (is_short)
		emit_8(to, (uint8_t)access->displacement);
	else
		emit_32(to, (uint32_t)access->displacement);
}

static void
set_distance_32(struct emitter *to, uint32_t at, uint32_t target)
{
	const uint32_t distance = target - (at + 4);

	memcpy(to->bytes + at, &distance, sizeof(distance));
}

/* The size that stands for so many bytes. */
static unsigned
size_for(uint32_t bytes)
{
	return bytes <= 8 ? 0 : bytes <= 16 ? 1 : bytes <= 32 ? 2 : 3;
}

/* An access that does not begin with its 8 bytes may end in the next line. */
void
recording_leave_out(uint8_t *low, uint64_t residues)
{
	const uint64_t mask = LEFT_OUT_INDEX;

	for (unsigned size = 0; size < NR_LEFT_OUT_SIZES; size++) {
		for (unsigned index = 0; index <= LEFT_OUT_INDEX; index += 8) {
			const unsigned line = index / SITE_LINE, within = index % SITE_LINE;
			const bool may_cross = within + (8U << size) + 7 > SITE_LINE;
			const bool is_taken =
				residues >> line & 1 || (may_cross && residues >> (line + 1) % CACHE_RESIDUES & 1);

			low[LOW_TAKEN(size) + index] = (uint8_t)(is_taken ? index : ~index);
			low[LOW_NOT_TAKEN(size) + index] = !is_taken;
		}
	}
	memcpy(low + LOW_LEFT_OUT, &mask, sizeof(mask));
}

/* Makes one of two accesses, if all bytes of both are within SITE_LINE. */
static bool
merge_extents(struct site_access *one, const struct site_access *other)
{
	const int64_t away = (int64_t)(other->displacement - one->displacement);
	const int64_t begin = away < 0 ? away : 0, end = away + (int64_t)other->bytes;

	if (one->base != other->base || one->index != other->index || one->scale != other->scale ||
	    one->is_local != other->is_local || away < -SITE_LINE || away > SITE_LINE || end - begin > SITE_LINE ||
	    (int64_t)one->bytes - begin > SITE_LINE)
		return false;
	one->bytes = (uint32_t)((end > (int64_t)one->bytes ? end : (int64_t)one->bytes) - begin);
	one->displacement += (uint64_t)begin;
	return true;
}

/*
 * Accesses beside each other are looked at as one to all of their bytes: those of a site, in any order, within as many
 * as a line has. Frames that are written for it in vain cost less. Returns how many there are then.
 */
static unsigned
group(const struct site *site, struct site_access groups[MOST_FILTERED])
{
	unsigned nr = 0;

	for (unsigned i = 0; i < site->nr_accesses; i++) {
		unsigned k = 0;

		while (k < nr && !merge_extents(&groups[k], &site->accesses[i]))
			k++;
		if (k == nr)
			groups[nr++] = site->accesses[i];
	}
	return nr;
}

/* The entry of an access to an address that is known. */
static uint32_t
entry_of(const struct site_access *access, uint32_t table)
{
	return table + (uint32_t)(access->displacement & LEFT_OUT_INDEX);
}

/* rcx = 0 if the access may touch a sampled line. */
static void
emit_entry_of(struct emitter *to, const struct site *site, const struct site_access *access, const struct aside *aside,
	      bool is_changed, uint32_t low)
{
	const uint32_t table = low + LOW_NOT_TAKEN(size_for(access->bytes));

	if (!is_absolute(access)) {
		emit_lea(to, RCX, site, access, aside, is_changed);
		EMIT(to, 0xc4, 0xe2, 0xf2, 0xf5, 0x0c, 0x25); /* pext rcx, rcx, [mask] */
		emit_32(to, low + LOW_LEFT_OUT);
		EMIT(to, 0x0f, 0xb6, 0x0c, 0xcd); /* movzx ecx, byte [rcx * 8 + table] */
		emit_32(to, table);
	} else {
		EMIT(to, 0x0f, 0xb6, 0x0c, 0x25); /* movzx ecx, byte [entry] */
		emit_32(to, entry_of(access, table));
	}
}

/* A jump to the code that writes the frame, whose distance is set later. */
static void
emit_jump_aside(struct emitter *to, struct aside *aside, const void *opcode, size_t opcode_bytes)
{
	const uint32_t before = aside->jump;

	emit_bytes(to, opcode, opcode_bytes);
	aside->jump = to->at;
	emit_32(to, before);
}

/* Without changing flags: jumps aside if a line of the frame may be sampled. rcx is changed. */
static void
emit_filter(struct emitter *to, const struct site *site, const struct site_access groups[], unsigned nr, uint32_t low,
	    struct aside *aside)
{
	uint32_t jumps[MOST_FILTERED];

	for (unsigned i = 0; i < nr; i++) {
		emit_entry_of(to, site, &groups[i], aside, i > 0, low);
		emit_8(to, JRCXZ);
		if (i + NEAR_ACCESSES < nr)
			EMIT(to, 0x02, 0xeb, 0x05, 0xe9, 0, 0, 0); /* jrcxz to the jmp; jmp over it; jmp */
		emit_8(to, 0);
		jumps[i] = to->at;
	}
	EMIT(to, 0xeb, 0x05); /* jmp over the next one */
	for (unsigned i = 0; i < nr; i++) {
		if (i + NEAR_ACCESSES < nr)
			set_distance_32(to, jumps[i] - 4, to->at);
		else
			land(to, jumps[i]);
	}
	emit_jump_aside(to, aside, "\xe9", 1);
}

/* The same by flags, and the register of aside, which is not rsp. */
static void
emit_filter_by_flags(struct emitter *to, const struct site *site, const struct site_access groups[], unsigned nr,
		     uint32_t low, struct aside *aside)
{
	const unsigned reg = aside->reg;

	for (unsigned i = 0; i < nr; i++) {
		const unsigned size = size_for(groups[i].bytes);

		if (!is_absolute(&groups[i])) {
			emit_lea(to, reg, site, &groups[i], aside, i > 0);
			/* and reg, LEFT_OUT_INDEX */
			if (reg >= 8)
				emit_8(to, 0x41);
			emit_8(to, 0x81);
			emit_8(to, 0xe0 | (reg & 7));
			emit_32(to, LEFT_OUT_INDEX);
			/* cmp [reg + table], its low byte */
			if (reg >= 4)
				emit_8(to, reg < 8 ? 0x40 : 0x45);
			emit_8(to, 0x38);
			emit_8(to, 0x80 | (reg & 7) << 3 | (reg & 7));
			if ((reg & 7) == 4)
				emit_8(to, 0x24);
			emit_32(to, low + LOW_TAKEN(size));
		} else {
			EMIT(to, 0x80, 0x3c, 0x25); /* cmp byte [entry], 0 */
			emit_32(to, entry_of(&groups[i], low + LOW_NOT_TAKEN(size)));
			emit_8(to, 0);
		}
		emit_jump_aside(to, aside, "\x0f\x84", 2); /* je */
	}
}

/* From where the next frame is to be in rcx; that changes. */
static void
emit_frame(struct emitter *to, const struct site *site, uint32_t number)
{
	uint32_t int3;
	unsigned word = 1;

	emit_load(to, RCX, AREA_RECORD);
	for (unsigned reg = 0; reg < NR_REGISTERS; reg++) {
		if (!(site->registers & 1U << reg))
			continue;
		if (reg != RCX) {
			emit_word(to, word++, reg);
			continue;
		}
		/* The register rcx itself says where the frame is, so its value comes from where it was saved. */
		emit_save(to, RDX, AREA_RDX);
		emit_load(to, RDX, AREA_RCX);
		emit_word(to, word++, RDX);
		emit_load(to, RDX, AREA_RDX);
	}
	if (site->kind == SITE_WORK)
		emit_besides(to, site->work, word);
	EMIT(to, 0x48, 0xc7, 0x01); /* mov qword [rcx], header */
	emit_32(to, RECORD_HEADER | (uint32_t)site->nr_words << 20 | number);
	int3 = to->at - 1;
	EMIT(to, 0x48, 0x8d, 0x49); /* lea rcx, [rcx + bytes] */
	emit_8(to, 8U * site->nr_words);
	emit_save(to, RCX, AREA_RECORD);
	EMIT(to, 0x65, 0x0f, 0xb6, 0x0c, 0x25); /* movzx ecx, byte gs:[...] */
	emit_32(to, AREA_RECORD + RECORD_FULL_BYTE);
	emit_8(to, JRCXZ);
	emit_8(to, int3 - (to->at + 1));
}

void
recording_emit(struct emitter *to, const struct sites *sites, uint32_t number)
{
	emit_save(to, RCX, AREA_RCX);
	emit_frame(to, sites_at(sites, number), number);
	emit_load(to, RCX, AREA_RCX);
}

/* mov to, from */
static void
emit_move(struct emitter *to, unsigned target, unsigned source)
{
	emit_8(to, 0x48 | (source & 8) >> 1 | (target & 8) >> 3);
	emit_8(to, 0x89);
	emit_8(to, 0xc0 | (source & 7) << 3 | (target & 7));
}

bool
recording_emit_filter(struct emitter *to, const struct sites *sites, const struct recording_free *may_change,
		      uint64_t low_address, struct aside *aside)
{
	const struct site *site = sites_at(sites, aside->site);
	const uint32_t low = (uint32_t)low_address;
	struct site_access groups[MOST_FILTERED];
	bool needs_register = !may_change->flags;
	unsigned nr, reg = RCX;

	if (!sites->leaves_out || !can_be_left_out(site))
		return false;
	nr = group(site, groups);
	for (unsigned i = 0; i < nr; i++)
		needs_register |= !is_absolute(&groups[i]);
	aside->jump = 0;
	aside->rcx = RCX_THERE;
	aside->is_loaded = needs_register && may_change->is_loaded;
	if (may_change->reg >= 0)
		reg = (unsigned)may_change->reg;
	aside->reg = (uint8_t)reg;
	if (aside->is_loaded)
		emit_save(to, reg, AREA_LOADED);
	if (may_change->reg < 0 && needs_register) {
		aside->rcx = RCX_SAVED;
		emit_save(to, RCX, AREA_RCX);
	} else if (!may_change->flags && reg != RCX) {
		aside->rcx = RCX_IN_REGISTER;
		emit_move(to, reg, RCX);
	}
	if (may_change->flags)
		emit_filter_by_flags(to, site, groups, nr, low, aside);
	else
		emit_filter(to, site, groups, nr, low, aside);
	aside->back = to->at;
	if (aside->rcx == RCX_SAVED)
		emit_load(to, RCX, AREA_RCX);
	else if (aside->rcx == RCX_IN_REGISTER)
		emit_move(to, RCX, reg);
	return true;
}

void
recording_emit_aside(struct emitter *to, const struct sites *sites, const struct aside *aside)
{
	for (uint32_t at = aside->jump, before; at != 0; at = before) {
		memcpy(&before, to->bytes + at, sizeof(before));
		set_distance_32(to, at, to->at);
	}
	if (aside->rcx == RCX_IN_REGISTER)
		emit_save(to, aside->reg, AREA_RCX);
	if (aside->rcx == RCX_THERE)
		recording_emit(to, sites, aside->site);
	else
		emit_frame(to, sites_at(sites, aside->site), aside->site);
	EMIT(to, 0xe9); /* jmp back */
	emit_32(to, aside->back - (to->at + 4));
}
