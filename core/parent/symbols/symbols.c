/* SPDX-License-Identifier: MIT */
/* See symbols.h: opens files for their symbols, once each, and reads what they hold. Lines are in symbol_lines.c. */
#include "parent/symbols/symbol_file.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "nearest.h"
#include "parent/symbols/ordered.h"
#include "parent/symbols/plain_name.h"
#include "parent/symbols/unwind.h"

#define DEBUGINFOD "DEBUGINFOD_URLS"

struct symbol_files {
	struct symbol_file **files;
	size_t nr_files;
};

/* ---- lists of ranges ---- */

void
symbol_ranges_add(struct symbol_ranges *ranges, const struct symbol_range *range)
{
	ranges->ranges = rot_grow(ranges->ranges, ranges->nr_ranges, sizeof(*ranges->ranges));
	ranges->ranges[ranges->nr_ranges++] = *range;
}

void
symbol_ranges_clear(struct symbol_ranges *ranges)
{
	free(ranges->ranges);
	*ranges = (struct symbol_ranges){0};
}

/* Functions come before sizeless labels, global names before local ones, nanosleep before __nanosleep. */
static int
compare_ranges(const void *a, const void *b)
{
	const struct symbol_range *left = a, *right = b;
	int order = (left->address > right->address) - (left->address < right->address);

	if (order == 0)
		order = (left->size == 0) - (right->size == 0);
	if (order == 0)
		order = right->is_global - left->is_global;
	if (order == 0 && left->name && right->name)
		order = (int)strspn(left->name, "_") - (int)strspn(right->name, "_");
	if (order == 0 && left->name && right->name)
		order = strcmp(left->name, right->name);
	return order;
}

void
symbol_ranges_sort(struct symbol_ranges *ranges)
{
	uint64_t reach = 0;

	if (ranges->nr_ranges > 0)
		qsort(ranges->ranges, ranges->nr_ranges, sizeof(*ranges->ranges), compare_ranges);
	for (size_t i = 0; i < ranges->nr_ranges; i++) {
		struct symbol_range *range = &ranges->ranges[i];

		reach = range->address + range->size > reach ? range->address + range->size : reach;
		range->reach = reach;
	}
}

void
symbol_ranges_order(struct symbol_ranges *ranges)
{
	size_t nr_kept = 0;

	symbol_ranges_sort(ranges);
	for (size_t i = 0; i < ranges->nr_ranges; i++)
		if (nr_kept == 0 || ranges->ranges[nr_kept - 1].address != ranges->ranges[i].address)
			ranges->ranges[nr_kept++] = ranges->ranges[i];
	ranges->nr_ranges = nr_kept;
}

const struct symbol_range *
symbol_ranges_before(const struct symbol_ranges *ranges, uint64_t address)
{
	const size_t behind = ORDERED_UP_TO(ranges->ranges, ranges->nr_ranges, address, address);

	return behind > 0 ? &ranges->ranges[behind - 1] : NULL;
}

/* ---- the content of a file ---- */

bool
symbol_file_segment(const struct symbol_file *file, uint64_t address, GElf_Phdr *segment)
{
	size_t nr_segments;

	if (elf_getphdrnum(file->elf, &nr_segments) != 0)
		return false;
	for (size_t i = 0; i < nr_segments; i++)
		if (gelf_getphdr(file->elf, (int)i, segment) && segment->p_type == PT_LOAD &&
		    address - segment->p_vaddr < segment->p_filesz)
			return true;
	return false;
}

Elf_Scn *
symbol_file_section(const struct symbol_file *file, const char *name, GElf_Shdr *header)
{
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names) != 0)
		return NULL;
	for (Elf_Scn *section = elf_nextscn(file->elf, NULL); section; section = elf_nextscn(file->elf, section)) {
		const char *own = gelf_getshdr(section, header) ? elf_strptr(file->elf, names, header->sh_name) : NULL;

		if (own && strcmp(own, name) == 0)
			return section;
	}
	return NULL;
}

const char *
symbols_library_name(const struct symbol_file *file)
{
	GElf_Shdr header;
	Elf_Scn *section = symbol_file_section(file, ".dynamic", &header);
	Elf_Data *data = section && header.sh_type == SHT_DYNAMIC ? elf_getdata(section, NULL) : NULL;
	GElf_Dyn entry;

	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
		if (entry.d_tag == DT_SONAME)
			return elf_strptr(file->elf, header.sh_link, entry.d_un.d_val);
	return NULL;
}

