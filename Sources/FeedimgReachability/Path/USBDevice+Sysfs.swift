extension USBDevice {
  /// Looks for the USB device behind a link.
  ///
  /// Devices of a bus are the same in all namespaces, unlike interfaces.
  ///
  /// - Returns: Nil where the link is on no USB device, or that cannot be read.
  init?(behind link: Link) {
    // `1-4:1.0` is interface 0 in configuration 1 of the device `1-4`.
    guard link.parentBus == "usb", let device = link.parentDevice?.split(separator: ":").first else {
      return nil
    }
    let folder = "/sys/bus/usb/devices/\(device)"
    guard let text = TextFile.read("\(folder)/idVendor"),
      let vendor = UInt16(text.prefix { $0 != "\n" }, radix: 16)
    else { return nil }
    self.init(vendor: vendor, hasSerialPort: Self.hasSerialPort(folder, named: device))
  }

  private static func hasSerialPort(_ folder: String, named device: Substring) -> Bool {
    TextFile.names(in: folder).contains { interface in
      interface.hasPrefix("\(device):")
        && TextFile.names(in: "\(folder)/\(interface)").contains { $0.hasPrefix("tty") }
    }
  }
}
