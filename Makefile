# The targets of feedimg. `make` alone lists them.

PREFIX ?= /usr/local
DESTDIR ?=

SWIFT := Scripts/swift
# Without this check, an undeclared import of a sibling target may build, depending on the build order.
BUILD_FLAGS := --explicit-target-dependency-import-check error
# A folder that the linker searches first. It holds the static libstdc++, because loading the shared one would take
# a tenth of the time of `feedimg resolve`. Its description of libxml2 names no library, because CXML opens libxml2 for
# feeds, and loading it at every start would take 1 ms. The descriptions in `programs` name the static SQLite and libnl.
STATIC := .build/static
STATIC_LINK = mkdir -p $(STATIC)/programs && ln -sf "$$(gcc -print-file-name=libstdc++.a)" $(STATIC)/ && \
  printf 'Name: libxml2\nDescription: headers\nVersion: 2\nCflags: %s\n' "$$(pkg-config --cflags libxml-2.0)" \
  > $(STATIC)/libxml-2.0.pc && for name in sqlite3 libnl-3.0; do printf \
  "Name: $$name\nDescription: static\nVersion: 3\nCflags: $$(pkg-config --cflags $$name)\nLibs: %s\n" \
  "$$(pkg-config --libs-only-l $$name | sed 's/-l\([^ ]*\)/-l:lib\1.a/')" > $(STATIC)/programs/$$name.pc; done
RELEASE = PKG_CONFIG_PATH=$(PACKAGES):$$PKG_CONFIG_PATH \
  $(SWIFT) build -c release --static-swift-stdlib $(BUILD_FLAGS) -Xlinker -L$(CURDIR)/$(STATIC)
PACKAGES = $(CURDIR)/$(STATIC)
# Few tests run at a time, for two reasons. Some tests block threads that tests of loads need. A user may have at
# most 128 inotify instances (fs.inotify.max_user_instances).
TEST_FLAGS := --experimental-maximum-parallelization-width 12
BINARY := .build/release/feedimg
SERVICE := .build/release/feedimg-serve
PIXELS := .build/release/feedimg-pixels
# The C libraries. SwiftPM compiles them, and here they are linked again: with Swift's libraries inside, a soname,
# only the functions of the headers, and a flag that refuses dlclose(3), because threads of the library may run.
LIBRARY := .build/release/libfeedimg.so.0
DECODING := .build/release/libfeedimg-decoding.so.0
# The libraries of `codecs` in Package.swift.
DECODING_LIBRARIES = $(shell sed -n 's/.*, links: \[\(.*\)\], debian: .*/\1/p' Package.swift | tr -d '",')
LINK = Scripts/swiftc -emit-library -static-stdlib -use-ld=lld -L$(STATIC) -Xlinker --gc-sections \
  -Xlinker -soname=$(@F) -Xlinker --version-script=$(filter %.map,$^) -Xlinker -z -Xlinker nodelete -o $@
SOURCES := Sources Tests Examples Policies Package.swift
MAN_PAGE := Documentation/feedimg.1
VERSION = $(shell sed -n 's/^\#define FEEDIMG_VERSION "\(.*\)"/\1/p' Sources/CFeedimg/include/feedimg.h)

bin := $(DESTDIR)$(PREFIX)/bin/feedimg
service := $(DESTDIR)$(PREFIX)/bin/feedimg-serve
pixels := $(DESTDIR)$(PREFIX)/bin/feedimg-pixels
units := $(DESTDIR)$(PREFIX)/lib/systemd/user
libraries := $(DESTDIR)$(PREFIX)/lib
headers := $(DESTDIR)$(PREFIX)/include
GTK_BUILD := PKG_CONFIG_PATH=$(CURDIR)/.build/gtk/lib/pkgconfig
man := $(DESTDIR)$(PREFIX)/share/man/man1/feedimg.1
bash_completion := $(DESTDIR)$(PREFIX)/share/bash-completion/completions/feedimg
zsh_completion := $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_feedimg
fish_completion := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/feedimg.fish

.DEFAULT_GOAL := help
.PHONY: help build library demo test page test-library test-clients gtk test-gtk test-qt netlab faults fuzz format lint check bench install install-library install-gtk uninstall clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' $(firstword $(MAKEFILE_LIST)) | expand -t 24

