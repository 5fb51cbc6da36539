/// The program that holds a dialled connection (pppd), and what its command line tells of it.
enum Dialler {
  /// It speaks to a modem: a serial port is named.
  case modem
  /// It speaks to another program or host: the connection is a tunnel.
  case tunnel
  /// Nothing tells.
  case untold

  /// Judges by the words of a command line.
  init(words: [Substring]) {
    if words.contains(where: Self.namesSerialPort) {
      self = .modem
    } else if words.contains(where: Self.namesTunnel) {
      self = .tunnel
    } else {
      self = .untold
    }
  }

  private static func namesSerialPort(_ word: Substring) -> Bool {
    let name = word.split(separator: "/").last ?? ""
    return ["ttyUSB", "ttyACM", "ttyS", "ttyGS", "ttyHS", "rfcomm", "wwan", "cdc-wdm"].contains { port in
      name.hasPrefix(port) && name.dropFirst(port.count).first?.isNumber ?? false
    }
  }

  /// Plugins of pppd for tunnels, and programs that run pppd or are run by it as its line.
  private static func namesTunnel(_ word: Substring) -> Bool {
    ["pppol2tp", "pptp", "sstp", "openfortivpn", "openconnect", "xl2tpd"].contains { name in
      word.contains(name)
    }
  }
}
