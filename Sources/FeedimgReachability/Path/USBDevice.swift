/// A device on USB, as far as it tells a phone or modem from a network adapter.
struct USBDevice: Hashable, Sendable {
  var vendor: UInt16
  /// Whether it has a serial port beside the network: modems do, network adapters do not.
  var hasSerialPort: Bool

  /// Whether the maker makes phones, and nothing else for USB that has a network (usb.ids).
  var isOfPhoneMaker: Bool {
    switch vendor {
    case 0x05ac,  // Apple
      0x18d1,  // Google
      0x04e8,  // Samsung
      0x2717,  // Xiaomi
      0x22b8,  // Motorola
      0x0bb4,  // HTC
      0x0fce,  // Sony
      0x1004,  // LG
      0x2a70,  // OnePlus
      0x22d9,  // OPPO
      0x2d95,  // vivo
      0x0421,  // Nokia
      0x2e04,  // HMD
      0x2ae5,  // Fairphone
      0x0e8d:  // MediaTek
      true
    default: false
    }
  }
}
