/* SPDX-License-Identifier: MIT */
/*
 * Entries of the procedure linkage table (PLT), by which an object calls functions of others: each is a jump to where
 * the loader has put the address of the function.
 */
#include "parent/symbols/symbol_file.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* The slot that the entry at address jumps by; 0: it has none. A mark for indirect jumps may stand before the jump. */
static uint64_t
slot_of(struct symbol_file *file, uint64_t address, uint64_t size)
{
	static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
	const uint8_t *code = symbols_bytes(file, address, size);
	size_t at = code && size >= 16 && memcmp(code, mark, sizeof(mark)) == 0 ? sizeof(mark) : 0;
	int32_t distance;

	if (code && size >= 8 && code[at] == 0xf2) /* bnd */
		at++;
	if (!code || at + 6 > size || code[at] != 0xff || code[at + 1] != 0x25) /* jmp *distance(%rip) */
		return 0;
	memcpy(&distance, code + at + 2, sizeof(distance));
	return address + at + 6 + (uint64_t)(int64_t)distance;
}

/* Adds the entries of a section by the addresses of their slots. */
static void
add_slots(struct symbol_file *file, const GElf_Shdr *section, struct symbol_ranges *slots)
{
	const uint64_t size = section->sh_entsize;

	for (uint64_t at = 0; size > 0 && at + size <= section->sh_size; at += size) {
		const uint64_t slot = slot_of(file, section->sh_addr + at, size);

		if (slot != 0)
			symbol_ranges_add(slots, &(struct symbol_range){.address = slot,
									.size = size,
									.file_offset = section->sh_addr + at});
	}
}

/* Adds the entry of a slot that the loader fills with the address of a function with a name. */
static void
add_entry(struct symbol_file *file, const GElf_Shdr *symbols, Elf_Data *table, const GElf_Rela *relocation,
	  const struct symbol_ranges *slots)
{
	const struct symbol_range *slot = symbol_ranges_before(slots, relocation->r_offset);
	struct symbol_range entry = {0};
	const char *name;
	GElf_Sym symbol;

	if (!slot || slot->address != relocation->r_offset || !table ||
	    !gelf_getsym(table, (int)GELF_R_SYM(relocation->r_info), &symbol))
		return;
	name = elf_strptr(file->elf, symbols->sh_link, symbol.st_name);
	entry.address = slot->file_offset;
	entry.size = slot->size;
	if (!name || !*name || !symbols_file_offset(file, entry.address, &entry.file_offset))
		return;
	entry.name = rot_format("%s@plt", name);
	symbol_ranges_add(&file->plt, &entry);
}

static void
add_entries(struct symbol_file *file, Elf_Scn *section, const GElf_Shdr *header, const struct symbol_ranges *slots)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Scn *of_symbols = elf_getscn(file->elf, header->sh_link);
	GElf_Shdr symbols;
	GElf_Rela relocation;

	if (!data || !of_symbols || !gelf_getshdr(of_symbols, &symbols))
		return;
	for (int i = 0; gelf_getrela(data, i, &relocation); i++)
		add_entry(file, &symbols, elf_getdata(of_symbols, NULL), &relocation, slots);
}

const struct symbol_ranges *
symbol_file_plt(struct symbol_file *file)
{
	static const char *const names[] = {".plt", ".plt.sec", ".plt.got"};
	struct symbol_ranges slots = {0};
	GElf_Shdr header;

	if (file->plt_is_read)
		return &file->plt;
	file->plt_is_read = true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (symbol_file_section(file, names[i], &header))
			add_slots(file, &header, &slots);
	symbol_ranges_sort(&slots);
	for (Elf_Scn *section = elf_nextscn(file->elf, NULL); section; section = elf_nextscn(file->elf, section))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA && (header.sh_flags & SHF_ALLOC))
			add_entries(file, section, &header, &slots);
	symbol_ranges_clear(&slots);
	symbol_ranges_sort(&file->plt);
	return &file->plt;
}
