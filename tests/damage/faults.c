/* Stands before the C library's calls that touch files below one folder, allocate much, or ask for the time, and lets the n-th of them
   go wrong. The environment says what: VIVA_ROOT the folder; VIVA_AT which call, from 1; VIVA_FAULT one of fail (that call alone), full
   (every write from that call on), kill (the process ends before it) and torn (it ends in the middle of a write); VIVA_COUNT a file for
   the number of calls; VIVA_LOG a file for all that was changed; VIVA_CLOCK runs the clock of the process by its calls, and the day
   backwards; VIVA_MEMORY which large allocation fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST 4096
static char *paths[MOST];
static const char *root, *fault, *count_file, *clock_word;
static long at, calls;
static int log_fd = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
    root = getenv("VIVA_ROOT");
    fault = getenv("VIVA_FAULT");
    count_file = getenv("VIVA_COUNT");
    clock_word = getenv("VIVA_CLOCK");
    at = getenv("VIVA_AT") ? atol(getenv("VIVA_AT")) : 0;
    if (getenv("VIVA_LOG")) log_fd = syscall(SYS_openat, AT_FDCWD, getenv("VIVA_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

__attribute__((destructor)) static void end(void) {
    if (!count_file) return;
    char text[32];
    int n = snprintf(text, sizeof text, "%ld", calls), fd = syscall(SYS_openat, AT_FDCWD, count_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (syscall(SYS_write, fd, text, n) != n) syscall(SYS_exit_group, 99);
}

static pid_t begun_as;
__attribute__((constructor)) static void begin_as(void) { begun_as = getpid(); }

/* A program may leave without destructors; its forked children have counted nothing of their own. */
void _exit(int status) {
    if (getpid() == begun_as) end();
    for (;;) syscall(SYS_exit_group, status);
}

static int below(const char *path) { return root && path && !strncmp(path, root, strlen(root)); }

/* The whole path of one given beside a folder's handle; none where it is nobody's here. */
static int named(int folder, const char *path, char *whole) {
    if (path && path[0] == '/') snprintf(whole, 4096, "%s", path);
    else if (folder >= 0 && folder < MOST && paths[folder]) snprintf(whole, 4096, "%s/%s", paths[folder], path);
    else return 0;
    return below(whole);
}

static int ours(int fd) { return fd >= 0 && fd < MOST && paths[fd]; }

/* Whether this call is to fail. */
static int hit(int is_write) {
    if (!root) return 0;
    pthread_mutex_lock(&lock);
    long n = ++calls;
    pthread_mutex_unlock(&lock);
    if (!fault || !at || n < at) return 0;
    if (!strcmp(fault, "full")) { if (is_write) errno = ENOSPC; return is_write; }
    if (n != at) return 0;
    if (!strcmp(fault, "kill")) _exit(137);
    if (!strcmp(fault, "torn")) return 2;
    errno = EIO;
    return 1;
}

static void put(char kind, const char *a, size_t a_size, const char *b, size_t b_size, int64_t number, int64_t more) {
    if (log_fd < 0) return;
    size_t size = 1 + 16 + 8 + a_size + 8 + b_size;
    char *all = malloc(size), *next = all;
    uint64_t lengths[2] = { a_size, b_size };
    *next++ = kind;
    memcpy(next, &number, 8); memcpy(next + 8, &more, 8); next += 16;
    memcpy(next, lengths, 8); memcpy(next + 8, a, a_size); next += 8 + a_size;
    memcpy(next, lengths + 1, 8); memcpy(next + 8, b, b_size);
    if (syscall(SYS_write, log_fd, all, size) != (ssize_t)size) _exit(99);
    free(all);
}

static int opened(int fd, const char *whole, int flags) {
    if (fd >= 0 && fd < MOST) {
        free(paths[fd]);
        paths[fd] = strdup(whole);
        put('O', whole, strlen(whole), "", 0, fd, flags);
    }
    return fd;
}

#define OPEN(name, declared, folder, ...) \
    int name declared { \
        REAL(name); \
        mode_t mode = 0; \
        va_list rest; va_start(rest, flags); if (flags & (O_CREAT | O_TMPFILE)) mode = va_arg(rest, mode_t); va_end(rest); \
        char whole[4200]; \
        int mine = named(folder, path, whole); \
        if (mine && hit(flags & (O_CREAT | O_TRUNC))) { if (!strcmp(fault, "torn")) _exit(137); return -1; } \
        int fd = real(__VA_ARGS__); \
        if (fd >= 0 && fd < MOST && !mine) { free(paths[fd]); paths[fd] = NULL; } \
        return mine ? opened(fd, whole, flags) : fd; \
    }
