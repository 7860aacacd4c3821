# Two commands do everything on a fresh machine with a Rust toolchain and python3: `make demo` and `make test`.

LIBTORCH_DIR ?= .libtorch
PYTHON ?= python3
# Wheels whose hashes are written down, and nothing else: a wheel of CPython 3.12 on every platform, whatever python is here.
PIP := $(PYTHON) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --require-hashes --no-deps \
  --only-binary=:all: --python-version 3.12 --implementation cp

.PHONY: demo test build install libtorch bench clean

demo: build
	cargo run --quiet -- run scripts/overfitting/demo.rhai

# Tests run beside each other, one on each core: more threads in each would only wait for one another.
# Those that need real images and models come after them where there are some; campaigns (`many_...`) run for hours and by name.
# What cargo builds for tests it builds in one go, the binary among it: one after the other would leave cores idle.
# The core's own tests are short: to optimise it a second time for them takes longer.
SIDE_BY_SIDE := OMP_NUM_THREADS=1 $(PYTHON) .ci/side_by_side.py
CORE_AS_IT_STANDS := cargo --config 'profile.dev.package.viva-lab.opt-level=0' test --quiet --package viva-lab --lib
test: libtorch
	cargo build --tests --package viva
	$(SIDE_BY_SIDE) cargo test --quiet --tests --package viva
	OMP_NUM_THREADS=1 $(CORE_AS_IT_STANDS)
	cargo test --quiet --doc
ifdef VIVA_DATA
	$(SIDE_BY_SIDE) cargo test --quiet --tests --package viva -- --ignored --skip many_
endif

build: libtorch
	cargo build

# From any folder: `make -C viva install`. The binary goes on with the libtorch of this checkout.
install: libtorch
	LIBTORCH="$${LIBTORCH:-$(CURDIR)/$(LIBTORCH_DIR)/torch}" cargo install --locked --path "$(CURDIR)"

bench: libtorch
	cargo bench

# A LIBTORCH or LIBTORCH_USE_PYTORCH of your own wins.
ifdef LIBTORCH
libtorch:
else ifdef LIBTORCH_USE_PYTORCH
libtorch:
else
libtorch: $(LIBTORCH_DIR)/.complete
endif

# With a GPU's driver the rest of CUDA comes along; without one only what the CPU part is linked with. macOS and arm64 wheels need
# nothing beside torch.
WHEELS := $(if $(wildcard /dev/nvidiactl /dev/dxg),cuda,cpu)
# What was fetched before there was a GPU lacks CUDA, and is fetched anew.
ifeq ($(WHEELS)$(wildcard $(LIBTORCH_DIR)/nvidia_cudnn_cu13-*),cuda)
.PHONY: $(LIBTORCH_DIR)/.complete
endif
$(LIBTORCH_DIR)/.complete:
	@$(PYTHON) -m pip --version >/dev/null 2>&1 || { echo "make: $(PYTHON) has no pip; install it (Debian: apt-get install python3-pip)"; exit 1; }
	@echo "fetching libtorch into $(LIBTORCH_DIR)"
	rm -rf $(LIBTORCH_DIR)
	$(PIP) --target $(LIBTORCH_DIR) --requirement .ci/libtorch-$(WHEELS).txt
	@touch $@

clean:
	cargo clean
