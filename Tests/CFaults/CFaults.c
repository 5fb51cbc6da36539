#define _GNU_SOURCE
#include "CFaults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static __thread int active;
static __thread long counted;
static __thread long failing_call;
static __thread int chosen_error;
static __thread enum feedimg_fault chosen_fault;
static __thread char folder[4096];
static __thread char failed[32];
static __thread int is_interrupted;
/* The number of calls of stop_call until the process stops. */
static __thread long stop_at;
static __thread char stop_call[32];
static __thread long kill_at;

void feedimg_faults_begin(const char *path, long number, int error, enum feedimg_fault fault)
{
    snprintf(folder, sizeof folder, "%s", path);
    counted = 0;
    failing_call = number;
    chosen_error = error;
    chosen_fault = fault;
    failed[0] = 0;
    is_interrupted = 0;
    stop_at = kill_at = 0;
    active = 1;
}

void feedimg_interruptions_begin(const char *path, long stop, const char *call, long kill)
{
    feedimg_faults_begin(path, 0, 0, FEEDIMG_FAULT_ONCE);
    is_interrupted = 1;
    stop_at = stop;
    snprintf(stop_call, sizeof stop_call, "%s", call);
    kill_at = kill;
}

int feedimg_fork(void)
{
    return fork();
}

long feedimg_faults_end(void)
{
    active = 0;
    return counted;
}

const char *feedimg_faults_call(void)
{
    return failed;
}

