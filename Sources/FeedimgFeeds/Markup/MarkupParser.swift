import CXML
import FeedimgModel

/// The start of an element.
struct MarkupElement {
  /// Without a prefix; in lower case in HTML.
  var name: String
  /// The prefix as written; nil without one.
  var prefix: String?
  /// The URI of the namespace; nil for none, and for a prefix that is not declared.
  var namespace: String?
  /// The values by name; a prefix stays part of the name, as in `xml:base`.
  var attributes: [String: String]
}

/// Receives the parts of a document in order.
protocol MarkupHandling: AnyObject {
  func start(_ element: MarkupElement)
  func end()
  func text(_ bytes: UnsafeBufferPointer<UInt8>)
}

/// Parses XML and HTML with libxml2, without a tree and without access to anything outside the document.
///
/// It knows the predefined entities and those of HTML, which feeds often use without a declaration. Entities that
/// the document declares are unknown to it, so that they can neither grow nor read files.
enum MarkupParser {
  enum Language {
    case xml
    case html
  }

  /// The most elements in one another.
  ///
  /// Parsing takes time in proportion to the depth. Pages may be deep, because they leave out end tags.
  static let maximumDepth = (xml: 256, html: 512)

  /// The most attributes of an element; libxml2 compares each with all others.
  static let maximumAttributes = 1000

  /// - Throws: ``FeedError`` for XML that is not well-formed, and for a document that is nested too deep. The
  ///   handler has then received the parts before the error.
  static func parse(
    _ document: [UInt8],
    as language: Language,
    in encoding: MarkupEncoding,
    _ handler: some MarkupHandling
  ) throws(FeedError) {
    try document[encoding.start...].withUnsafeBufferPointer { bytes throws(FeedError) in
      try parse(bytes, as: language, encoding: encoding.name, handler)
    }
  }

  private static func parse(
    _ bytes: UnsafeBufferPointer<UInt8>,
    as language: Language,
    encoding: String,
    _ handler: some MarkupHandling
  ) throws(FeedError) {
    guard let xml = cxml_open()?.pointee else {
      throw FeedError(.unavailable, "cannot open libxml2; install the Debian package libxml2")
    }
    guard let context = language == .xml ? xml.NewParserCtxt() : xml.htmlNewParserCtxt() else {
      throw FeedError(.unavailable, "out of memory")
    }
    defer { xml.FreeParserCtxt(context) }
    let source = MarkupSource(language == .html ? complete(bytes) : bytes, xml, context, language, handler)
    withExtendedLifetime(source) {
      let data = Unmanaged.passUnretained(source).toOpaque()
      context.pointee.userData = data
      context.pointee.sax.pointee = language == .xml ? MarkupSource.xmlEvents() : MarkupSource.htmlEvents()
      let read: xmlInputReadCallback = { data, buffer, count in
        MarkupSource.of(data)?.read(into: buffer, Int(count)) ?? -1
      }
      switch language {
      case .xml:
        let options = Int32(XML_PARSE_NONET.rawValue | XML_PARSE_IGNORE_ENC.rawValue)
        xml.FreeDoc(xml.CtxtReadIO(context, read, nil, data, nil, encoding, options))
      case .html:
        // The declared encoding is ignored if one is given.
        let options = Int32(HTML_PARSE_NONET.rawValue)
        xml.FreeDoc(xml.htmlCtxtReadIO(context, read, nil, data, nil, encoding, options))
      }
    }
    if let failure = source.failure { throw failure }
    guard language == .html || context.pointee.wellFormed != 0 else { throw FeedError(.malformed, "not XML") }
  }
}

extension MarkupParser {
  /// The bytes without a tag that the end of the page cuts, whose URLs may be cut too; browsers ignore it.
  private static func complete(_ page: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    let mark = page.lastIndex { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: ">") }
    guard let mark, page[mark] == UInt8(ascii: "<") else { return page }
    return UnsafeBufferPointer(rebasing: page[..<mark])
  }
}

/// The input and the state of a parser, which libxml2 hands to the callbacks.
private final class MarkupSource {
  private var rest: UnsafeBufferPointer<UInt8>
  private let xml: cxml_library
  private let context: xmlParserCtxtPtr
  private let language: MarkupParser.Language
  private let handler: any MarkupHandling
  private var depth = 0
  /// The entity that was looked up last, and its text.
  private let entity = UnsafeMutablePointer<xmlEntity>.allocate(capacity: 1)
  private let entityText = UnsafeMutableBufferPointer<xmlChar>.allocate(capacity: 5)
  private(set) var failure: FeedError?

  init(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ xml: cxml_library,
    _ context: xmlParserCtxtPtr,
    _ language: MarkupParser.Language,
    _ handler: any MarkupHandling
  ) {
    rest = bytes
    self.xml = xml
    self.context = context
    self.language = language
    self.handler = handler
    entity.initialize(to: xmlEntity())
    entityText.initialize(repeating: 0)
  }

  deinit {
    entity.deallocate()
    entityText.deallocate()
  }

  static func of(_ data: UnsafeMutableRawPointer?) -> MarkupSource? {
    data.map { Unmanaged<MarkupSource>.fromOpaque($0).takeUnretainedValue() }
  }

