/* SPDX-License-Identifier: MIT */
/* See line_finder.h. The machine code of a site has no branches but at its end, where it goes to that of the next. */
#include "parent/translate/line_finder.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"
#include "parent/stepping/cache_model.h"

/* From the use of a line to that of the next. */
#define NEXT_LINE (1 << CACHE_NR_ENTRY_BITS)

#define CODE_BYTES ((uint32_t)32 << 20)
#define BYTES_OF_ACCESS 256 /* at most; of all else of a site as well */

/* The low bits count how often a site was found, up to SEEN_ENOUGH. SEEN_AGAIN: once it came directly after itself. */
#define SEEN_ENOUGH 7
#define SEEN_AGAIN 8

/*
 * code: as it is executed. Offset 0 is where code returns to, entry where it is called, next goes to the next frame
 * emitter: as it is written
 * offsets: by the number of the site; 0: it has no code
 * seen: likewise
 */
struct line_finder {
	const struct sites *sites;
	unsigned line_shift;
	uint64_t nr_ways, residues;
	const uint8_t *code;
	struct emitter emitter;
	uint32_t entry, next;
	uint32_t *offsets;
	uint8_t *seen;
};

/* ---- without code ---- */

/*
 * Loops come here again and again. If a site uses the same lines as the frame before, which was of the same site, and
 * a set has room for all of them, nothing in the caches changes: then what was found is dropped. Returns whether the
 * frame before was of the same site.
 */
static bool
find_lines(const struct line_finder *finder, struct line_search *search, const struct site *site, uint32_t number)
{
	const unsigned shift = finder->line_shift;
	const bool is_again = search->last == number + 1;
	uint64_t *to = search->to, differ = !is_again;

	search->last = number + 1;
	for (unsigned i = 0; i < site->nr_accesses; i++) {
		const struct site_access *access = &site->accesses[i];
		const uint64_t address = site_address(access, search->frame, search->fs_base) | search->space;
		const uint64_t line = address >> shift, use = CACHE_USE(line, access->is_store);
		const uint64_t has_second = (address + access->bytes - 1) >> shift != line;

		if (has_second)
			line_search_split(search, finder->sites, number, access, address, shift, finder->residues);
		to[0] = use;
		to[1] = use + NEXT_LINE;
		to += 1 + has_second;
		differ |= search->lines[i] ^ (use + has_second);
		search->lines[i] = use + has_second;
	}
	if (differ || (uint64_t)(to - search->to) > finder->nr_ways)
		search->to = to;
	return is_again;
}

static bool
is_sampled(const struct line_finder *finder, uint64_t line)
{
	return finder->residues >> line % CACHE_RESIDUES & 1;
}

/* The same of sampled lines, of which none is dropped. */
static void
find_sampled(const struct line_finder *finder, struct line_search *search, const struct site *site, uint32_t number)
{
	for (unsigned i = 0; i < site->nr_accesses; i++) {
		const struct site_access *access = &site->accesses[i];
		const uint64_t address = site_address(access, search->frame, search->fs_base) | search->space;
		const uint64_t line = address >> finder->line_shift;
		const bool has_second = (address + access->bytes - 1) >> finder->line_shift != line;

		if (is_sampled(finder, line))
			*search->to++ = CACHE_USE(line, access->is_store);
		if (has_second)
			line_search_split(search, finder->sites, number, access, address, finder->line_shift,
					  finder->residues);
		if (has_second && is_sampled(finder, line + 1))
			*search->to++ = CACHE_USE(line + 1, access->is_store);
	}
}

/* ---- code ---- */

/*
 * rdi: frame       rsi: to                      r11: search
 * rdx: differ      r10: to, where it began      r9: offsets
 * rax, rcx, r8: of each access                  rbx: where the next origin goes, where sites have causes
 *
 * Where lines are sampled, rdx has their residues, and r10 those of lines that are sampled, or whose next one is.
 */
