# Two commands do everything on a fresh machine with a Rust toolchain and python3: `make demo` and `make test`.

LIBTORCH_DIR := .libtorch
TORCH := torch==2.11.0
PYTHON ?= python3
# torch's wheel is linked with these two small libraries even when only its CPU part is used.
CUDA_STUBS := 'nvidia-cuda-runtime==13.*' 'nvidia-cuda-cupti==13.*'
PIP := $(PYTHON) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target $(LIBTORCH_DIR)

.PHONY: demo test build libtorch bench clean

demo: build
	cargo run --quiet -- run scripts/overfitting/demo.rhai

test: build
	cargo test --quiet --no-fail-fast

build: libtorch
	cargo build

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

# With a GPU the rest of CUDA comes along; without one only what the CPU part is linked with. macOS and arm64 wheels need
# nothing beside torch.
$(LIBTORCH_DIR)/.complete:
	@$(PYTHON) -m pip --version >/dev/null 2>&1 || { echo "make: $(PYTHON) has no pip; install it (Debian: apt-get install python3-pip)"; exit 1; }
	@echo "fetching libtorch ($(TORCH)) into $(LIBTORCH_DIR)"
	rm -rf $(LIBTORCH_DIR)
	@if [ -e /dev/nvidiactl ]; then \
	  $(PIP) $(TORCH); \
	else \
	  $(PIP) --no-deps $(TORCH) && \
	  if [ "$$(uname -s)-$$(uname -m)" = Linux-x86_64 ]; then $(PIP)-cuda $(CUDA_STUBS) && cp -r $(LIBTORCH_DIR)-cuda/. $(LIBTORCH_DIR)/ && rm -rf $(LIBTORCH_DIR)-cuda; fi; \
	fi
	@touch $@

clean:
	cargo clean
