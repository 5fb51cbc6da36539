/// What a beacon of Wi-Fi says, element by element (IEEE 802.11, 9.4.2).
///
/// Reading ends at the first element that is cut off.
struct InformationElements: Sequence, IteratorProtocol {
  struct Element {
    let identifier: UInt8
    let payload: UnsafeRawBufferPointer
  }

  private var rest: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) {
    rest = bytes
  }

  mutating func next() -> Element? {
    guard rest.count >= 2, rest.count >= 2 + Int(rest[1]) else { return nil }
    let end = 2 + Int(rest[1])
    let element = Element(identifier: rest[0], payload: UnsafeRawBufferPointer(rebasing: rest[2..<end]))
    rest = UnsafeRawBufferPointer(rebasing: rest[end...])
    return element
  }
}
