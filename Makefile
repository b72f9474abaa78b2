# SPDX-License-Identifier: GPL-2.0-or-later
# Commands: make, make compare, make figures, make test, make bench, make asan, make docs,
# make install, make clean, make deps
# Sources are found by folder; a new file needs no line here.

BUILD    ?= build
CC       := $(if $(filter default,$(origin CC)),gcc,$(CC))
VERSION  := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
PACKAGES := pkg-config libglib2.0-dev libgsl-dev libcsv-dev libpcap-dev gnuplot-nox
TEST_PACKAGES := libcmocka-dev valgrind tshark
SANITIZE ?=
OPTIMISE ?= -O2

LAYERS  := sim/core sim/stats models topologies workloads sim/app
SOURCES := $(foreach layer,$(LAYERS),$(wildcard $(layer)/*.c))
OBJECTS := $(SOURCES:%.c=$(BUILD)/obj/%.o)
LIBRARY := $(BUILD)/libweft.a
UNIT    := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*.c tests/physics/*.c tests/fuzz/*.c))

CFLAGS  := -std=c11 -D_GNU_SOURCE $(OPTIMISE) -g -fno-omit-frame-pointer -ffp-contract=off \
           -Wall -Wextra -Wshadow -Wconversion -Werror $(SANITIZE)
INCLUDE  = -I. $(shell pkg-config --cflags glib-2.0 gsl)
LIBS     = $(shell pkg-config --libs glib-2.0 gsl) -lcsv -lpcap -lm

all: $(BUILD)/weft

# What apt has to bring is asked of dpkg each time; nothing happens when all is there.
deps:
	@tests/deps.sh $(PACKAGES)

test-deps:
	@tests/deps.sh $(PACKAGES) $(TEST_PACKAGES)

have-deps = $(BUILD)/.deps
$(have-deps): Makefile
	@tests/deps.sh $(PACKAGES)
	@mkdir -p $(BUILD) && touch $@

# make V=1 shows the commands
Q := $(if $(V),,@)

$(BUILD)/weft: $(BUILD)/obj/sim/app/main.o $(LIBRARY)
	@echo "  link     $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

$(LIBRARY): $(filter-out %/main.o,$(OBJECTS))
	@rm -f $@
	@echo "  archive  $@"
	$(Q)ar rcs $@ $^

$(BUILD)/obj/%.o: %.c $(have-deps)
	@mkdir -p $(@D)
	@echo "  compile  $<"
	$(Q)$(CC) $(CFLAGS) $(INCLUDE) -MMD -MP -c -o $@ $<

# the program's version is compiled into one file, rebuilt when it changes
$(BUILD)/version: FORCE
	@mkdir -p $(BUILD); echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' > $@
$(BUILD)/obj/sim/app/version.o: CFLAGS += -DWEFT_VERSION='"$(VERSION)"' -DWEFT_BUILD='"$(strip $(OPTIMISE) $(SANITIZE))"'
$(BUILD)/obj/sim/app/version.o: $(BUILD)/version

$(BUILD)/tests/%: tests/%.c $(LIBRARY) $(have-deps)
	@mkdir -p $(@D)
	@echo "  test     $<"
	$(Q)$(CC) $(CFLAGS) $(INCLUDE) -MMD -MP -o $@ $< $(LIBRARY) $(LIBS) $(if $(findstring bench,$@),,-lcmocka)

unit: $(UNIT)

# from a fresh clone in one command: so it builds on all cores by itself
parallel = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

compare: $(have-deps)
	+@$(parallel) all
	$(BUILD)/weft compare --out results/compare

# figures of single questions: each script plays its runs and draws into results/
figures: $(have-deps)
	+@$(parallel) all
	WEFT=$(BUILD)/weft plots/incast-15.sh

ASAN := BUILD=build/asan OPTIMISE=-O1 \
        SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=undefined'

# all tests, and the C programs again in a build with sanitizers
test: test-deps
	+@$(parallel) all unit
	+@$(parallel) $(ASAN) unit
	@BUILD=$(BUILD) ASAN_BUILD=build/asan tests/run.sh

asan:
	+@$(parallel) $(ASAN) all unit
	@ASAN_BUILD=build/asan WEFT_TESTS=asan tests/run.sh

bench: all
	@BUILD=$(BUILD) tests/bench.sh

docs: all
	$(BUILD)/weft params --markdown > docs/PARAMETERS.md

# --- installing: make install PREFIX=/opt/weft, DESTDIR= for packages -----------------------------
PREFIX     ?= /usr/local
INSTALL    := install
share       = $(DESTDIR)$(PREFIX)/share
completion  = $(share)/bash-completion/completions/weft
READY      := $(foreach folder,scenarios topologies workloads plots,\
                $(wildcard $(folder)/*.ini $(folder)/*.gp))

install: all
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(share)/man/man1 $(dir $(completion))
	$(INSTALL) -m 755 $(BUILD)/weft $(DESTDIR)$(PREFIX)/bin/weft
	$(INSTALL) -m 644 docs/weft.1 $(share)/man/man1/weft.1
	$(INSTALL) -m 644 docs/weft.bash $(completion)
	for file in $(READY); do $(INSTALL) -D -m 644 $$file $(share)/weft/$$file || exit 1; done

# takes away what install has put there, and folders of our own that are empty then
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/weft $(share)/man/man1/weft.1 $(completion)
	rm -f $(addprefix $(share)/weft/,$(READY))
	-rmdir $(addprefix $(share)/weft/,$(sort $(dir $(READY)))) $(share)/weft 2>/dev/null

format:
	clang-format -i $(SOURCES) $(wildcard $(addsuffix /*.h,$(LAYERS)) tests/*/*.c)

clean:
	rm -rf build

FORCE:
.PHONY: all deps test-deps unit compare figures test asan bench docs install uninstall format clean FORCE
-include $(OBJECTS:.o=.d) $(UNIT:=.d)