build: PACKAGES := $(CURDIR)/$(STATIC)/programs:$(CURDIR)/$(STATIC)
build: ## build the release binaries: feedimg, feedimg-serve and feedimg-pixels in .build/release
	@Scripts/packages build decoding
	@$(STATIC_LINK)
	$(RELEASE) --product feedimg
	$(RELEASE) --product feedimg-serve
	$(RELEASE) --product feedimg-pixels

library: ## build the C libraries, libfeedimg and libfeedimg-decoding in .build/release
	@Scripts/packages build decoding
	@$(STATIC_LINK)
	$(RELEASE) --product FeedimgC
	$(RELEASE) --product FeedimgDecodingC
	@$(MAKE) --no-print-directory $(LIBRARY) $(DECODING)

$(LIBRARY): .build/release/libFeedimgC.so Packaging/c/feedimg.map
	$(LINK) @.build/release/FeedimgC.product/Objects.LinkFileList $$(pkg-config --libs libnl-3.0 sqlite3)

$(DECODING): .build/release/libFeedimgDecodingC.so Packaging/c/feedimg-decoding.map
	$(LINK) @.build/release/FeedimgDecodingC.product/Objects.LinkFileList \
	  $(addprefix -l,$(DECODING_LIBRARIES))

.build/release/libFeedimgC.so .build/release/libFeedimgDecodingC.so:
	$(MAKE) library

demo: ## show all features with real images and a real server; ends by itself
	@Scripts/packages demo
	@$(MAKE) --no-print-directory build
	@Tests/Demo/run

test: ## build and run all tests
	@Scripts/packages build decoding test
	$(SWIFT) build --build-tests $(BUILD_FLAGS)
	$(SWIFT) test --skip-build $(TEST_FLAGS) --skip '^Feedimg(HTTPCache|CLI|Decoding|Policy|Reachability|Service|Usage)Tests\.'
	$(SWIFT) test --skip-build $(TEST_FLAGS) --filter '^Feedimg(HTTPCache|Decoding|Policy|Reachability|Usage)Tests\.'
	$(SWIFT) test --skip-build $(TEST_FLAGS) --filter '^Feedimg(CLI|Service)Tests\.'

page: ## test the page of the service in a real browser; write screenshots to .build/page
	@Scripts/packages build page
	$(SWIFT) build $(BUILD_FLAGS) --product feedimg-serve
	Tests/Page/run

test-library: library ## test the C libraries from an installed copy
	@Scripts/packages library
	Tests/C/run

# The GObject library is built against an installed copy of the C libraries.
gtk: library ## build the GObject library for GTK, libfeedimg-gtk4, in .build/gtk
	@Scripts/packages gtk
	$(MAKE) --no-print-directory install-library DESTDIR= PREFIX=$(CURDIR)/.build/gtk
	$(GTK_BUILD) meson setup --prefix=$(CURDIR)/.build/gtk --libdir=lib .build/gtk-build Sources/feedimg-gtk4
	$(GTK_BUILD) DESTDIR= meson install -C .build/gtk-build --quiet

test-gtk: gtk ## test the GObject library and its examples on a screen (screenshots in .build/gtk-screenshots)
	@Scripts/packages test-gtk
	Tests/GTK/run .build/gtk .build/gtk-screenshots

install-gtk: gtk ## install the C libraries and the GObject library under PREFIX
	$(MAKE) --no-print-directory install-library
	rm -rf .build/gtk-install
	$(GTK_BUILD) meson setup --prefix=$(PREFIX) --libdir=lib .build/gtk-install Sources/feedimg-gtk4
	$(GTK_BUILD) DESTDIR=$(DESTDIR) meson install -C .build/gtk-install --quiet

test-clients: ## drive real clients through the gateway; write screenshots to .build/clients (QUICK=1 for one client)
	@Scripts/packages build decoding $(if $(QUICK),clients-quick,clients)
	$(SWIFT) build $(BUILD_FLAGS) --product feedimg
	$(SWIFT) build $(BUILD_FLAGS) --product feedimg-serve
	Tests/Clients/run $(if $(QUICK),--quick)

test-qt: library ## test the example for Qt, and compare it with QML's own Image
	@Scripts/packages qt
	Tests/Qt/run

