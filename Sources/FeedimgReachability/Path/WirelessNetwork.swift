/// The Wi-Fi network to which this host is connected.
struct WirelessNetwork: Hashable, Sendable {
  /// Its name, if it is text.
  var name: String?
  /// The hardware address of the access point.
  var accessPoint: UInt64?
  /// The metering that the access point reports.
  var cost = WirelessCost.notAnnounced
}

/// The metering that an access point's beacon reports.
enum WirelessCost: Hashable, Sendable {
  case notAnnounced
  /// Data costs, with the reason.
  case metered(String)
  /// Data is free.
  case free
  /// The access point looks like a phone, with the reason.
  case phone(String)
}

extension WirelessNetwork {
  /// Reads the elements of a beacon or a probe response.
  mutating func read(_ elements: InformationElements) {
    for element in elements {
      switch element.identifier {
      case Self.nameElement:
        if !element.payload.allSatisfy({ $0 == 0 }) {
          name = String(validating: element.payload, as: UTF8.self)
        }
      case Self.vendorElement: read(vendor: element.payload)
      default: break
      }
    }
    guard cost == .notAnnounced, let accessPoint, accessPoint >> 24 == Self.androidPrefix else { return }
    cost = .phone("the access point has the address of an Android phone")
  }

  private mutating func read(vendor payload: UnsafeRawBufferPointer) {
    guard payload.count >= 4 else { return }
    let vendor = UInt32(payload[0]) << 16 | UInt32(payload[1]) << 8 | UInt32(payload[2])
    switch (vendor, payload[3]) {
    case (Self.microsoft, 0x11) where payload.count >= 8:
      // A certain cost takes precedence over other elements.
      if case .metered = cost { return }
      cost = Self.cost(level: payload[4], flags: payload[6]) ?? cost
    case (Self.microsoft, 0x12) where cost == .notAnnounced:
      cost = .phone("the access point shares the connection of a device")
    case (Self.apple, _) where cost == .notAnnounced && isLocallyAddressed:
      cost = .phone("the access point looks like an iPhone's hotspot")
    default: break
    }
  }

  /// Reads Microsoft's Network Cost element ([MS-NCT] 2.2).
  private static func cost(level: UInt8, flags: UInt8) -> WirelessCost? {
    if flags & 0x01 != 0 { return .metered("the access point reports that its data limit is used up") }
    return switch level {
    case 1: .free
    case 2: .metered("the access point reports that its data is limited")
    case 4: .metered("the access point reports that data costs by volume")
    default: nil
    }
  }

  /// Whether the hardware address is random, as phones use, rather than the manufacturer's.
  private var isLocallyAddressed: Bool {
    accessPoint.map { $0 >> 40 & 0x02 != 0 } ?? false
  }

  private static let nameElement: UInt8 = 0
  private static let vendorElement: UInt8 = 221
  private static let microsoft: UInt32 = 0x00_50_f2
  private static let apple: UInt32 = 0x00_17_f2
  /// The prefix of Android hotspots before they used random addresses.
  private static let androidPrefix: UInt64 = 0x02_1a_11
}

/// The elements of a Wi-Fi beacon (IEEE 802.11, 9.4.2).
///
/// Ends at the first truncated element.
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
