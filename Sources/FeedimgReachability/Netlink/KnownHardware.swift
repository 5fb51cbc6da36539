/// Remembers what does not change about a device for as long as its interface exists.
struct KnownHardware {
  /// More interfaces than these are on no path; then all are forgotten.
  private static let most = 32

  /// What tells an interface from a later one with the same index.
  private struct Identity: Equatable {
    var index: Int32
    var name: String
    var hardwareType: UInt16
    var kind: String?
    var parentDevice: String?
  }

  private var known: [(identity: Identity, hardware: Hardware)] = []

  /// What is remembered of a link's device.
  func hardware(of link: Link) -> Hardware? {
    let identity = Self.identity(link)
    return known.first { $0.identity == identity }?.hardware
  }

  /// Remembers a link's device.
  mutating func remember(_ hardware: Hardware, of link: Link) {
    if known.count >= Self.most { known = [] }
    known.append((Self.identity(link), hardware))
  }

  private static func identity(_ link: Link) -> Identity {
    Identity(
      index: link.index,
      name: link.name,
      hardwareType: link.hardwareType,
      kind: link.kind,
      parentDevice: link.parentDevice
    )
  }
}
