// Which ciphers are offered first over TLS.
#ifndef FEEDIMG_CCURL_CIPHERS_H
#define FEEDIMG_CCURL_CIPHERS_H

#include "CCurl.h"

// The functions of the OpenSSL that this library stands on; NULL where it stands on something else.
ccurl_openssl ccurl_find_openssl(void *library, const curl_version_info_data *version);

#endif
