# SPDX-License-Identifier: MIT
# The makefile of a measuring core: kernels, their generated entities and the fixed part of rot become a program, child.
#
#	make --no-print-directory -f DATA/core/core.mk -C BUILD [-jN] [child | listing]
#
# with MAKEFLAGS, MFLAGS and MAKELEVEL absent from the environment. BUILD is a folder of the driver's, one per distinct
# core. No path in settings.mk may hold white space or characters special to make or the shell (BUILD's own may; a
# folder that has some is reached through a symbolic link). The driver writes the following there, and only when it changes:
#
#	settings.mk	CC = gcc			the compiler of the kernels, may carry arguments
#			CCACHE = ccache			or empty
#			DATA = /usr/share/rot		struct paths, data: core/core.mk, kernels/, shared-entities/
#			BUILT = /usr/lib/rot		struct paths, built: core/, shared-entities/
#			KERNELS = Triad Memory		class names, each once
#		and per kernel NAME:
#			SOURCES_NAME = /x/Triad/Triad.c ...	the first is NAME.c, the others are in or below its folder
#			FLAGS_NAME = -mavx2 -O3		in the syntax of the shell, "$" doubled; they come last, so they win
#			LIBS_NAME = -lopenblas		or empty
#	generated/	NAMEData.h, kernel_entities.h, kernel_entities.c (definitions_write_c with the set "kernel_entities"),
#			kernels.c ("const struct kernel_type *const rot_kernels[]", ends in NULL; includes the former), macros/MACRO.h
#
# What make leaves in BUILD:
#
#	child				the core; complete or absent, even if make is killed
#	objects/NAME/FILE.o		object of FILE.c; FILE may have folders in front, as below the kernel's folder
#	objects/NAME/FILE.compile	the final compile line of FILE.c, without ccache and what only make needs
#	objects/NAME/FILE.listing	target listing only: the object's instructions among their source lines
#
# An object is made again when its source, a header or macro it includes, or its compile line changed; nothing else is.
# The same kernels, flags, macros and compiler give the same bytes in any folder. Messages of the compiler go to
# standard error as they are, standard output stays empty. With nothing to do no process is started.

MAKEFLAGS += -rRs
.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: listing
.DEFAULT_GOAL := child

include settings.mk
LINKER = $(CC)
# Written by rot's own build: CORE_LDFLAGS, and LINKER when only the compiler of the fixed part can link it.
include $(BUILT)/core/core-flags.mk

# What distributions switch on in their compilers (checks of buffers, branch targets) would be measured with the kernel.
PLAIN_FLAGS = -U_FORTIFY_SOURCE -fno-stack-protector -fcf-protection=none -fno-lto
folder = '$(subst ','\'',$(CURDIR))'
# The last one that fits counts, and BUILD may lie below the others.
RELOCATABLE_FLAGS = -ffile-prefix-map=$(DATA)=rot -ffile-prefix-map=$(BUILT)=rot -ffile-prefix-map=$(folder)=.
ENTITIES = $(BUILT)/shared-entities
INCLUDES = -Igenerated -I$(DATA)/kernels -I$(DATA)/shared-entities -I$(ENTITIES)/generated
COMPILE = $(CC) -std=gnu11 -Wall -Wextra -g $(PLAIN_FLAGS) $(RELOCATABLE_FLAGS) $(INCLUDES)

LIBRARIES = $(BUILT)/core/librot-child.a $(ENTITIES)/libentities.a $(ENTITIES)/libshared-entities.a
LINK = $(LINKER) -fno-lto $(CORE_LDFLAGS) $(OBJECTS) -Wl,-z,now -Wl,--start-group $(LIBRARIES) -Wl,--end-group \
	$(foreach name,$(KERNELS),$(LIBS_$(name))) -lpthread -lm -ldl

SOURCES_generated = generated/kernels.c
FLAGS_generated = -O1

# The line of a file. GNU make 4.3 leaves its newline there if its buffers happen to move.
define newline


endef
line_of = $(subst $(newline),,$(file <$1))

# $(call keep,FILE,LINE): makes FILE hold LINE; touches it only if it does not.
differ = $(subst x$1,,x$2)$(subst x$2,,x$1)
keep = $(if $(call differ,$(call line_of,$1),$2),$(if $(wildcard $(dir $1)),,$(shell mkdir -p $(dir $1)))$(file >$1,$2))

# $(call file_of,NAME,SOURCE): FILE of a source.
file_of = $(call relative,$2,$(patsubst $(dir $(firstword $(SOURCES_$1)))%.c,%,$2))
relative = $(if $(filter $1,$2),$(error $1 is not a C file in the folder of its kernel),$2)

# The rules of one source: $1 is its NAME, $2 its FILE, $3 the source. Renamed when complete, the object last.
define rules
OBJECTS += objects/$1/$2.o
COMPILE_$1_$2 := $$(COMPILE) -ffile-prefix-map=$(patsubst %/,%,$(dir $3))=$1 $$(FLAGS_$1) -c $3
$$(call keep,objects/$1/$2.compile,$$(COMPILE_$1_$2))

objects/$1/$2.o: $3 objects/$1/$2.compile
	$$(CCACHE) $$(COMPILE_$1_$2) -MD -MP -MT $$@ -MF objects/$1/$2.d.new -o $$@.new && \
		mv -f objects/$1/$2.d.new objects/$1/$2.d && mv -f $$@.new $$@

objects/$1/$2.listing: objects/$1/$2.o
	objdump -d -S -I $(dir $3) --no-show-raw-insn $$< >$$@

listing: objects/$1/$2.listing
-include objects/$1/$2.d
endef

$(foreach name,$(KERNELS) generated,\
	$(foreach source,$(SOURCES_$(name)),$(eval $(call rules,$(name),$(call file_of,$(name),$(source)),$(source)))))
$(call keep,child.link,$(LINK))

child: $(OBJECTS) $(LIBRARIES) child.link
	$(LINK) -o $@.new && mv -f $@.new $@