enum { RBX = 3, RSI = 6, RDI = 7, R8 = 8, R11 = 11 };

/* OPCODE reg, [base + offset], or the other way round; base: not rsp, nor r12 */
static void
emit_based(struct emitter *to, unsigned opcode, unsigned reg, unsigned base, int offset)
{
	const bool is_short = offset == (int8_t)offset;

	emit_8(to, 0x48 | (reg & 8) >> 1 | (base & 8) >> 3);
	emit_8(to, opcode);
	emit_8(to, (is_short ? 0x40 : 0x80) | (reg & 7) << 3 | (base & 7));
	if (is_short)
		emit_8(to, (unsigned)offset);
	else
		emit_32(to, (uint32_t)offset);
}

/* r11 is in the middle of the search, so that most offsets of its fields are short. */
static void
emit_search(struct emitter *to, unsigned opcode, unsigned reg, int offset)
{
	emit_based(to, opcode, reg, R11, offset);
}

#define SEARCH(field) ((int)offsetof(struct line_search, field) - (int)offsetof(struct line_search, lines))

/* jae or ja to where code returns to */
static void
emit_return_if(struct emitter *to, unsigned condition)
{
	emit_8(to, 0x0f);
	emit_8(to, condition);
	emit_32(to, 0 - (to->at + 4));
}

/* Goes to the code of the frame at rdi, or back. Uses are its site's from here on. */
static void
emit_next(const struct line_finder *finder, struct emitter *to)
{
	emit_search(to, 0x3b, RDI, SEARCH(end)); /* cmp */
	emit_return_if(to, 0x83);
	emit_search(to, 0x3b, RSI, SEARCH(room));
	emit_return_if(to, 0x87);
	EMIT(to, 0x8b, 0x07,                /* mov eax, [rdi] */
	     0x25, 0xff, 0xff, 0x0f, 0x00); /* and eax, 0xfffff */
	if (finder->sites->has_causes && !finder->residues) {
		EMIT(to, 0x89, 0x33, 0x89, 0x83); /* mov [rbx], esi; mov [rbx + apart], eax */
		emit_32(to, 4 * USES_ORIGINS_ROOM);
	}
	EMIT(to, 0x41, 0x8b, 0x04, 0x81); /* mov eax, [r9 + rax * 4] */
	emit_search(to, 0x03, RAX, SEARCH(code));
	EMIT(to, 0xff, 0xe0); /* jmp rax */
}

/* void entry(uint64_t lines[], const uint32_t *offsets) */
static void
emit_ends(struct line_finder *finder)
{
	struct emitter *to = &finder->emitter;

	emit_search(to, 0x89, RDI, SEARCH(frame));
	emit_search(to, 0x89, RSI, SEARCH(to));
	if (finder->sites->has_causes) {
		emit_search(to, 0x89, RBX, SEARCH(origins));
		EMIT(to, 0x5b); /* pop rbx */
	}
	EMIT(to, 0xc3);
	finder->entry = to->at;
	if (finder->sites->has_causes)
		EMIT(to, 0x53);                       /* push rbx */
	EMIT(to, 0x49, 0x89, 0xfb, 0x49, 0x89, 0xf1); /* mov r11, rdi; mov r9, rsi */
	emit_search(to, 0x8b, RDI, SEARCH(frame));
	emit_search(to, 0x8b, RSI, SEARCH(to));
	if (finder->sites->has_causes)
		emit_search(to, 0x8b, RBX, SEARCH(origins));
	if (finder->residues) {
		emit_constant(to, RDX, finder->residues);
		EMIT(to, 0x49, 0xba); /* mov r10, either */
		emit_64(to, finder->residues | finder->residues >> 1 | finder->residues << (CACHE_RESIDUES - 1));
	}
	finder->next = to->at;
	emit_next(finder, to);
}

