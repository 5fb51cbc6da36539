import CNetlink

/// A packet mark in a routing rule.
struct RuleMark: Hashable, Sendable {
  /// The most marks to try.
  private static let most = 16

  var mark: UInt32
  /// Whether the rule applies to all packets except those with the mark.
  var isInverted = false

  /// Reads an `RTM_NEWRULE` message.
  ///
  /// - Returns: Nil for other messages, and for rules without a mark.
  init?(_ message: NetlinkMessage) {
    guard message.type == RTM_NEWRULE, let header = message.header(as: fib_rule_hdr.self) else {
      return nil
    }
    isInverted = header.flags & UInt32(FIB_RULE_INVERT) != 0
    mark = 0
    for attribute in message.attributes(after: MemoryLayout<fib_rule_hdr>.size)
    where attribute.type == FRA_FWMARK {
      mark = attribute.uint32 ?? 0
    }
    if mark == 0 { return nil }
  }

  init(mark: UInt32, isInverted: Bool) {
    self.mark = mark
    self.isInverted = isInverted
  }

  /// The request for all rules of a protocol.
  static func request(_ family: AddressFamily) -> NetlinkRequest {
    var header = fib_rule_hdr()
    header.family = family.number
    return NetlinkRequest(RTM_GETRULE, isList: true, header: header)
  }

  /// The marks, each once. Marks that exempt a tunnel's own packets come first.
  static func inOrder(_ rules: [RuleMark]) -> [UInt32] {
    var marks: [UInt32] = []
    for rule in rules.filter(\.isInverted) + rules.filter({ !$0.isInverted })
    where !marks.contains(rule.mark) && marks.count < most {
      marks.append(rule.mark)
    }
    return marks
  }
}
