/// Writes down what the kernel said, so that somebody else can follow the conclusions.
enum Evidence {
  /// One line for what was found for a protocol, and one for each link on the way.
  static func lines(_ family: AddressFamily, _ finding: PathFinding, _ kernel: some KernelAsking) -> [String]
  {
    switch finding {
    case .none(let reason): return ["\(family): none: \(reason)"]
    case .path(let path):
      let route = path.route.text(path.leg, device: path.links.first?.name ?? "?")
      return ["\(family): \(route) metric \(path.route.metric)"]
        + path.links.map { "  \(line($0)) \(line(kernel.hardware(of: $0)))" } + ["  is \(path.end.medium)"]
    }
  }

  /// One line for a link, with the kernel's own numbers.
  static func line(_ link: Link) -> String {
    var parts = ["\(link.index): \(link.name)", "type \(link.hardwareType)"]
    parts.append("flags 0x\(String(link.flags, radix: 16)) state \(link.operationalState)")
    if let carrier = link.hasCarrier { parts.append("carrier \(carrier ? 1 : 0)") }
    if let kind = link.kind { parts.append("kind \(kind)") }
    if let lower = link.lower { parts.append("on \(lower)\(link.isLowerElsewhere ? " elsewhere" : "")") }
    if let master = link.master { parts.append("master \(master)") }
    if let device = link.parentDevice { parts.append("device \(link.parentBus ?? "?")/\(device)") }
    return parts.joined(separator: " ")
  }

  /// The rest of the line, for what is known of the device.
  static func line(_ hardware: Hardware) -> String {
    var parts: [String] = []
    if let type = hardware.deviceType { parts.append("devtype \(type)") }
    if let driver = hardware.driver { parts.append("driver \(driver)") }
    if let mode = hardware.wirelessMode { parts.append("wireless \(mode)") }
    if let usb = hardware.usb {
      parts.append("usb \(String(usb.vendor, radix: 16))\(usb.hasSerialPort ? " serial" : "")")
    }
    return parts.joined(separator: " ")
  }
}