/* to rax */
static void
emit_address(struct emitter *to, const struct site_access *access)
{
	const uint64_t displacement = access->displacement;
	const bool is_small = (int64_t)displacement == (int32_t)displacement;

	if (!access->base && !access->index) {
		emit_constant(to, RAX, displacement);
	} else {
		emit_based(to, 0x8b, RAX, RDI, 8 * (access->base ? access->base : access->index)); /* mov */
		if (!access->base) {
			EMIT(to, 0x48, 0xc1, 0xe0); /* shl rax, scale */
			emit_8(to, access->scale);
		} else if (access->index) {
			emit_based(to, 0x8b, R8, RDI, 8 * access->index);
			EMIT(to, 0x4a, 0x8d, 0x04); /* lea rax, [rax + r8 * scale] */
			emit_8(to, access->scale << 6);
		}
		if (is_small && displacement) {
			EMIT(to, 0x48, 0x05); /* add rax, displacement */
			emit_32(to, (uint32_t)displacement);
		} else if (!is_small) {
			emit_constant(to, RCX, displacement);
			EMIT(to, 0x48, 0x01, 0xc8); /* add rax, rcx */
		}
	}
	if (access->address_mask != UINT64_MAX)
		EMIT(to, 0x89, 0xc0); /* mov eax, eax */
	if (access->is_local)
		emit_search(to, 0x03, RAX, SEARCH(fs_base)); /* add */
	emit_search(to, 0x0b, RAX, SEARCH(space));           /* or */
}

/*
 * The use of the line at rax goes to [rsi + 8 * i], and stays in rcx. If the next line is used, too, the code jumps
 * away: returns where the distance of that jump stands; 0: there is no jump.
 */
static uint32_t
emit_use(struct emitter *to, const struct site_access *access, unsigned shift, int i)
{
	const uint32_t line_bytes = UINT32_C(1) << shift;

	EMIT(to, 0x48, 0x89, 0xc1, 0x48, 0xc1, 0xe9); /* mov rcx, rax; shr rcx, shift */
	emit_8(to, shift);
	EMIT(to, 0x48, 0x8d, 0x0c, 0x8d); /* lea rcx, [rcx * 4 + CACHE_USE(0, is_store)] */
	emit_32(to, (uint32_t)CACHE_USE(0, access->is_store));
	emit_based(to, 0x89, RCX, RSI, 8 * i); /* mov */
	if (access->bytes == 1)
		return 0;
	EMIT(to, 0x25); /* and eax, line_bytes - 1 */
	emit_32(to, line_bytes - 1);
	EMIT(to, 0x3d); /* cmp eax, line_bytes - bytes */
	emit_32(to, line_bytes - access->bytes);
	EMIT(to, 0x0f, 0x87, 0, 0, 0, 0); /* ja */
	return to->at - 4;
}

static void
set_distance(struct emitter *to, uint32_t at, uint32_t target)
{
	const uint32_t distance = target - (at + 4);

	memcpy(to->bytes + at, &distance, sizeof(distance));
}

/* Counts the splits of an access whose place in the line is rax. Changes rax and r8. */
static void
emit_splits(const struct line_finder *finder, struct emitter *to, uint32_t number, const struct site_access *access)
{
	const unsigned weight = line_finder_weight(finder->residues);

	if (access->splits) {
		EMIT(to, 0x49, 0xb8); /* mov r8, the end of the line */
		emit_64(to, (uintptr_t)(access->splits + (UINT64_C(1) << finder->line_shift)));
		EMIT(to, 0x48, 0xf7, 0xd8, 0x41, 0x0f, 0xb6, 0x04, 0x00); /* neg rax; movzx eax, byte [r8 + rax] */
		EMIT(to, 0x6b, 0xc0);                                     /* imul eax, eax, weight */
		emit_8(to, weight);
	} else {
		emit_constant(to, RAX, weight);
	}
	emit_search(to, 0x01, RAX, SEARCH(splits)); /* add */
	EMIT(to, 0x49, 0xb8);                       /* mov r8, the site's */
	emit_64(to, (uintptr_t)&finder->sites->splits[number]);
	EMIT(to, 0x49, 0x01, 0x00); /* add [r8], rax */
}

