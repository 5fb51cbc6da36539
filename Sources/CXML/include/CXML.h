// libxml2 through a table of function pointers.
//
// Linking libxml2 would add about 1 ms to every start, mostly for ICU. The first document opens it instead. The
// types and constants are those of <libxml/*.h>.
#ifndef FEEDIMG_CXML_H
#define FEEDIMG_CXML_H

#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>

// The functions of libxml2, with its names without `xml`; never changed after cxml_open returns.
typedef struct cxml_library {
  void (*InitParser)(void);
  xmlParserCtxtPtr (*NewParserCtxt)(void);
  htmlParserCtxtPtr (*htmlNewParserCtxt)(void);
  void (*FreeParserCtxt)(xmlParserCtxtPtr context);
  xmlDocPtr (*CtxtReadIO)(
      xmlParserCtxtPtr context, xmlInputReadCallback read, xmlInputCloseCallback close, void *data,
      const char *url, const char *encoding, int options);
  xmlDocPtr (*htmlCtxtReadIO)(
      htmlParserCtxtPtr context, xmlInputReadCallback read, xmlInputCloseCallback close, void *data,
      const char *url, const char *encoding, int options);
  void (*FreeDoc)(xmlDocPtr document);
  void (*StopParser)(xmlParserCtxtPtr context);
  int (*SAX2GetLineNumber)(void *context);
  xmlEntityPtr (*GetPredefinedEntity)(const xmlChar *name);
  const htmlEntityDesc *(*htmlEntityLookup)(const xmlChar *name);
  xmlCharEncodingHandlerPtr (*FindCharEncodingHandler)(const char *name);
  int (*CharEncCloseFunc)(xmlCharEncodingHandlerPtr handler);
} cxml_library;

// Opens and initialises libxml2 at the first call, and returns its functions.
//
// The library stays open. Returns NULL if it cannot be opened, also in later calls. Any thread may call it.
const cxml_library *cxml_open(void);

#endif