netlab: build ## test feedimg in a virtual machine with simulated radios and modems
	@Scripts/packages netlab
	Tests/Netlab/run --bin $(CURDIR)/$(BINARY) --bin $(CURDIR)/$(SERVICE) --bin "$$(command -v curl)" \
	  --cmd 'feedimg network --json' --watch-cmd 'feedimg network --watch --json'

faults: build ## let each system call of the commands fail once; takes minutes (EVERY=n for a sample, COMMANDS=load for one command)
	@Scripts/packages faults
	Tests/Faults/run --every $(or $(EVERY),1) $(addprefix --command ,$(COMMANDS))

fuzz: ## fuzz the readers of policies and items for ten minutes (SECONDS=)
	@Scripts/packages build
	Tests/Fuzz/policy $(or $(SECONDS),600)

format: ## format all Swift files in place
	$(SWIFT) format -i -r -p $(SOURCES)

lint: ## check the format and documentation comments of Swift files
	$(SWIFT) format lint --strict -r -p $(SOURCES)

check: lint ## lint, and check layers and imports
	@Scripts/packages test
	.ci/layering

bench: build ## run the benchmarks, and print the tables of Benchmarks/RESULTS.md
	@Scripts/packages decoding bench
	Benchmarks/run

$(BINARY) $(SERVICE) $(PIXELS):
	$(MAKE) build

install: $(BINARY) $(SERVICE) $(PIXELS) install-library ## install commands, libraries, man page, completions and user units under PREFIX (/usr/local)
	install -D -s -m 755 $(BINARY) $(bin)
	install -D -s -m 755 $(SERVICE) $(service)
	install -D -s -m 755 $(PIXELS) $(pixels)
	mkdir -p $(units)
	sed 's|@BINDIR@|$(PREFIX)/bin|' Packaging/systemd/feedimg.service > $(units)/feedimg.service
	install -m 644 Packaging/systemd/feedimg.socket $(units)/feedimg.socket
	if [ -f $(MAN_PAGE) ]; then install -D -m 644 $(MAN_PAGE) $(man); fi
	mkdir -p $(dir $(bash_completion)) $(dir $(zsh_completion)) $(dir $(fish_completion))
	$(BINARY) --generate-completion-script bash > $(bash_completion)
	$(BINARY) --generate-completion-script zsh > $(zsh_completion)
	$(BINARY) --generate-completion-script fish > $(fish_completion)

install-library: $(LIBRARY) $(DECODING) ## install the C libraries, their headers and pkg-config files under PREFIX
	install -D -s -m 644 $(LIBRARY) $(libraries)/libfeedimg.so.0
	install -D -s -m 644 $(DECODING) $(libraries)/libfeedimg-decoding.so.0
	mkdir -p $(headers) $(libraries)/pkgconfig
	install -m 644 Sources/CFeedimg/include/feedimg.h Sources/CFeedimg/include/feedimg-decoding.h $(headers)
	for name in feedimg feedimg-decoding; do \
	  ln -sf lib$$name.so.0 $(libraries)/lib$$name.so; \
	  sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' Packaging/c/$$name.pc > $(libraries)/pkgconfig/$$name.pc; \
	done

uninstall: ## remove the installed files
	rm -rf $(headers)/feedimg-gtk4
	rm -f $(libraries)/libfeedimg-gtk4.so $(libraries)/libfeedimg-gtk4.so.0 $(libraries)/pkgconfig/feedimg-gtk4.pc
	rm -f $(libraries)/girepository-1.0/Feedimg-0.typelib $(DESTDIR)$(PREFIX)/share/gir-1.0/Feedimg-0.gir
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/vala/vapi/feedimg-gtk4.,deps vapi)
	rm -f $(addprefix $(libraries)/,$(foreach name,feedimg feedimg-decoding,lib$(name).so lib$(name).so.0 pkgconfig/$(name).pc))
	rm -f $(headers)/feedimg.h $(headers)/feedimg-decoding.h
	rm -f $(bin) $(service) $(pixels) $(units)/feedimg.service $(units)/feedimg.socket $(man) $(bash_completion) $(zsh_completion) $(fish_completion)

clean: ## remove all build products
	$(SWIFT) package clean
