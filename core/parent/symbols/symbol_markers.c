/* SPDX-License-Identifier: MIT */
/* Finds the markers of rot-marker.h: notes in the format of SystemTap's static probes. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/symbols/symbol_file.h"

#define SECTION ".note.stapsdt"
#define BASE_SECTION ".stapsdt.base"
#define OWNER "stapsdt"
#define PROVIDER "rot"
#define NOTE_TYPE 3

/* What stands in a note before the strings: addresses as they were when it was written. */
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

/* Whatever moved the file's segments after it was linked moved the base as well. */
static uint64_t
moved_by(const struct symbol_file *file, uint64_t base)
{
	GElf_Shdr header;

	return base && symbol_file_section(file, BASE_SECTION, &header) ? header.sh_addr - base : 0;
}

void
symbols_find_marker(struct symbol_file *file, const char *name, bool is_end, struct symbol_ranges *found)
{
	char *wanted = rot_format("%s_%s", name, is_end ? "end" : "begin");
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
		range.address = note.address + moved_by(file, note.base);
		if (symbols_file_offset(file, range.address, &range.file_offset))
			symbol_ranges_add(found, &range);
	}
	symbol_ranges_order(found);
	free(wanted);
}
