/// Reads a document in pieces: one value, the elements of an array, or values one after another.
///
/// It keeps one piece in memory, and the incomplete value from earlier pieces.
package struct JSONStream: Sendable {
  /// A value and the offset at which it starts; see ``JSONStream/line(of:)``.
  package struct Element: Sendable {
    package var value: JSONValue
    package var offset: Int
  }

  private enum State {
    case start
    /// Values one after another.
    case sequence
    case arrayStart
    case afterElement
    case afterComma
    case arrayEnd
  }

  /// The number of values so far.
  package private(set) var count = 0
  private var state = State.start
  /// The part of the document in memory.
  private var bytes: [UInt8] = []
  /// The number of ``bytes`` that have been read.
  private var done = 0
  /// The position in the document at which ``bytes`` begins.
  private var origin = (line: 1, column: 1)
  /// The length of ``bytes`` at which reading continues.
  private var threshold = 0
  /// The length in bytes from which an incomplete value is read again for each piece.
  private let longestValue: Int

  /// The length in bytes above which an incomplete value is read again only after its known part has doubled.
  ///
  /// Reading a long value again for each piece would take quadratic time.
  private static let longValue = 1 << 18

  /// - Parameter longestValue: The length in bytes above which the caller gives up on a value.
  package init(longestValue: Int = .max) { self.longestValue = longestValue }

  /// Reads the next piece.
  ///
  /// - Parameters:
  ///   - piece: The next bytes of the document, in UTF-8. A piece may end within a value.
  ///   - isLast: Whether the document ends here.
  /// - Returns: The values that are complete now.
  /// - Throws: ``JSONError`` with the position in the document. The stream must not be used afterwards.
  package mutating func read(_ piece: ArraySlice<UInt8>, isLast: Bool) throws(JSONError) -> [Element] {
    origin = place(of: done)
    bytes.removeSubrange(..<done)
    bytes += piece
    done = 0
    guard isLast || bytes.count >= threshold else { return [] }
    let bytes = bytes
    let elements = try bytes.withUnsafeBufferPointer { bytes throws(JSONError) in
      try read(bytes, isLast: isLast)
    }
    threshold = unreadLength > Self.longValue ? min(2 * unreadLength, longestValue) : 0
    return elements
  }

  /// The number of bytes after the last complete value.
  package var unreadLength: Int { bytes.count - done }

  /// The line, counted from one, on which the first incomplete value starts.
  package var unreadLine: Int { line(of: done) }

  /// The line, counted from one, of an ``Element/offset`` from the latest piece.
  package func line(of offset: Int) -> Int { place(of: offset).line }

  private mutating func read(
    _ bytes: UnsafeBufferPointer<UInt8>,
    isLast: Bool
  ) throws(JSONError) -> [Element] {
    var reader = JSONReader(bytes: bytes)
    var elements: [Element] = []
    if case .start = state {
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      if bytes.starts(with: mark) { reader.offset = 3 }
      if !isLast, bytes.count < 3, mark.starts(with: bytes) { return [] }
    }
    defer { done = reader.offset }
    while reader.skipWhiteSpace() {
      switch state {
      case .start: state = reader.take("[") ? .arrayStart : .sequence
      case .arrayStart where reader.take("]"): state = .arrayEnd
      case .arrayStart, .afterComma, .sequence:
        let offset = reader.offset
        guard let value = try value(&reader, isLast: isLast) else { return elements }
        elements.append(Element(value: value, offset: offset))
        count += 1
        if state != .sequence { state = .afterElement }
      case .afterElement where reader.take("]"): state = .arrayEnd
      case .afterElement:
        guard reader.take(",") else { throw inDocument(reader.unexpected("`,` or `]`")) }
        state = .afterComma
      case .arrayEnd: throw inDocument(reader.fault("expected the end of the text"))
      }
    }
    guard isLast else { return elements }
    switch state {
    case .arrayStart, .afterComma: throw inDocument(reader.unexpected("a JSON value"))
    case .afterElement: throw inDocument(reader.unexpected("`,` or `]`"))
    case .start, .sequence, .arrayEnd: return elements
    }
  }

  /// - Returns: Nil for an incomplete value; the reader then stays at its start.
  private func value(_ reader: inout JSONReader, isLast: Bool) throws(JSONError) -> JSONValue? {
    // For an error, a reader counts the lines from the start of its bytes. A reader of only this value counts
    // fewer.
    var ahead = JSONReader(bytes: UnsafeBufferPointer(rebasing: reader.bytes[reader.offset...]))
    do throws(JSONError) {
      let value = try ahead.value()
      // More digits may follow in the next piece.
      if !isLast, ahead.offset == ahead.bytes.count, case .number = value { return nil }
      reader.offset += ahead.offset
      return value
    } catch {
      guard isLast || ahead.bytes.count - ahead.offset > JSONReader.maximumWord else { return nil }
      throw inDocument(error, from: reader.offset)
    }
  }

  /// Converts an error whose position is relative to an offset in ``bytes`` to its position in the document.
  private func inDocument(_ error: JSONError, from offset: Int = 0) -> JSONError {
    let start = place(of: offset)
    var error = error
    if error.line == 1 { error.column += start.column - 1 }
    error.line += start.line - 1
    return error
  }

  private func place(of offset: Int) -> (line: Int, column: Int) {
    var place = bytes.withUnsafeBufferPointer { JSONReader.place(of: offset, in: $0) }
    if place.line == 1 { place.column += origin.column - 1 }
    place.line += origin.line - 1
    return place
  }
}