/* Does a function of that name load libraries or start programs? */
static bool
is_of_loading(const char *function)
{
	static const char *const names[] = {
		"dlopen", "dlmopen", "system", "popen", "wordexp", "fexecve", "posix_spawn", "posix_spawnp",
	};
	static const char *const families[] = {"exec", "_gfortran_system", "_gfortran_execute_command_line"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(function, names[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (strncmp(function, families[i], strlen(families[i])) == 0)
			return true;
	return false;
}

/* Does the library load plugins of its own, or start what the program asks it for by name? */
static bool
is_runtime(const struct symbol_file *file)
{
	static const char *const libraries[] = {"libgomp.so.", "libomp.so.", "libiomp5.so", "libgfortran.so.",
						"libselinux.so."};
	const char *name = symbols_library_name(file);

	for (size_t i = 0; name && i < sizeof(libraries) / sizeof(*libraries); i++)
		if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
			return true;
	return false;
}

bool
symbols_can_load(const struct symbol_file *file)
{
	GElf_Shdr header;
	Elf_Scn *section = symbol_file_section(file, ".dynsym", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;

	if (!data || is_runtime(file))
		return !data;
	for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(file->elf, header.sh_link, symbol.st_name);

		if (symbol.st_shndx == SHN_UNDEF && name && is_of_loading(name))
			return true;
	}
	return false;
}

bool
symbols_file_offset(struct symbol_file *file, uint64_t address, uint64_t *offset)
{
	GElf_Phdr segment;

	if (!symbol_file_segment(file, address, &segment))
		return false;
	*offset = address - segment.p_vaddr + segment.p_offset;
	return true;
}

bool
symbols_address(const struct symbol_file *file, uint64_t offset, uint64_t *address)
{
	GElf_Phdr segment;
	size_t nr_segments;

	if (elf_getphdrnum(file->elf, &nr_segments) != 0)
		return false;
	for (size_t i = 0; i < nr_segments; i++) {
		if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X) || offset - segment.p_offset >= segment.p_filesz)
			continue;
		*address = offset - segment.p_offset + segment.p_vaddr;
		return true;
	}
	return false;
}

const uint8_t *
symbols_bytes(struct symbol_file *file, uint64_t address, uint64_t size)
{
	GElf_Phdr segment;
	uint64_t offset;

	if (!symbol_file_segment(file, address, &segment) || size > segment.p_filesz - (address - segment.p_vaddr))
		return NULL;
	offset = address - segment.p_vaddr + segment.p_offset;
	return offset <= file->nr_bytes && size <= file->nr_bytes - offset ? file->bytes + offset : NULL;
}

/* ---- opening ---- */

char *
debuginfod_hide(void)
{
	const char *urls = getenv(DEBUGINFOD);
	char *kept = urls ? rot_strdup(urls) : NULL;

	unsetenv(DEBUGINFOD);
	return kept;
}

void
debuginfod_show(char *urls)
{
	if (urls)
		setenv(DEBUGINFOD, urls, 1);
	free(urls);
}

bool
symbols_is_code(const struct symbol_file *file, uint64_t address)
{
	GElf_Phdr segment;

	return symbol_file_segment(file, address, &segment) && (segment.p_flags & PF_X);
}

/*
 * Labels without a type are functions if somebody wrote them in assembler: those of the compiler have no symbols. Local
 * labels begin with a dot, but so do functions that clang makes of OpenMP's parallel regions.
 */
static void
add_function(struct symbol_file *file, int index)
{
	GElf_Sym symbol;
	GElf_Addr address;
	GElf_Word section = SHN_UNDEF;
	const char *name = dwfl_module_getsym_info(file->module, index, &symbol, &address, &section, NULL, NULL);
	int type = GELF_ST_TYPE(symbol.st_info);
	struct symbol_range range;

	if (!name || name[0] == '\0' || (name[0] == '.' && type != STT_FUNC) || section == SHN_UNDEF ||
	    section == SHN_ABS)
		return;
	if (type != STT_FUNC && type != STT_GNU_IFUNC && (type != STT_NOTYPE || symbol.st_size != 0))
		return;
	range = (struct symbol_range){.address = address - file->bias,
				      .size = symbol.st_size,
				      .name = name,
				      .is_global = GELF_ST_BIND(symbol.st_info) != STB_LOCAL,
				      .is_resolver = type == STT_GNU_IFUNC};
	if (symbols_is_code(file, range.address) && symbols_file_offset(file, range.address, &range.file_offset))
		symbol_ranges_add(&file->functions, &range);
}

void
symbols_find_data(struct symbol_file *file, struct symbol_ranges *variables, struct symbol_ranges *sections)
{
	const int nr_symbols = dwfl_module_getsymtab(file->module);
	size_t names;
	GElf_Shdr header;

	for (int i = 1; i < nr_symbols; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section = SHN_UNDEF;
		const char *name = dwfl_module_getsym_info(file->module, i, &symbol, &address, &section, NULL, NULL);

		if (name && *name && symbol.st_size > 0 && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT &&
		    section != SHN_UNDEF && section != SHN_ABS)
			symbol_ranges_add(variables, &(struct symbol_range){.address = address - file->bias,
									    .size = symbol.st_size,
									    .name = name,
									    .is_global = GELF_ST_BIND(symbol.st_info) !=
											 STB_LOCAL});
	}
	symbol_ranges_order(variables);
	for (Elf_Scn *section = elf_getshdrstrndx(file->elf, &names) == 0 ? elf_nextscn(file->elf, NULL) : NULL;
	     section; section = elf_nextscn(file->elf, section)) {
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(file->elf, names, header.sh_name) : NULL;

		if (name && (header.sh_flags & SHF_ALLOC) && !(header.sh_flags & (SHF_EXECINSTR | SHF_TLS)))
			symbol_ranges_add(sections, &(struct symbol_range){.address = header.sh_addr,
									   .size = header.sh_size,
									   .name = name});
	}
	symbol_ranges_order(sections);
}

static void
file_delete(struct symbol_file *file)
{
	if (file->dwfl)
		dwfl_end(file->dwfl);
	symbol_ranges_clear(&file->functions);
	symbol_ranges_clear(&file->frames);
	for (size_t i = 0; i < file->plt.nr_ranges; i++)
		free((char *)file->plt.ranges[i].name);
	symbol_ranges_clear(&file->plt);
	unwind_rows_delete(file->unwind_rows);
	free(file->path);
	free(file);
}

static int
file_read(struct symbol_file *file, struct rot_error *err)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
						 .find_debuginfo = dwfl_standard_find_debuginfo,
						 .section_address = dwfl_offline_section_address};
	int fd = open(file->path, O_RDONLY | O_CLOEXEC), nr_symbols;

	if (fd < 0 || fstat(fd, &file->status) < 0) {
		rot_error_set(err, errno, "cannot read '%s' for its symbols", file->path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	file->dwfl = dwfl_begin(&callbacks);
	file->module = file->dwfl ? dwfl_report_offline(file->dwfl, "", file->path, fd) : NULL;
	if (!file->module) {
		close(fd);
		return rot_error_set(err, 0, "cannot read '%s' for its symbols: %s", file->path, dwfl_errmsg(-1));
	}
	dwfl_report_end(file->dwfl, NULL, NULL);
	file->elf = dwfl_module_getelf(file->module, &file->bias);
	file->bytes = file->elf ? (const uint8_t *)elf_rawfile(file->elf, &file->nr_bytes) : NULL;
	if (!file->bytes || gelf_getclass(file->elf) != ELFCLASS64)
		return rot_error_set(err, 0, "cannot read '%s' for its symbols: no 64-bit ELF file", file->path);
	nr_symbols = dwfl_module_getsymtab(file->module);
	for (int i = 1; i < nr_symbols; i++)
		add_function(file, i);
	symbol_ranges_sort(&file->functions);
	return 0;
}

struct symbol_files *
symbol_files_new(void)
{
	return rot_calloc(1, sizeof(struct symbol_files));
}

void
symbol_files_delete(struct symbol_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->nr_files; i++)
		file_delete(files->files[i]);
	free(files->files);
	free(files);
}

