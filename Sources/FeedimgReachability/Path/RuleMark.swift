import CNetlink

/// A mark that a rule of policy routing distinguishes.
struct RuleMark: Hashable, Sendable {
  /// More marks than these are not asked for.
  private static let most = 16

  var mark: UInt32
  /// Whether the rule is for all packets but those with the mark.
  var isInverted = false

  /// Reads an `RTM_NEWRULE` message.
  ///
  /// - Returns: Nil for other messages, and for rules that heed no mark.
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

  /// The question for all rules of a protocol.
  static func request(_ family: AddressFamily) -> NetlinkRequest {
    var header = fib_rule_hdr()
    header.family = family.number
    return NetlinkRequest(RTM_GETRULE, isList: true, header: header)
  }

  /// The marks, each once: first those that tunnels exempt themselves with.
  static func inOrder(_ rules: [RuleMark]) -> [UInt32] {
    var marks: [UInt32] = []
    for rule in rules.filter(\.isInverted) + rules.filter({ !$0.isInverted })
    where !marks.contains(rule.mark) && marks.count < most {
      marks.append(rule.mark)
    }
    return marks
  }
}
