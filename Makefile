# The targets of feedimg. `make` alone lists them.

PREFIX ?= /usr/local
DESTDIR ?=

SWIFT := Scripts/swift
# Without this check, an undeclared import of a sibling target may build, depending on the build order.
BUILD_FLAGS := --explicit-target-dependency-import-check error
# A folder with only the static libstdc++, which the linker searches first. Loading the shared library would take a
# tenth of the time of `feedimg resolve`.
STATIC := .build/static
RELEASE_FLAGS := -c release --static-swift-stdlib $(BUILD_FLAGS) -Xlinker -L$(CURDIR)/$(STATIC)
# Few tests run at a time, for two reasons. Some tests block threads that tests of loads need. A user may have at
# most 128 inotify instances (fs.inotify.max_user_instances).
TEST_FLAGS := --experimental-maximum-parallelization-width 12
BINARY := .build/release/feedimg
SERVICE := .build/release/feedimg-serve
PIXELS := .build/release/feedimg-pixels
SOURCES := Sources Tests Examples Policies Package.swift
MAN_PAGE := Documentation/feedimg.1

bin := $(DESTDIR)$(PREFIX)/bin/feedimg
service := $(DESTDIR)$(PREFIX)/bin/feedimg-serve
pixels := $(DESTDIR)$(PREFIX)/bin/feedimg-pixels
units := $(DESTDIR)$(PREFIX)/lib/systemd/user
man := $(DESTDIR)$(PREFIX)/share/man/man1/feedimg.1
bash_completion := $(DESTDIR)$(PREFIX)/share/bash-completion/completions/feedimg
zsh_completion := $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_feedimg
fish_completion := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/feedimg.fish

.DEFAULT_GOAL := help
.PHONY: help build demo test page netlab faults fuzz format lint check bench install uninstall clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

build: ## build the release binaries: feedimg, feedimg-serve and feedimg-pixels in .build/release
	@Scripts/packages build decoding
	@mkdir -p $(STATIC) && ln -sf "$$(gcc -print-file-name=libstdc++.a)" $(STATIC)/
	$(SWIFT) build $(RELEASE_FLAGS) --product feedimg
	$(SWIFT) build $(RELEASE_FLAGS) --product feedimg-serve
	$(SWIFT) build $(RELEASE_FLAGS) --product feedimg-pixels

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

netlab: build ## test feedimg in a virtual machine with simulated radios and modems
	@Scripts/packages netlab
	Tests/Netlab/run --bin $(CURDIR)/$(BINARY) --bin $(CURDIR)/$(SERVICE) --bin "$$(command -v curl)" \
	  --cmd 'feedimg network --json' --watch-cmd 'feedimg network --watch --json'

faults: build ## let each system call of the commands fail once; takes minutes (EVERY=n for a sample)
	@Scripts/packages faults
	Tests/Faults/run --every $(or $(EVERY),1)

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

install: $(BINARY) $(SERVICE) $(PIXELS) ## install binaries, man page, completions and user units under PREFIX (/usr/local)
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

uninstall: ## remove the installed files
	rm -f $(bin) $(service) $(pixels) $(units)/feedimg.service $(units)/feedimg.socket $(man) $(bash_completion) $(zsh_completion) $(fish_completion)

clean: ## remove all build products
	$(SWIFT) package clean
