extension StringProtocol {
  /// Without spaces and tabs at the ends, and with one space for each run of them within.
  var singleSpaced: String {
    var bytes: [UInt8] = []
    var isAfterBlank = false
    for byte in utf8 {
      if byte.isBlank {
        isAfterBlank = true
      } else {
        if isAfterBlank, !bytes.isEmpty { bytes.append(0x20) }
        isAfterBlank = false
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The parts between the commas, single-spaced; a missing part is empty.
  var listed: [String] {
    utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self).singleSpaced
    }
  }
}

extension UInt8 {
  /// A space or a tab.
  var isBlank: Bool { self == 0x20 || self == 0x09 }
}
