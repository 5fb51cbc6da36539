import CFeedimg

/// Reads a struct that begins with its size.
///
/// Members that the program does not know are zero. A larger struct comes from a newer header.
///
/// - Returns: Nil for NULL.
/// - Throws: ``CallError`` for an impossible size, and if a member is set that this library does not know.
func read<Struct: BitwiseCopyable>(
  _ pointer: UnsafePointer<Struct>?,
  _ name: StaticString
) throws(CallError) -> Struct? {
  guard let pointer else { return nil }
  let (source, known) = (UnsafeRawPointer(pointer), MemoryLayout<Struct>.stride)
  let size = try size(source, name)
  guard
    size <= known || !(known..<size).contains(where: { source.load(fromByteOffset: $0, as: UInt8.self) != 0 })
  else {
    throw CallError(
      FEEDIMG_ERROR_ARGUMENT,
      "`\(name)` has members of a newer feedimg; this is \(FEEDIMG_VERSION)"
    )
  }
  return withUnsafeTemporaryAllocation(byteCount: known, alignment: MemoryLayout<Struct>.alignment) {
    buffer in
    buffer.initializeMemory(as: UInt8.self, repeating: 0)
    buffer.copyMemory(from: UnsafeRawBufferPointer(start: source, count: min(size, known)))
    return buffer.load(as: Struct.self)
  }
}

/// Writes as many members of a struct as the program knows.
func write<Struct: BitwiseCopyable>(
  _ value: Struct,
  to pointer: UnsafeMutablePointer<Struct>?,
  _ name: StaticString
) throws(CallError) {
  let target = try given(pointer, name)
  _ = try size(target, name)
  withUnsafeBytes(of: value) { cfeedimg_write(target, $0.baseAddress, $0.count) }
}

private func size(_ pointer: UnsafeRawPointer, _ name: StaticString) throws(CallError) -> Int {
  let size = cfeedimg_size(pointer)
  guard size > 0 else {
    let given = pointer.load(as: Int.self)
    throw CallError(
      FEEDIMG_ERROR_ARGUMENT,
      "`\(name).size` is \(given); initialize the struct with its macro"
    )
  }
  return size
}

/// Returns the elements of an array.
func elements<Element>(
  _ start: UnsafePointer<Element>?,
  _ count: Int,
  _ name: StaticString
) throws(CallError) -> UnsafeBufferPointer<Element> {
  guard count > 0 else { return UnsafeBufferPointer(start: nil, count: 0) }
  return UnsafeBufferPointer(start: try given(start, name), count: count)
}