  func read(into buffer: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int32 {
    // The room for attributes of the element that is being read; libxml2 doubles it when it is full.
    let room = Int(context.pointee.maxatts) / (language == .xml ? 5 : 2)
    if failure != nil { return -1 }
    if room > 2 * MarkupParser.maximumAttributes {
      // libxml2 cannot be stopped here, because it uses the input.
      fail("an element has more than \(MarkupParser.maximumAttributes) attributes")
      return -1
    }
    let piece = rest.prefix(count)
    guard let buffer, let start = piece.base.baseAddress.map({ $0 + piece.startIndex }) else { return 0 }
    UnsafeMutableRawPointer(buffer).copyMemory(from: start, byteCount: piece.count)
    rest = UnsafeBufferPointer(rebasing: rest.dropFirst(piece.count))
    return Int32(piece.count)
  }

  // MARK: Events

  static func xmlEvents() -> xmlSAXHandler {
    var events = xmlSAXHandler()
    events.initialized = UInt32(XML_SAX2_MAGIC)
    events.startElementNs = { data, name, prefix, namespace, _, _, count, _, attributes in
      MarkupSource.of(data)?.start(name, prefix, namespace, attributes, Int(count))
    }
    events.endElementNs = { data, _, _, _ in MarkupSource.of(data)?.end() }
    events.characters = { data, text, count in MarkupSource.of(data)?.text(text, Int(count)) }
    events.cdataBlock = events.characters
    events.getEntity = { data, name in MarkupSource.of(data)?.find(name) }
    events.serror = { data, error in
      guard let error, error.pointee.level == XML_ERR_FATAL else { return }
      MarkupSource.of(data)?.fail(error.pointee.message, Int(error.pointee.line))
    }
    return events
  }

  static func htmlEvents() -> xmlSAXHandler {
    var events = xmlSAXHandler()
    events.initialized = 1
    events.startElement = { data, name, attributes in MarkupSource.of(data)?.start(name, attributes) }
    events.endElement = { data, _ in MarkupSource.of(data)?.end() }
    events.characters = { data, text, count in MarkupSource.of(data)?.text(text, Int(count)) }
    return events
  }

  private func start(
    _ name: UnsafePointer<xmlChar>?,
    _ prefix: UnsafePointer<xmlChar>?,
    _ namespace: UnsafePointer<xmlChar>?,
    _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?,
    _ count: Int
  ) {
    guard enter() else { return }
    var values: [String: String] = [:]
    for index in 0..<count {
      guard let parts = attributes.map({ $0 + 5 * index }), let first = parts[3], let last = parts[4] else {
        continue
      }
      let prefix = Self.string(parts[1]).map { $0 + ":" } ?? ""
      let value = String(decoding: UnsafeBufferPointer(start: first, count: last - first), as: UTF8.self)
      // Without entity substitution, libxml2 writes an ampersand in this form.
      values[prefix + (Self.string(parts[0]) ?? "")] = value.replacing("&#38;", with: "&")
    }
    handler.start(
      MarkupElement(
        name: Self.string(name) ?? "",
        prefix: Self.string(prefix),
        namespace: Self.string(namespace),
        attributes: values
      )
    )
  }

  private func start(
    _ name: UnsafePointer<xmlChar>?,
    _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
  ) {
    guard enter() else { return }
    var values: [String: String] = [:]
    var next = attributes
    while let pair = next, let name = Self.string(pair[0]) {
      values[name] = Self.string(pair[1]) ?? ""
      next = pair + 2
    }
    handler.start(MarkupElement(name: Self.string(name) ?? "", attributes: values))
  }

  private func end() {
    guard failure == nil else { return }
    depth -= 1
    handler.end()
  }

  private func text(_ text: UnsafePointer<xmlChar>?, _ count: Int) {
    guard failure == nil else { return }
    handler.text(UnsafeBufferPointer(start: text, count: count))
  }

  private func enter() -> Bool {
    guard failure == nil else { return false }
    depth += 1
    let limit = language == .xml ? MarkupParser.maximumDepth.xml : MarkupParser.maximumDepth.html
    guard depth > limit else { return true }
    fail("elements are nested more than \(limit) deep")
    xml.StopParser(context)
    return false
  }

  private func fail(_ message: String) {
    guard failure == nil else { return }
    failure = FeedError(.malformed, message, line: Int(xml.SAX2GetLineNumber(context)))
  }

  private func fail(_ message: UnsafePointer<CChar>?, _ line: Int) {
    guard failure == nil else { return }
    let text = message.map { String(cString: $0) } ?? "invalid syntax"
    failure = FeedError(.malformed, "not XML: \(URLReference.trimmed(text))", line: line > 0 ? line : nil)
  }

  /// An entity of XML or HTML as a predefined one, which libxml2 replaces by its text.
  private func find(_ name: UnsafePointer<xmlChar>?) -> xmlEntityPtr? {
    if let predefined = xml.GetPredefinedEntity(name) { return predefined }
    guard let found = xml.htmlEntityLookup(name), let scalar = Unicode.Scalar(found.pointee.value) else {
      return nil
    }
    entityText.update(repeating: 0)
    for (index, byte) in String(scalar).utf8.enumerated() { entityText[index] = byte }
    entity.pointee.type = XML_ENTITY_DECL
    entity.pointee.etype = XML_INTERNAL_PREDEFINED_ENTITY
    entity.pointee.name = name
    entity.pointee.content = entityText.baseAddress
    return entity
  }

  private static func string(_ text: UnsafePointer<xmlChar>?) -> String? { text.map { String(cString: $0) } }
}