/* The file was opened before and is still the same. */
static bool
is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

struct symbol_file *
symbol_file_open(struct symbol_files *files, const char *path, struct rot_error *err)
{
	struct symbol_file *file;
	struct stat status;
	char *urls;
	int rc;

	if (stat(path, &status) < 0) {
		rot_error_set(err, errno, "cannot read '%s' for its symbols", path);
		return NULL;
	}
	for (size_t i = 0; i < files->nr_files; i++)
		if (is_same_file(&files->files[i]->status, &status))
			return files->files[i];
	file = rot_calloc(1, sizeof(*file));
	file->path = rot_strdup(path);
	urls = debuginfod_hide();
	rc = file_read(file, err);
	debuginfod_show(urls);
	if (rc < 0) {
		file_delete(file);
		return NULL;
	}
	rot_add(files->files, files->nr_files) = file;
	return file;
}

struct symbol_file *
symbol_file_open_same(struct symbol_files *files, const char *path, ino_t inode)
{
	struct stat status;
	struct rot_error err;

	if (stat(path, &status) < 0 || status.st_ino != inode || !S_ISREG(status.st_mode))
		return NULL;
	return symbol_file_open(files, path, &err);
}

/* ---- functions as .eh_frame describes them, which a stripped file keeps for its exceptions ---- */