/* Whether the path of a call is below the folder. */
static int is_below_folder(const char *path)
{
    return active && path != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_file_below_folder(int descriptor)
{
    if (!active)
        return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return is_below_folder(path);
}

/* Counts a call, and returns whether it must fail. */
static int must_fail(const char *call)
{
    counted++;
    if (stop_at != 0 && (stop_call[0] == 0 || strcmp(call, stop_call) == 0) && --stop_at == 0)
        raise(SIGSTOP);
    if (failing_call == 0 || counted < failing_call)
        return 0;
    /* SQLite takes each failed lock for a lock of another process, and would wait for ten seconds each time. */
    int lasts = chosen_fault == FEEDIMG_FAULT_FROM && strcmp(call, "fcntl") != 0;
    if (counted > failing_call && (!lasts || strcmp(call, failed) != 0))
        return 0;
    if (counted == failing_call)
        snprintf(failed, sizeof failed, "%s", call);
    return 1;
}

static int fails_with_error(const char *call)
{
    if (!must_fail(call) || chosen_fault == FEEDIMG_FAULT_SHORT)
        return 0;
    errno = chosen_error;
    return 1;
}

/* Kills the process directly after the chosen call has had its effect. */
static void end_call(int is_counted)
{
    if (is_counted && kill_at != 0 && counted == kill_at)
        kill(getpid(), SIGKILL);
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                   \
    int name(const char *path, int flags, ...)                       \
    {                                                                \
        va_list arguments;                                           \
        va_start(arguments, flags);                                  \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
        va_end(arguments);                                           \
        int is_counted = is_below_folder(path);                      \
        if (is_counted && fails_with_error("open"))                  \
            return -1;                                               \
        int result = REAL(name)(path, flags, mode);                  \
        end_call(is_counted);                                        \
        return result;                                               \
    }
OPEN(open)
OPEN(open64)

/* A call whose first argument is a path. */
#define ON_PATH(result, name, parameters, arguments)                 \
    result name parameters                                           \
    {                                                                \
        int is_counted = is_below_folder(path);                      \
        if (is_counted && fails_with_error(#name))                   \
            return -1;                                               \
        result returned = REAL(name) arguments;                      \
        end_call(is_counted);                                        \
        return returned;                                             \
    }
ON_PATH(int, unlink, (const char *path), (path))
ON_PATH(int, rmdir, (const char *path), (path))
ON_PATH(int, mkdir, (const char *path, mode_t mode), (path, mode))
ON_PATH(int, rename, (const char *path, const char *to), (path, to))
ON_PATH(int, access, (const char *path, int mode), (path, mode))
ON_PATH(int, statvfs, (const char *path, struct statvfs *status), (path, status))
ON_PATH(int, statvfs64, (const char *path, struct statvfs64 *status), (path, status))
ON_PATH(int, stat, (const char *path, struct stat *status), (path, status))
ON_PATH(int, stat64, (const char *path, struct stat64 *status), (path, status))

/* A call whose first argument is a descriptor. */
#define ON_FILE(result, name, parameters, arguments)                 \
    result name parameters                                           \
    {                                                                \
        int is_counted = is_file_below_folder(file);                 \
        if (is_counted && fails_with_error(#name))                   \
            return -1;                                               \
        result returned = REAL(name) arguments;                      \
        end_call(is_counted);                                        \
        return returned;                                             \
    }
ON_FILE(int, fstat, (int file, struct stat *status), (file, status))
ON_FILE(int, fstat64, (int file, struct stat64 *status), (file, status))
ON_FILE(int, ftruncate, (int file, off_t length), (file, length))
ON_FILE(int, ftruncate64, (int file, off64_t length), (file, length))
ON_FILE(int, fsync, (int file), (file))
ON_FILE(int, fdatasync, (int file), (file))
ON_FILE(int, flock, (int file, int operation), (file, operation))
ON_FILE(ssize_t, read, (int file, void *bytes, size_t count), (file, bytes, count))
ON_FILE(ssize_t, pread, (int file, void *bytes, size_t count, off_t at), (file, bytes, count, at))
ON_FILE(ssize_t, pread64, (int file, void *bytes, size_t count, off64_t at), (file, bytes, count, at))

/* A call that writes, possibly only a part. */
#define ON_WRITE(name, parameters, arguments)                        \
    ssize_t name parameters                                          \
    {                                                                \
        int is_counted = is_file_below_folder(file);                 \
        if (is_counted && must_fail(#name)) {                        \
            if (chosen_fault == FEEDIMG_FAULT_SHORT && count > 1) {  \
                count /= 2;                                          \
                return REAL(name) arguments;                         \
            }                                                        \
            if (chosen_fault != FEEDIMG_FAULT_SHORT) {               \
                errno = chosen_error;                                \
                return -1;                                           \
            }                                                        \
        }                                                            \
        ssize_t written = REAL(name) arguments;                      \
        end_call(is_counted);                                        \
        return written;                                              \
    }
ON_WRITE(write, (int file, const void *bytes, size_t count), (file, bytes, count))
ON_WRITE(pwrite, (int file, const void *bytes, size_t count, off_t at), (file, bytes, count, at))
ON_WRITE(pwrite64, (int file, const void *bytes, size_t count, off64_t at), (file, bytes, count, at))

/* Unlocking cannot fail, but can be the call after which the process is killed. Other commands are not counted. */
#define FCNTL(name)                                                  \
    int name(int file, int command, ...)                             \
    {                                                                \
        va_list arguments;                                           \
        va_start(arguments, command);                                \
        void *argument = va_arg(arguments, void *);                  \
        va_end(arguments);                                           \
        int is_counted = command == F_SETLK                          \
            && (is_interrupted || ((struct flock *)argument)->l_type != F_UNLCK) \
            && is_file_below_folder(file);                           \
        if (is_counted && fails_with_error("fcntl"))                 \
            return -1;                                               \
        int result = REAL(name)(file, command, argument);            \
        end_call(is_counted);                                        \
        return result;                                               \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

DIR *opendir(const char *path)
{
    int is_counted = is_below_folder(path);
    if (is_counted && fails_with_error("opendir"))
        return NULL;
    DIR *opened = REAL(opendir)(path);
    end_call(is_counted);
    return opened;
}

#define READDIR(name, entry)                                         \
    struct entry *name(DIR *folder)                                  \
    {                                                                \
        int is_counted = is_file_below_folder(dirfd(folder));        \
        if (is_counted && fails_with_error("readdir"))               \
            return NULL;                                             \
        struct entry *found = REAL(name)(folder);                    \
        end_call(is_counted);                                        \
        return found;                                                \
    }
READDIR(readdir, dirent)
READDIR(readdir64, dirent64)

#define MMAP(name, offset_type)                                      \
    void *name(void *address, size_t length, int protection, int flags, int file, offset_type at) \
    {                                                                \
        int is_counted = file >= 0 && is_file_below_folder(file);    \
        if (is_counted && fails_with_error("mmap"))                  \
            return MAP_FAILED;                                       \
        void *mapped = REAL(name)(address, length, protection, flags, file, at); \
        end_call(is_counted);                                        \
        return mapped;                                               \
    }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

/* While calls are interrupted, a pause returns at once, because the process that it waits for is stopped. */
#define WITHOUT_WAITING(name, parameters, arguments, is_pause)       \
    int name parameters                                              \
    {                                                                \
        return active && is_interrupted && (is_pause) ? 0 : REAL(name) arguments; \
    }
WITHOUT_WAITING(usleep, (useconds_t time), (time), 1)
WITHOUT_WAITING(nanosleep, (const struct timespec *time, struct timespec *rest), (time, rest), 1)
WITHOUT_WAITING(poll, (struct pollfd *files, nfds_t count, int time), (files, count, time), count == 0)
