/* SPDX-License-Identifier: MIT */
/* Opens files for their symbols, once each, and reads what they hold at an address. */
#include "parent/symbols/symbol_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

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

static int
compare_addresses(const void *a, const void *b)
{
	uint64_t left = ((const struct symbol_range *)a)->address, right = ((const struct symbol_range *)b)->address;

	return (left > right) - (left < right);
}

/* Functions come before sizeless labels, global names before local ones, nanosleep before __nanosleep. */
static int
compare_ranges(const void *a, const void *b)
{
	const struct symbol_range *left = a, *right = b;
	int order = compare_addresses(a, b);

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

static void
sort(struct symbol_ranges *ranges)
{
	if (ranges->nr_ranges > 0)
		qsort(ranges->ranges, ranges->nr_ranges, sizeof(*ranges->ranges), compare_ranges);
}

void
symbol_ranges_order(struct symbol_ranges *ranges)
{
	size_t nr_kept = 0;

	sort(ranges);
	for (size_t i = 0; i < ranges->nr_ranges; i++)
		if (nr_kept == 0 || ranges->ranges[nr_kept - 1].address != ranges->ranges[i].address)
			ranges->ranges[nr_kept++] = ranges->ranges[i];
	ranges->nr_ranges = nr_kept;
}

const struct symbol_range *
symbol_ranges_before(const struct symbol_ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->nr_ranges;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->ranges[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &ranges->ranges[low - 1] : NULL;
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

bool
symbols_file_offset(struct symbol_file *file, uint64_t address, uint64_t *offset)
{
	GElf_Phdr segment;

	if (!symbol_file_segment(file, address, &segment))
		return false;
	*offset = address - segment.p_vaddr + segment.p_offset;
	return true;
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

/* Labels without a type are functions if somebody wrote them in assembler: those of the compiler have no symbols. */
static void
add_function(struct symbol_file *file, int index)
{
	GElf_Sym symbol;
	GElf_Addr address;
	GElf_Word section = SHN_UNDEF;
	const char *name = dwfl_module_getsym_info(file->module, index, &symbol, &address, &section, NULL, NULL);
	int type = GELF_ST_TYPE(symbol.st_info);
	struct symbol_range range;

	if (!name || name[0] == '\0' || name[0] == '.' || section == SHN_UNDEF || section == SHN_ABS)
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

static void
read_functions(struct symbol_file *file)
{
	int nr_symbols = dwfl_module_getsymtab(file->module);

	for (int i = 1; i < nr_symbols; i++)
		add_function(file, i);
	sort(&file->functions);
}

static void
file_delete(struct symbol_file *file)
{
	if (file->dwfl)
		dwfl_end(file->dwfl);
	symbol_ranges_clear(&file->functions);
	symbol_ranges_clear(&file->frames);
	free(file->path);
	free(file);
}

static int
file_read(struct symbol_file *file, struct rot_error *err)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
						 .find_debuginfo = dwfl_standard_find_debuginfo,
						 .section_address = dwfl_offline_section_address};
	int fd = open(file->path, O_RDONLY | O_CLOEXEC);

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
	read_functions(file);
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
is_same(const struct stat *a, const struct stat *b)
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
		if (is_same(&files->files[i]->status, &status))
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
	files->files = rot_realloc(files->files, files->nr_files + 1, sizeof(*files->files));
	files->files[files->nr_files++] = file;
	return file;
}