#define RSP_COLUMN 7 /* in DWARF's numbers. Source: System V ABI for x86-64, 3.6.2 */
#define RETURN_ADDRESS_BYTES 8

/* How pointers are written. Source: Linux Standard Base, "DWARF Extensions". */
enum {
	ENCODED_ABSOLUTE = 0,
	ENCODED_UDATA4 = 3,
	ENCODED_SDATA4 = 11,
	ENCODED_SDATA8 = 12,
	ENCODED_FORM = 15,
	ENCODED_RELATIVE = 0x10,
	ENCODED_HOW = 0x70
};

/* The section: where its first byte stands when loaded. */
struct frame_section {
	Elf_Data data;
	uint64_t address;
};

/* Reads one pointer before end and moves *at behind it; false: not of a form that compilers for x86-64 use. */
static bool
pointer_read(const struct frame_section *section, unsigned encoding, const uint8_t **at, const uint8_t *end,
	     uint64_t *value)
{
	uint64_t address = section->address + (uint64_t)(*at - (const uint8_t *)section->data.d_buf);
	unsigned form = encoding & ENCODED_FORM;
	bool is_short = form == ENCODED_UDATA4 || form == ENCODED_SDATA4;
	int32_t small;

	if ((!is_short && form != ENCODED_ABSOLUTE && form != ENCODED_SDATA8) ||
	    end - *at < (ptrdiff_t)(is_short ? sizeof(small) : sizeof(*value)))
		return false;
	if (is_short) {
		memcpy(&small, *at, sizeof(small));
		*value = form == ENCODED_SDATA4 ? (uint64_t)(int64_t)small : (uint32_t)small;
	} else {
		memcpy(value, *at, sizeof(*value));
	}
	*at += is_short ? sizeof(small) : sizeof(*value);
	if ((encoding & ENCODED_HOW) == ENCODED_RELATIVE)
		*value += address;
	return (encoding & ENCODED_HOW) == 0 || (encoding & ENCODED_HOW) == ENCODED_RELATIVE;
}

/* The encoding of the pointers in the frames of a CIE. */
static unsigned
encoding_of(const struct frame_section *section, const Dwarf_CIE *cie)
{
	const uint8_t *at = cie->augmentation_data, *end;
	uint64_t personality;

	if (!at || cie->augmentation[0] != 'z')
		return ENCODED_ABSOLUTE;
	end = at + cie->augmentation_data_size;
	for (const char *letter = cie->augmentation + 1; *letter && at < end; letter++) {
		unsigned encoding;

		if (*letter == 'S' || *letter == 'B')
			continue;
		encoding = *at++;
		if (*letter == 'R')
			return encoding;
		if (*letter == 'P' && !pointer_read(section, encoding & ENCODED_FORM, &at, end, &personality))
			return ENCODED_ABSOLUTE;
	}
	return ENCODED_ABSOLUTE;
}

