# SPDX-License-Identifier: GPL-2.0-or-later
# Commands: make, make compare, make figures, make test, make bench, make asan, make tsan, make docs,
# make install, make clean, make deps, make fuzz
# Sources are found by folder; a new file needs no line here.

BUILD    ?= build
CC       := $(if $(filter default,$(origin CC)),gcc,$(CC))
VERSION  := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
PACKAGES := pkg-config libglib2.0-dev libgsl-dev libcsv-dev libpcap-dev gnuplot-nox
TEST_PACKAGES := libcmocka-dev libxml2-utils valgrind slurm-wlm munge libns3-dev g++ tshark
SANITIZE ?=
OPTIMISE ?= -O2

LAYERS  := sim/core sim/stats models topologies workloads sim/app
SOURCES := $(foreach layer,$(LAYERS),$(wildcard $(layer)/*.c))
OBJECTS := $(SOURCES:%.c=$(BUILD)/obj/%.o)
LIBRARY := $(BUILD)/libweft.a
UNIT    := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*.c tests/physics/*.c tests/fuzz/*.c))

# the second engine, where ns-3 and a C++ compiler are installed; ns-3's .pc files name packages that it
# does not need
NS3_HEADER  := $(wildcard /usr/include/ns3/point-to-point-net-device.h)
NS3         := $(if $(and $(NS3_HEADER),$(shell command -v $(CXX))),yes)
NS3_OBJECTS := $(patsubst %,$(BUILD)/obj/%.o,models/ns3/ns3c models/ns3/engine_ns3 sim/app/main_ns3)
NS3_LIBS    := -lns3-point-to-point -lns3-internet -lns3-traffic-control -lns3-network -lns3-core \
               -lstdc++

XVAL        := $(if $(NS3),$(patsubst %.c,$(BUILD)/%,$(wildcard tests/xval/*.c)))

CFLAGS  := -std=c11 -D_GNU_SOURCE $(OPTIMISE) -g -fno-omit-frame-pointer -ffp-contract=off \
           -Wall -Wextra -Wshadow -Wconversion -Werror $(SANITIZE)
INCLUDE  = -I. $(shell pkg-config --cflags gio-2.0 gio-unix-2.0 gsl)
LIBS     = $(shell pkg-config --libs gio-2.0 gsl) -lcsv -lpcap -lm
CXXFLAGS = -std=c++17 $(filter-out -std=%,$(CFLAGS))

all: $(BUILD)/weft $(if $(NS3),$(BUILD)/weft-ns3 $(BUILD)/libns3c.a)

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

# no GSL here: what needs it is not taken from the archive
$(BUILD)/weft-ns3: $(NS3_OBJECTS) $(LIBRARY)
	@echo "  link     $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(shell pkg-config --libs glib-2.0 gio-2.0) -lcsv -lm $(NS3_LIBS)

# the bindings alone, for other programs
$(BUILD)/libns3c.a: $(BUILD)/obj/models/ns3/ns3c.o
	@rm -f $@
	@echo "  archive  $@"
	$(Q)ar rcs $@ $^

$(LIBRARY): $(filter-out %/main.o %/main_ns3.o,$(OBJECTS))
	@rm -f $@
	@echo "  archive  $@"
	$(Q)ar rcs $@ $^

$(BUILD)/obj/%.o: %.c $(have-deps)
	@mkdir -p $(@D)
	@echo "  compile  $<"
	$(Q)$(CC) $(CFLAGS) $(INCLUDE) -MMD -MP -c -o $@ $<

$(BUILD)/obj/%.o: %.cc $(have-deps)
	@mkdir -p $(@D)
	@echo "  compile  $<"
	$(Q)$(CXX) $(CXXFLAGS) -I. -MMD -MP -c -o $@ $<

# the program's version is compiled into one file, rebuilt when it changes
$(BUILD)/version: FORCE
	@mkdir -p $(BUILD); echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' > $@
$(BUILD)/obj/sim/app/version.o: CFLAGS += -DWEFT_VERSION='"$(VERSION)"' -DWEFT_BUILD='"$(strip $(OPTIMISE) $(SANITIZE))"'
$(BUILD)/obj/sim/app/version.o: $(BUILD)/version

$(BUILD)/tests/%: tests/%.c $(LIBRARY) $(have-deps)
	@mkdir -p $(@D)
	@echo "  test     $<"
	$(Q)$(CC) $(CFLAGS) $(INCLUDE) -MMD -MP -o $@ $< $(LIBRARY) $(LIBS) $(if $(findstring bench,$@),,-lcmocka)

# against ns-3 itself
XVAL_OBJECTS := $(patsubst %.cc,$(BUILD)/obj/%.o,$(wildcard tests/xval/*.cc)) $(BUILD)/obj/models/ns3/ns3c.o
$(XVAL): $(BUILD)/tests/xval/%: tests/xval/%.c $(XVAL_OBJECTS) $(LIBRARY)
	@mkdir -p $(@D)
	@echo "  test     $<"
	$(Q)$(CC) $(CFLAGS) $(INCLUDE) -MMD -MP -o $@ $< $(XVAL_OBJECTS) $(LIBRARY) $(LIBS) -lcmocka $(NS3_LIBS)

unit: $(UNIT) $(XVAL)

# from a fresh clone in one command: so it builds on all cores by itself
parallel = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

compare: $(have-deps)
	+@$(parallel) all
	$(BUILD)/weft compare --out results/compare

# all figures of results/reference again, by the command that users have; and those whose script
# plays its own runs, into results/
figures: $(have-deps)
	+@$(parallel) all
	for folder in $(patsubst %/summary.csv,%,$(wildcard results/reference/*/summary.csv)); do \
	    $(BUILD)/weft plot $$folder --format png || exit 1; done
	WEFT=$(BUILD)/weft plots/incast-15.sh
	WEFT=$(BUILD)/weft plots/planes-lost.sh
	plots/mtia.sh --draw FOLDER=results/reference

