#ifndef FEEDIMG_CCURL_H
#define FEEDIMG_CCURL_H
#include <curl/curl.h>
#endif
