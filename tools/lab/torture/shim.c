/* A slow disk and a clock that jumps, for whatever runs under LD_PRELOAD. Built and used by `make torture` alone.
 *
 * BRAID_SHIM_SLOW_US   writes to regular files go in up to four pieces with pauses of up to this many microseconds
 *                      between them, so that a kill leaves half a write; syncs and renames take up to eight times that
 * BRAID_SHIM_CLOCK     file of 8 bytes: what is added to the wall clock, in microseconds, as of now
 *
 * The monotonic clock stays as it is: time goes on while somebody sets the clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static uint64_t slow_us;
static const volatile int64_t *added_us;

__attribute__((constructor)) static void begin(void) {
    const char *slow = getenv("BRAID_SHIM_SLOW_US"), *clock = getenv("BRAID_SHIM_CLOCK");
    if (slow) slow_us = strtoull(slow, NULL, 10);
    if (clock) {
        int fd = open(clock, O_RDONLY | O_CLOEXEC);
        void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *added_us, PROT_READ, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED) _exit(71); /* a clock that can't jump would prove nothing */
        added_us = at;
        close(fd);
    }
}

/* xorshift64: which pause comes next is the machine's business, not the seed's. */
static uint64_t chance(uint64_t below) {
    static __thread uint64_t state;
    if (!state) state = (uint64_t)(uintptr_t)&state ^ ((uint64_t)getpid() << 32) ^ 0x9e3779b97f4a7c15u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return below ? state % below : 0;
}

static void pause_up_to(uint64_t us) {
    uint64_t wait = chance(us + 1);
    struct timespec span = {(time_t)(wait / 1000000), (long)(wait % 1000000) * 1000};
    if (slow_us) nanosleep(&span, NULL);
}

static int is_file(int fd) {
    struct stat found;
    return slow_us && fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* In pieces, each after a pause; what an error leaves of it is what a disk would have left. */
#define IN_PIECES(call)                                                     \
    if (!is_file(fd)) { size_t done = 0, piece = n; return (call); }        \
    size_t done = 0, step = n / (1 + chance(4)) + 1;                        \
    do {                                                                    \
        size_t piece = n - done < step ? n - done : step;                   \
        pause_up_to(slow_us);                                               \
        ssize_t wrote = (call);                                             \
        if (wrote < 0) return done ? (ssize_t)done : wrote;                 \
        done += (size_t)wrote;                                              \
        if ((size_t)wrote < piece) break;                                   \
    } while (done < n);                                                     \
    return (ssize_t)done

ssize_t write(int fd, const void *data, size_t n) {
    REAL(write);
    IN_PIECES(real(fd, (const char *)data + done, piece));
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at) {
    REAL(pwrite);
    IN_PIECES(real(fd, (const char *)data + done, piece, at + (off_t)done));
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) {
    REAL(pwrite64);
    IN_PIECES(real(fd, (const char *)data + done, piece, at + (off64_t)done));
}

#define AFTER_A_PAUSE(call)                 \
    pause_up_to(8 * slow_us);               \
    int result = (call);                    \
    pause_up_to(slow_us);                   \
    return result

int fsync(int fd) { REAL(fsync); AFTER_A_PAUSE(real(fd)); }
int fdatasync(int fd) { REAL(fdatasync); AFTER_A_PAUSE(real(fd)); }
int ftruncate(int fd, off_t size) { REAL(ftruncate); AFTER_A_PAUSE(real(fd, size)); }
int rename(const char *from, const char *to) { REAL(rename); AFTER_A_PAUSE(real(from, to)); }
int renameat(int from_fd, const char *from, int to_fd, const char *to) {
    REAL(renameat);
    AFTER_A_PAUSE(real(from_fd, from, to_fd, to));
}
int unlink(const char *path) { REAL(unlink); AFTER_A_PAUSE(real(path)); }

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(clock_gettime);
    int result = real(clock, now);
    if (result == 0 && added_us && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t us = (int64_t)now->tv_sec * 1000000 + now->tv_nsec / 1000 + *added_us;
        now->tv_sec = us / 1000000;
        now->tv_nsec = (us % 1000000) * 1000 + now->tv_nsec % 1000;
    }
    return result;
}

time_t time(time_t *where) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    if (where) *where = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *now, void *zone) {
    (void)zone;
    struct timespec precise = {0, 0};
    clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}