static void
add_frame(struct symbol_file *file, struct frame_section *section, const Dwarf_FDE *fde)
{
	const uint8_t *at = fde->start;
	struct symbol_range range = {0};
	Dwarf_CFI_Entry cie;
	Dwarf_Off behind;
	unsigned encoding;

	if (dwarf_next_cfi((const unsigned char *)elf_getident(file->elf, NULL), &section->data, true, fde->CIE_pointer,
			   &behind, &cie) != 0 ||
	    !dwarf_cfi_cie_p(&cie))
		return;
	encoding = encoding_of(section, &cie.cie);
	if (pointer_read(section, encoding, &at, fde->end, &range.address) &&
	    pointer_read(section, encoding & ENCODED_FORM, &at, fde->end, &range.size) && range.size > 0 &&
	    symbols_file_offset(file, range.address, &range.file_offset))
		symbol_ranges_add(&file->frames, &range);
}

/* The section itself, or in a file without sections what its header in the program headers points to. */
static bool
find_section(struct symbol_file *file, struct frame_section *section)
{
	GElf_Shdr header;
	GElf_Phdr segment;
	Elf_Scn *found = symbol_file_section(file, ".eh_frame", &header);
	size_t nr_segments = 0;

	*section = (struct frame_section){.data = {.d_type = ELF_T_BYTE, .d_version = EV_CURRENT}};
	if (found) {
		section->address = header.sh_addr;
		section->data.d_size = header.sh_size;
		section->data.d_buf = (void *)symbols_bytes(file, header.sh_addr, header.sh_size);
		return section->data.d_buf;
	}
	elf_getphdrnum(file->elf, &nr_segments);
	for (size_t i = 0; i < nr_segments; i++) {
		struct frame_section index = {0};
		const uint8_t *at;

		if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_GNU_EH_FRAME)
			continue;
		at = symbols_bytes(file, segment.p_vaddr, 12);
		index.address = segment.p_vaddr;
		index.data.d_buf = (void *)at;
		if (!at || (at += 4, !pointer_read(&index, at[-3], &at, at + 8, &section->address)) ||
		    !symbol_file_segment(file, section->address, &segment))
			continue;
		section->data.d_size = segment.p_filesz - (section->address - segment.p_vaddr);
		section->data.d_buf = (void *)symbols_bytes(file, section->address, section->data.d_size);
		return section->data.d_buf;
	}
	return false;
}

const struct symbol_ranges *
symbol_file_frames(struct symbol_file *file)
{
	struct frame_section section;
	Dwarf_CFI_Entry entry;
	int found;

	if (file->frames_are_read)
		return &file->frames;
	file->frames_are_read = true;
	if (!find_section(file, &section))
		return &file->frames;
	for (Dwarf_Off at = 0, behind = 0; at < section.data.d_size; at = behind) {
		found = dwarf_next_cfi((const unsigned char *)elf_getident(file->elf, NULL), &section.data, true, at,
				       &behind, &entry);
		if (found != 0 && (found > 0 || behind <= at))
			break;
		if (found == 0 && !dwarf_cfi_cie_p(&entry))
			add_frame(file, &section, &entry.fde);
	}
	symbol_ranges_order(&file->frames);
	return &file->frames;
}

bool
symbols_is_at_entry_depth(struct symbol_file *file, uint64_t address)
{
	Dwarf_Addr bias;
	Dwarf_CFI *frames = dwfl_module_eh_cfi(file->module, &bias);
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *operations;
	size_t nr_operations;
	bool is_known, is_at_depth = true;

	if (!frames || dwarf_cfi_addrframe(frames, address + file->bias - bias, &frame) != 0)
		return true;
	is_known = dwarf_frame_cfa(frame, &operations, &nr_operations) == 0 && nr_operations == 1;
	if (is_known && operations[0].atom == DW_OP_bregx)
		is_at_depth = operations[0].number == RSP_COLUMN && operations[0].number2 == RETURN_ADDRESS_BYTES;
	else if (is_known && operations[0].atom >= DW_OP_breg0 && operations[0].atom <= DW_OP_breg31)
		is_at_depth =
			operations[0].atom == DW_OP_breg0 + RSP_COLUMN && operations[0].number == RETURN_ADDRESS_BYTES;
	free(frame);
	return is_at_depth;
}

