/// Remembers what does not change about a device for as long as its interface exists.
struct KnownHardware {
  /// More interfaces than these are on no path; those that were are forgotten.
  private static let most = 64

  /// What tells an interface from a later one with the same index.
  private struct Identity: Hashable {
    var index: Int32
    var name: String
    var hardwareType: UInt16
    var kind: String?
    var parentDevice: String?
  }

  private var known: [Identity: Hardware] = [:]

  subscript(link: Link) -> Hardware? {
    get { known[Self.identity(link)] }
    set {
      if known.count >= Self.most { known = [:] }
      known[Self.identity(link)] = newValue
    }
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