/* Stores the use of the next line, and moves rsi, so that later uses follow it. Then rcx is the first use plus 1. */
static void
emit_second(struct emitter *to, int i, uint32_t back)
{
	EMIT(to, 0x48, 0x83, 0xc1, NEXT_LINE, 0x48, 0x83, 0xc6, 0x08); /* add rcx, NEXT_LINE; add rsi, 8 */
	emit_based(to, 0x89, RCX, RSI, 8 * i);
	EMIT(to, 0x48, 0x83, 0xe9, NEXT_LINE - 1, 0xe9); /* sub rcx, NEXT_LINE - 1; jmp */
	emit_32(to, back - (to->at + 4));
}

/* Collects in rdx whether it differs from the one before. */
static void
emit_compare(struct emitter *to, int i)
{
	emit_search(to, 0x8b, R8, 8 * i);
	emit_search(to, 0x89, RCX, 8 * i);
	EMIT(to, 0x49, 0x31, 0xc8, 0x4c, 0x09, 0xc2); /* xor r8, rcx; or rdx, r8 */
}

static void
emit_begin(struct emitter *to, uint32_t number, bool may_drop)
{
	if (may_drop) {
		EMIT(to, 0x49, 0x89, 0xf2); /* mov r10, rsi */
		emit_search(to, 0x8b, RDX, SEARCH(last));
		EMIT(to, 0x48, 0x81, 0xf2); /* xor rdx, number + 1 */
		emit_32(to, number + 1);
	}
	EMIT(to, 0x49, 0xc7, 0x43); /* mov qword [r11 + last], number + 1 */
	emit_8(to, (unsigned)SEARCH(last));
	emit_32(to, may_drop ? number + 1 : 0);
}

/* Addresses of 64 or of 32 bits. may_drop: it may come with the same lines at once. */
static void
compile(struct line_finder *finder, const struct site *site, uint32_t number, bool may_drop)
{
	struct emitter *to = &finder->emitter;
	uint32_t jumps[SITE_MAX_ACCESSES], behind[SITE_MAX_ACCESSES];
	const uint32_t begin = to->at;

	if (to->at + BYTES_OF_ACCESS * (site->nr_accesses + 1U) > CODE_BYTES)
		return;
	emit_begin(to, number, may_drop);
	for (int i = 0; i < site->nr_accesses; i++) {
		emit_address(to, &site->accesses[i]);
		jumps[i] = emit_use(to, &site->accesses[i], finder->line_shift, i);
		behind[i] = to->at;
		if (may_drop)
			emit_compare(to, i);
	}
	EMIT(to, 0x48, 0x81, 0xc6); /* add rsi, uses */
	emit_32(to, 8U * site->nr_accesses);
	if (may_drop)
		EMIT(to, 0x48, 0x85, 0xd2, 0x49, 0x0f, 0x44, 0xf2); /* test rdx, rdx; cmovz rsi, r10 */
	if (finder->sites->has_causes && may_drop)
		EMIT(to, 0x48, 0x8d, 0x43, 0x04, 0x48, 0x0f, 0x45, 0xd8); /* lea rax, [rbx + 4]; cmovnz rbx, rax */
	else if (finder->sites->has_causes)
		EMIT(to, 0x48, 0x83, 0xc3, 0x04); /* add rbx, 4 */
	EMIT(to, 0x48, 0x83, 0xc7);               /* add rdi, bytes */
	emit_8(to, 8U * site->nr_words);
	emit_next(finder, to);
	for (int i = 0; i < site->nr_accesses; i++) {
		if (jumps[i]) {
			set_distance(to, jumps[i], to->at);
			emit_splits(finder, to, number, &site->accesses[i]);
			emit_second(to, i, behind[i]);
		}
	}
	finder->offsets[number] = begin;
}