/* ---- functions by name, and names of addresses ---- */

/* Compilers add these to the name of a copy of a function that does the same. */
static const char *const copies[] = {".constprop.", ".isra.", ".lto_priv.", ".llvm.", ".localalias"};

/* A piece of a function that compilers put elsewhere: it does not begin there. */
static bool
is_piece(const char *symbol)
{
	return strstr(symbol, ".cold") || strstr(symbol, ".part.");
}

static bool
is_symbol_called(const char *symbol, const char *name)
{
	const size_t length = strlen(name);
	const char *rest = symbol + length;

	if (strncmp(symbol, name, length) != 0)
		return false;
	/* Behind the name of the function there is nothing, a version, or the mark of a copy. */
	if (rest[0] == '\0' || rest[0] == '@')
		return true;
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++)
		if (strncmp(rest, copies[i], strlen(copies[i])) == 0)
			return !is_piece(rest);
	return false;
}

static bool
is_plainly_called(const char *symbol, const char *name)
{
	autofree char *plain = is_piece(symbol) ? NULL : plain_name(symbol);

	return plain && plain_name_ends_with(plain, name);
}

/* Where the first of the ranges behind address begins, or limit. */
static uint64_t
next_begin(const struct symbol_ranges *ranges, uint64_t address, uint64_t limit)
{
	const struct symbol_range *before = symbol_ranges_before(ranges, address);
	size_t next = before ? (size_t)(before - ranges->ranges) + 1 : 0;

	return next < ranges->nr_ranges && ranges->ranges[next].address < limit ? ranges->ranges[next].address : limit;
}

/* The end of a function whose symbol has none: that of its frame, or else the begin of the next one. */
static void
complete(struct symbol_file *file, struct symbol_range *range)
{
	const struct symbol_ranges *frames = symbol_file_frames(file);
	const struct symbol_range *frame = symbol_ranges_before(frames, range->address);
	GElf_Phdr segment;
	uint64_t end;

	if (range->size > 0 || !symbol_file_segment(file, range->address, &segment))
		return;
	if (frame && range->address - frame->address < frame->size) {
		range->size = frame->address + frame->size - range->address;
		return;
	}
	end = next_begin(frames, range->address, segment.p_vaddr + segment.p_filesz);
	range->size = next_begin(&file->functions, range->address, end) - range->address;
}

static void
find_functions(struct symbol_file *file, const char *name, bool (*is_called)(const char *, const char *),
	       struct symbol_ranges *found)
{
	for (size_t i = 0; i < file->functions.nr_ranges; i++) {
		struct symbol_range range = file->functions.ranges[i];

		if (!is_called(range.name, name))
			continue;
		complete(file, &range);
		symbol_ranges_add(found, &range);
	}
}

void
symbols_find_function(struct symbol_file *file, const char *name, struct symbol_ranges *found)
{
	size_t nr_before = found->nr_ranges;

	find_functions(file, name, is_symbol_called, found);
	if (found->nr_ranges == nr_before)
		find_functions(file, name, is_plainly_called, found);
	symbol_ranges_order(found);
}

/* The innermost range that address lies in, of names for the same the first; labels without size do not count. */
static const struct symbol_range *
covering(const struct symbol_ranges *ranges, uint64_t address)
{
	const struct symbol_range *range = symbol_ranges_before(ranges, address);

	while (range && range->reach > address && address - range->address >= range->size)
		range = range > ranges->ranges ? range - 1 : NULL;
	if (!range || range->reach <= address)
		return NULL;
	while (range > ranges->ranges && range[-1].address == range->address && range[-1].size >= range->size)
		range--;
	return range;
}

bool
symbols_function_at(struct symbol_file *file, uint64_t address, struct symbol_range *range)
{
	const struct symbol_range *function = covering(&file->functions, address), *frame, *label;

	if (!function)
		function = covering(symbol_file_plt(file), address);
	if (function) {
		*range = *function;
		return true;
	}
	frame = covering(symbol_file_frames(file), address);
	label = symbol_ranges_before(&file->functions, address);
	if (frame) {
		*range = *frame;
		if (label && label->address == frame->address)
			range->name = label->name;
		return true;
	}
	if (!label)
		return false;
	*range = *label;
	complete(file, range);
	return address - range->address < range->size;
}

