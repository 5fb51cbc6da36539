#include "CXML.h"

#include <dlfcn.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cxml_library functions;
static int is_open;

static int find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  // ISO C cannot convert an object pointer to a function pointer. POSIX recommends this cast (dlsym(3)).
  *(void **)function = found;
  return found != NULL;
}

static void open_library(void) {
  void *library = dlopen("libxml2.so.2", RTLD_LAZY | RTLD_LOCAL);
  // The name of libxml2 2.14 and later.
  library = library != NULL ? library : dlopen("libxml2.so.16", RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) {
    return;
  }
#define FIND(member) find(library, "xml" #member, &functions.member)
#define FIND_HTML(member) find(library, #member, &functions.member)
  is_open = FIND(InitParser) && FIND(NewParserCtxt) && FIND_HTML(htmlNewParserCtxt) && FIND(FreeParserCtxt) &&
            FIND(CtxtReadIO) && FIND_HTML(htmlCtxtReadIO) && FIND(FreeDoc) && FIND(StopParser) &&
            FIND(SAX2GetLineNumber) && FIND(GetPredefinedEntity) && FIND_HTML(htmlEntityLookup) &&
            FIND(FindCharEncodingHandler) && FIND(CharEncCloseFunc);
#undef FIND
#undef FIND_HTML
  if (is_open) {
    functions.InitParser();
  }
}

const cxml_library *cxml_open(void) {
  pthread_once(&once, open_library);
  return is_open ? &functions : NULL;
}
