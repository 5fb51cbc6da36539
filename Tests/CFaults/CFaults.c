#define _GNU_SOURCE
#include "CFaults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static __thread int active;
static __thread long counted;
static __thread long wanted;
static __thread int chosen_error;
static __thread enum feedimg_fault chosen_fault;
static __thread char folder[4096];
static __thread char failed[32];

void feedimg_faults_begin(const char *path, long number, int error, enum feedimg_fault fault)
{
    snprintf(folder, sizeof folder, "%s", path);
    counted = 0;
    wanted = number;
    chosen_error = error;
    chosen_fault = fault;
    failed[0] = 0;
    active = 1;
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

/* Whether a path, or what a descriptor leads to, is below the folder. */
static int concerns(const char *path)
{
    return active && path != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static int concerns_descriptor(int descriptor)
{
    if (!active)
        return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return concerns(path);
}

/* Whether this call is to fail; counts it. */
static int fails(const char *call)
{
    counted++;
    if (wanted == 0 || counted < wanted)
        return 0;
    /* SQLite takes any failure of a lock for another holder, and would wait for it for ten seconds each time. */
    int lasts = chosen_fault == FEEDIMG_FAULT_FROM && strcmp(call, "fcntl") != 0;
    if (counted > wanted && (!lasts || strcmp(call, failed) != 0))
        return 0;
    if (counted == wanted)
        snprintf(failed, sizeof failed, "%s", call);
    return 1;
}

static int fails_with_error(const char *call)
{
    if (!fails(call) || chosen_fault == FEEDIMG_FAULT_SHORT)
        return 0;
    errno = chosen_error;
    return 1;
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                   \
    int name(const char *path, int flags, ...)                       \
    {                                                                \
        va_list arguments;                                           \
        va_start(arguments, flags);                                  \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
        va_end(arguments);                                           \
        if (concerns(path) && fails_with_error("open"))              \
            return -1;                                               \
        return REAL(name)(path, flags, mode);                        \
    }
OPEN(open)
OPEN(open64)

/* A call whose first argument is a path. */
#define ON_PATH(result, name, parameters, arguments)                 \
    result name parameters                                           \
    {                                                                \
        if (concerns(path) && fails_with_error(#name))               \
            return -1;                                               \
        return REAL(name) arguments;                                 \
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
        if (concerns_descriptor(file) && fails_with_error(#name))    \
            return -1;                                               \
        return REAL(name) arguments;                                 \
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

/* A call that writes, which may do less than it was asked to. */
#define ON_WRITE(name, parameters, arguments)                        \
    ssize_t name parameters                                          \
    {                                                                \
        if (concerns_descriptor(file) && fails(#name)) {             \
            if (chosen_fault == FEEDIMG_FAULT_SHORT && count > 1) {  \
                count /= 2;                                          \
                return REAL(name) arguments;                         \
            }                                                        \
            if (chosen_fault != FEEDIMG_FAULT_SHORT) {               \
                errno = chosen_error;                                \
                return -1;                                           \
            }                                                        \
        }                                                            \
        return REAL(name) arguments;                                 \
    }
ON_WRITE(write, (int file, const void *bytes, size_t count), (file, bytes, count))
ON_WRITE(pwrite, (int file, const void *bytes, size_t count, off_t at), (file, bytes, count, at))
ON_WRITE(pwrite64, (int file, const void *bytes, size_t count, off64_t at), (file, bytes, count, at))

/* Only the taking of locks: giving them back cannot fail, and other commands are not about files. */
#define FCNTL(name)                                                  \
    int name(int file, int command, ...)                             \
    {                                                                \
        va_list arguments;                                           \
        va_start(arguments, command);                                \
        void *argument = va_arg(arguments, void *);                  \
        va_end(arguments);                                           \
        int locks = command == F_SETLK && ((struct flock *)argument)->l_type != F_UNLCK; \
        if (locks && concerns_descriptor(file) && fails_with_error("fcntl")) \
            return -1;                                               \
        return REAL(name)(file, command, argument);                  \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

DIR *opendir(const char *path)
{
    if (concerns(path) && fails_with_error("opendir"))
        return NULL;
    return REAL(opendir)(path);
}

#define READDIR(name, entry)                                         \
    struct entry *name(DIR *folder)                                  \
    {                                                                \
        if (concerns_descriptor(dirfd(folder)) && fails_with_error("readdir")) \
            return NULL;                                             \
        return REAL(name)(folder);                                   \
    }
READDIR(readdir, dirent)
READDIR(readdir64, dirent64)

#define MMAP(name, offset_type)                                      \
    void *name(void *address, size_t length, int protection, int flags, int file, offset_type at) \
    {                                                                \
        if (file >= 0 && concerns_descriptor(file) && fails_with_error("mmap")) \
            return MAP_FAILED;                                       \
        return REAL(name)(address, length, protection, flags, file, at); \
    }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)
