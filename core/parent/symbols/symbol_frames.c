/* SPDX-License-Identifier: MIT */
/* Functions as .eh_frame describes them, which a stripped file keeps for its exceptions. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "parent/symbols/symbol_file.h"

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