OPEN(open, (const char *path, int flags, ...), -1, path, flags, mode)
OPEN(open64, (const char *path, int flags, ...), -1, path, flags, mode)
OPEN(openat, (int folder, const char *path, int flags, ...), folder, folder, path, flags, mode)
OPEN(openat64, (int folder, const char *path, int flags, ...), folder, folder, path, flags, mode)

int close(int fd) {
    REAL(close);
    if (ours(fd)) { put('C', "", 0, "", 0, fd, 0); free(paths[fd]); paths[fd] = NULL; }
    return real(fd);
}

ssize_t write(int fd, const void *bytes, size_t size) {
    REAL(write);
    if (!ours(fd)) return real(fd, bytes, size);
    int64_t place = lseek(fd, 0, SEEK_CUR);
    int what = hit(1);
    if (what == 2) { if (real(fd, bytes, size / 2) >= 0) _exit(137); }
    if (what) return -1;
    ssize_t n = real(fd, bytes, size);
    if (n > 0) put('W', bytes, n, "", 0, fd, place);
    return n;
}

ssize_t read(int fd, void *bytes, size_t size) {
    REAL(read);
    if (ours(fd) && hit(0)) { if (!strcmp(fault, "torn")) _exit(137); return -1; }
    return real(fd, bytes, size);
}

#define SIMPLE(name, declared, condition, is_write, logged, ...) \
    int name declared { \
        REAL(name); \
        if (!(condition)) return real(__VA_ARGS__); \
        if (hit(is_write)) { if (!strcmp(fault, "torn")) _exit(137); return -1; } \
        int done = real(__VA_ARGS__); \
        if (!done) { logged; } \
        return done; \
    }
SIMPLE(fsync, (int fd), ours(fd), 0, put('S', "", 0, "", 0, fd, 0), fd)
SIMPLE(fdatasync, (int fd), ours(fd), 0, put('S', "", 0, "", 0, fd, 0), fd)
SIMPLE(ftruncate, (int fd, off_t size), ours(fd), 0, put('T', "", 0, "", 0, fd, size), fd, size)
SIMPLE(ftruncate64, (int fd, off64_t size), ours(fd), 0, put('T', "", 0, "", 0, fd, size), fd, size)
SIMPLE(rename, (const char *a, const char *b), below(a), 0, put('R', a, strlen(a), b, strlen(b), 0, 0), a, b)
SIMPLE(unlink, (const char *a), below(a), 0, put('U', a, strlen(a), "", 0, 0, 0), a)
SIMPLE(rmdir, (const char *a), below(a), 0, put('U', a, strlen(a), "", 0, 0, 0), a)
SIMPLE(mkdir, (const char *a, mode_t mode), below(a), 1, put('M', a, strlen(a), "", 0, 0, 0), a, mode)

int unlinkat(int folder, const char *path, int flags) {
    REAL(unlinkat);
    char whole[4200];
    int mine = named(folder, path, whole);
    if (mine && hit(0)) { if (!strcmp(fault, "torn")) _exit(137); return -1; }
    int done = real(folder, path, flags);
    if (mine && !done) put('U', whole, strlen(whole), "", 0, 0, 0);
    return done;
}

int clock_gettime(clockid_t id, struct timespec *time) {
    REAL(clock_gettime);
    int done = real(id, time);
    if (!clock_word || done) return done;
    static long asked;
    long n = __sync_add_and_fetch(&asked, 1);
    if (id == CLOCK_MONOTONIC) { time->tv_sec = 1000 + n / 50; time->tv_nsec = n % 50 * 20000000; }
    if (id == CLOCK_REALTIME && !strcmp(clock_word, "back")) time->tv_sec -= 3600 * n;
    return 0;
}

/* Allocations of more than 64 KiB, of which the n-th fails, once the script has begun: when its first file is opened below the folder. */
static long large;
static int starved(size_t size) {
    static long which = -1;
    if (which == -1) which = getenv("VIVA_MEMORY") ? atol(getenv("VIVA_MEMORY")) : -2;
    if (which < 0 || !calls || size <= 65536) return 0;
    return __sync_add_and_fetch(&large, 1) == which;
}

int posix_memalign(void **to, size_t alignment, size_t size) {
    REAL(posix_memalign);
    if (starved(size)) return ENOMEM;
    return real(to, alignment, size);
}

extern void *__libc_malloc(size_t);

/* Those of the program itself too, with VIVA_MEMORY_OF=all. */
void *malloc(size_t size) {
    static int all = -1;
    if (all == -1) all = getenv("VIVA_MEMORY_OF") != NULL;
    if (all && starved(size)) { errno = ENOMEM; return NULL; }
    return __libc_malloc(size);
}