/* The use of the line in rcx, if that is sampled. */
static void
emit_sampled_line(const struct line_finder *finder, struct emitter *to, uint32_t site, bool is_store)
{
	uint32_t skip;

	EMIT(to, 0x48, 0x0f, 0xa3, 0xca, 0x73, 0, 0x4c, 0x8d, 0x04, 0x8d); /* bt rdx, rcx; jnc; lea r8, [use] */
	skip = to->at - 4;
	emit_32(to, (uint32_t)CACHE_USE(0, is_store));
	EMIT(to, 0x4c, 0x89, 0x06); /* mov [rsi], r8 */
	if (finder->sites->has_causes) {
		EMIT(to, 0x89, 0x33, 0xc7, 0x83); /* mov [rbx], esi; mov dword [rbx + apart], site */
		emit_32(to, 4 * USES_ORIGINS_ROOM);
		emit_32(to, site);
		EMIT(to, 0x48, 0x83, 0xc3, 0x04); /* add rbx, 4 */
	}
	EMIT(to, 0x48, 0x83, 0xc6, 0x08); /* add rsi, 8 */
	to->bytes[skip - 1] = (uint8_t)(to->at - skip);
}

static void
emit_sampled_lines(const struct line_finder *finder, struct emitter *to, uint32_t site,
		   const struct site_access *access, uint32_t back)
{
	const uint32_t line_bytes = UINT32_C(1) << finder->line_shift;
	uint32_t begin;

	emit_sampled_line(finder, to, site, access->is_store);
	EMIT(to, 0x25); /* and eax, line_bytes - 1 */
	emit_32(to, line_bytes - 1);
	EMIT(to, 0x3d); /* cmp eax, line_bytes - bytes */
	emit_32(to, line_bytes - access->bytes);
	EMIT(to, 0x0f, 0x86); /* jbe */
	emit_32(to, back - (to->at + 4));
	EMIT(to, 0x48, 0x0f, 0xa3, 0xca, 0x73, 0);         /* bt rdx, rcx; jnc */
	EMIT(to, 0xf6, 0xc1, CACHE_RESIDUES - 1, 0x74, 0); /* test cl, CACHE_RESIDUES - 1; jz */
	begin = to->at;
	emit_splits(finder, to, site, access);
	to->bytes[begin - 1] = (uint8_t)(to->at - begin);
	to->bytes[begin - 6] = (uint8_t)(to->at - (begin - 5));
	EMIT(to, 0x48, 0xff, 0xc1); /* inc rcx */
	emit_sampled_line(finder, to, site, access->is_store);
	EMIT(to, 0xe9); /* jmp */
	emit_32(to, back - (to->at + 4));
}

/* Addresses of 64 bits: lines that are not sampled take the short way. */
static void
compile_sampled(struct line_finder *finder, const struct site *site, uint32_t number)
{
	struct emitter *to = &finder->emitter;
	uint32_t jumps[SITE_MAX_ACCESSES], behind[SITE_MAX_ACCESSES];
	const uint32_t begin = to->at;

	if (to->at + BYTES_OF_ACCESS * (site->nr_accesses + 1U) > CODE_BYTES)
		return;
	for (int i = 0; i < site->nr_accesses; i++) {
		emit_address(to, &site->accesses[i]);
		EMIT(to, 0x48, 0x89, 0xc1, 0x48, 0xc1, 0xe9); /* mov rcx, rax; shr rcx, line_shift */
		emit_8(to, finder->line_shift);
		EMIT(to, 0x49, 0x0f, 0xa3, 0xca, 0x0f, 0x82, 0, 0, 0, 0); /* bt r10, rcx; jc */
		jumps[i] = to->at - 4;
		behind[i] = to->at;
	}
	EMIT(to, 0x48, 0x83, 0xc7); /* add rdi, bytes */
	emit_8(to, 8U * site->nr_words);
	emit_next(finder, to);
	for (int i = 0; i < site->nr_accesses; i++) {
		set_distance(to, jumps[i], to->at);
		emit_sampled_lines(finder, to, number, &site->accesses[i], behind[i]);
	}
	finder->offsets[number] = begin;
}