const char *
symbols_name_before(const struct symbol_file *file, uint64_t address)
{
	const struct symbol_range *before = symbol_ranges_before(&file->functions, address);

	return before ? before->name : NULL;
}

bool
symbols_has_functions(const struct symbol_file *file)
{
	return file->functions.nr_ranges > 0;
}

const char *
symbols_nearest(struct symbol_file *file, const char *name)
{
	const char **names = rot_calloc(file->functions.nr_ranges, sizeof(*names)), *nearest;

	for (size_t i = 0; i < file->functions.nr_ranges; i++)
		names[i] = file->functions.ranges[i].name;
	nearest = rot_nearest(name, names, file->functions.nr_ranges);
	free(names);
	return nearest;
}

/* ---- the markers of rot-marker.h: notes in the format of SystemTap's static probes ---- */

#define SECTION ".note.stapsdt"
#define BASE_SECTION ".stapsdt.base"
#define OWNER "stapsdt"
#define PROVIDER "rot"
#define NOTE_TYPE 3

/* The beginning of a note, before the strings: addresses as they were when it was written. */
struct note {
	uint64_t address, base, semaphore;
};

/* True if the bytes are a note of a marker called wanted; then *note is its addresses. */
static bool
note_read(const char *bytes, size_t nr_bytes, const char *wanted, struct note *note)
{
	const char *provider = bytes + sizeof(*note), *name;
	size_t left = nr_bytes - sizeof(*note), length;

	if (nr_bytes < sizeof(*note) || (length = strnlen(provider, left)) == left)
		return false;
	name = provider + length + 1;
	left -= length + 1;
	if (strnlen(name, left) == left || strcmp(provider, PROVIDER) != 0 || strcmp(name, wanted) != 0)
		return false;
	memcpy(note, bytes, sizeof(*note));
	return true;
}

void
symbols_find_marker(struct symbol_file *file, const char *name, bool is_end, struct symbol_ranges *found)
{
	autofree char *wanted = rot_format("%s_%s", name, is_end ? "end" : "begin");
	GElf_Shdr section_header;
	GElf_Nhdr header;
	Elf_Scn *section = symbol_file_section(file, SECTION, &section_header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t name_at, note_at;

	for (size_t at = 0; data && (at = gelf_getnote(data, at, &header, &name_at, &note_at)) > 0;) {
		const char *bytes = data->d_buf;
		struct symbol_range range = {0};
		struct note note;

		if (header.n_type != NOTE_TYPE || header.n_namesz != sizeof(OWNER) ||
		    memcmp(bytes + name_at, OWNER, sizeof(OWNER)) != 0 ||
		    !note_read(bytes + note_at, header.n_descsz, wanted, &note))
			continue;
		/* Whatever moved the file's segments after it was linked moved the base as well. */
		range.address = note.address;
		if (note.base && symbol_file_section(file, BASE_SECTION, &section_header))
			range.address += section_header.sh_addr - note.base;
		if (symbols_file_offset(file, range.address, &range.file_offset))
			symbol_ranges_add(found, &range);
	}
	symbol_ranges_order(found);
}

/* ---- marks in code ---- */

void
symbols_find_ssc(struct symbol_file *file, uint32_t number, struct symbol_ranges *found)
{
	const uint8_t mark[] = {0xbb,
				(uint8_t)number,
				(uint8_t)(number >> 8),
				(uint8_t)(number >> 16),
				(uint8_t)(number >> 24),
				0x64,
				0x67,
				0x90};
	size_t nr_segments = 0;
	GElf_Phdr segment;

	elf_getphdrnum(file->elf, &nr_segments);
	for (size_t i = 0; i < nr_segments; i++) {
		const uint8_t *bytes, *at;

		if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X))
			continue;
		bytes = at = symbols_bytes(file, segment.p_vaddr, segment.p_filesz);
		while (at && (at = memmem(at, segment.p_filesz - (size_t)(at - bytes), mark, sizeof(mark)))) {
			const uint64_t offset = (uint64_t)(at++ - bytes);

			symbol_ranges_add(found, &(struct symbol_range){.address = segment.p_vaddr + offset});
		}
	}
}