ASAN := BUILD=build/asan OPTIMISE=-O1 \
        SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=undefined'

# of weft alone, for the runs on several threads
TSAN := BUILD=build/tsan OPTIMISE=-O1 SANITIZE='-fsanitize=thread -Wno-maybe-uninitialized'

# all tests; the C programs again in a build with sanitizers, and threads in another
test: test-deps
	+@$(parallel) all unit
	+@$(parallel) $(ASAN) unit
	+@$(parallel) $(TSAN) build/tsan/weft
	@BUILD=$(BUILD) ASAN_BUILD=build/asan tests/run.sh

asan:
	+@$(parallel) $(ASAN) all unit
	@ASAN_BUILD=build/asan WEFT_TESTS=asan tests/run.sh

tsan:
	+@$(parallel) $(TSAN) build/tsan/weft
	@BUILD=build/tsan tests/golden/races.sh

# every ready sweep on a Slurm cluster of this machine: SEEDS=1-5 SWEEPS="loss incast"
slurm-all: test-deps
	+@$(parallel) all
	@tests/slurm-all.sh

# each reader's fuzz target under libFuzzer: make fuzz FUZZ_SECONDS=60 FUZZ=goal
FUZZ_SECONDS  ?= 20
FUZZ          ?= *
FUZZ_PACKAGES := clang libclang-rt-dev
FUZZERS       := $(patsubst tests/fuzz/%.c,build/fuzz/engine/%,$(wildcard tests/fuzz/fuzz_$(FUZZ).c))

build/fuzz/engine/%: tests/fuzz/%.c build/fuzz/libweft.a
	@mkdir -p $(@D)
	@echo "  fuzzer   $<"
	$(Q)$(CC) $(CFLAGS) -DFUZZ_ENGINE -fsanitize=fuzzer $(INCLUDE) -o $@ $< build/fuzz/libweft.a $(LIBS)

fuzzers: $(FUZZERS)

fuzz:
	@tests/deps.sh $(PACKAGES) $(FUZZ_PACKAGES)
	+@$(parallel) BUILD=build/fuzz CC=clang OPTIMISE=-O1 \
	    SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined' fuzzers
	@tests/fuzz.sh $(FUZZ_SECONDS) $(FUZZERS)

bench: all
	@BUILD=$(BUILD) tests/bench.sh

docs: all
	$(BUILD)/weft params --markdown > docs/PARAMETERS.md

# --- installing: make install PREFIX=/opt/weft, DESTDIR= for packages -----------------------------
PREFIX     ?= /usr/local
INSTALL    := install
share       = $(DESTDIR)$(PREFIX)/share
completion  = $(share)/bash-completion/completions/weft
READY      := $(foreach folder,topologies workloads plots,\
                $(wildcard $(folder)/*.ini $(folder)/*.gp))

# what there is where ns-3 is: program, header, library
NS3_FILES := bin/weft-ns3 include/ns3c.h lib/libns3c.a

install: all
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(share)/man/man1 $(dir $(completion))
	$(INSTALL) -m 755 $(BUILD)/weft $(DESTDIR)$(PREFIX)/bin/weft
	$(INSTALL) -m 644 docs/weft.1 $(share)/man/man1/weft.1
	$(INSTALL) -m 644 docs/weft.bash $(completion)
	$(if $(NS3),$(INSTALL) -D -m 755 $(BUILD)/weft-ns3 $(DESTDIR)$(PREFIX)/bin/weft-ns3)
	$(if $(NS3),$(INSTALL) -D -m 644 models/ns3/ns3c.h $(DESTDIR)$(PREFIX)/include/ns3c.h)
	$(if $(NS3),$(INSTALL) -D -m 644 $(BUILD)/libns3c.a $(DESTDIR)$(PREFIX)/lib/libns3c.a)
	for file in $(READY); do $(INSTALL) -D -m 644 $$file $(share)/weft/$$file || exit 1; done

# takes away what install has put there, and folders of our own that are empty then
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/weft $(share)/man/man1/weft.1 $(completion)
	rm -f $(addprefix $(share)/weft/,$(READY)) $(addprefix $(DESTDIR)$(PREFIX)/,$(NS3_FILES))
	-rmdir $(addprefix $(share)/weft/,$(sort $(dir $(READY)))) $(share)/weft 2>/dev/null

format:
	clang-format -i $(SOURCES) $(wildcard $(addsuffix /*.h,$(LAYERS)) models/ns3/* \
	    tests/*/*.c tests/*/*.h tests/*/*.cc docs/examples/*.c)

clean:
	rm -rf build

FORCE:
.PHONY: all deps test-deps unit compare figures test asan tsan slurm-all fuzz fuzzers bench docs install uninstall format clean FORCE
-include $(OBJECTS:.o=.d) $(NS3_OBJECTS:.o=.d) $(XVAL_OBJECTS:.o=.d) $(XVAL:=.d) $(UNIT:=.d)
