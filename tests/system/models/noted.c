/* Preloaded into a program: notes in the file $NOTED each host that is looked up, and each connection beyond this
   machine's own sockets. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void note(const char *what, const char *where)
{
    int fd = open(getenv("NOTED"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dprintf(fd, "%s %s\n", what, where ? where : "");
    close(fd);
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        dlsym(RTLD_NEXT, "getaddrinfo");
    note("looked up", host);
    return real(host, service, hints, found);
}

int connect(int fd, const struct sockaddr *to, socklen_t length)
{
    int (*real)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
    if (to->sa_family == AF_INET || to->sa_family == AF_INET6)
        note("connected", "");
    return real(fd, to, length);
}