/* No page is both writable and executable, which some systems forbid. */
static void
map_code(struct line_finder *finder)
{
	int fd = memfd_create("rot", MFD_CLOEXEC);
	void *written, *executed;

	if (fd < 0)
		return;
	if (ftruncate(fd, CODE_BYTES) == 0) {
		written = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		executed = mmap(NULL, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
		if (written != MAP_FAILED && executed != MAP_FAILED) {
			finder->emitter.bytes = written;
			finder->code = executed;
		} else {
			if (written != MAP_FAILED)
				munmap(written, CODE_BYTES);
			if (executed != MAP_FAILED)
				munmap(executed, CODE_BYTES);
		}
	}
	close(fd);
}

struct line_finder *
line_finder_new(const struct sites *sites, unsigned line_shift, uint64_t nr_ways, uint64_t residues, bool compiles)
{
	struct line_finder *finder = rot_calloc(1, sizeof(*finder));

	*finder = (struct line_finder){
		.sites = sites, .line_shift = line_shift, .nr_ways = nr_ways, .residues = residues};
	if (compiles)
		map_code(finder);
	if (!finder->code)
		return finder;
	emit_ends(finder);
	finder->offsets = rot_calloc(RECORD_MAX_SITES, sizeof(*finder->offsets));
	finder->seen = rot_calloc(RECORD_MAX_SITES, sizeof(*finder->seen));
	return finder;
}

void
line_finder_delete(struct line_finder *finder)
{
	if (!finder)
		return;
	if (finder->code) {
		munmap(finder->emitter.bytes, CODE_BYTES);
		munmap((void *)(uintptr_t)finder->code, CODE_BYTES);
	}
	free(finder->offsets);
	free(finder->seen);
	free(finder);
}

static void
call_code(const struct line_finder *finder, struct line_search *search)
{
	void (*entry)(uint64_t *, const uint32_t *);
	const uint8_t *const at = finder->code + finder->entry;

	memcpy(&entry, &at, sizeof(entry));
	search->code = finder->code;
	entry(search->lines, finder->offsets);
}

/* It gets code when it has come some times, and it is known whether it comes again at once. */
static void
find_first(struct line_finder *finder, struct line_search *search, const struct site *site, uint32_t number)
{
	uint8_t *seen = finder->code ? &finder->seen[number] : NULL;
	const uint64_t *const first = search->to;
	bool is_again = false;

	if (finder->residues)
		find_sampled(finder, search, site, number);
	else
		is_again = find_lines(finder, search, site, number);
	search->frame += site->nr_words;
	if (finder->sites->has_causes && search->to != first)
		search->origins = uses_put_origin(search->origins, first, number);
	if (!seen || *seen == SEEN_ENOUGH)
		return;
	*seen |= is_again ? SEEN_AGAIN : 0;
	if ((++*seen & SEEN_ENOUGH) == SEEN_ENOUGH) {
		if (finder->residues)
			compile_sampled(finder, site, number);
		else
			compile(finder, site, number,
				(*seen & SEEN_AGAIN) && 2U * site->nr_accesses <= finder->nr_ways);
		*seen = SEEN_ENOUGH;
	}
}

const struct site *
line_finder_run(struct line_finder *finder, struct line_search *search)
{
	while (search->frame < search->end && search->to <= search->room) {
		const uint32_t number = RECORD_SITE(search->frame[0]);
		const struct site *site = sites_find(finder->sites, number);

		if (!site)
			search->end = search->frame;
		if (!site || !site->is_repeatable || UINT64_C(1) << finder->line_shift < SITE_LINE)
			return site;
		if (finder->code && finder->offsets[number])
			call_code(finder, search);
		else
			find_first(finder, search, site, number);
	}
	return NULL;
}
