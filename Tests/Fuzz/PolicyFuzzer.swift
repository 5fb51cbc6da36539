import FeedimgJSON
import FeedimgModel
import FeedimgPolicy

/// The entry point of libFuzzer, which must return.
///
/// The first byte selects the reader, so that all readers share one corpus.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPolicy(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let kind = bytes.first else { return 0 }
  let text = Array(bytes.dropFirst())
  switch kind {
  case UInt8(ascii: "c"): _ = try? PolicyCases(fileName: "x.tests.md", markdown: text)
  case UInt8(ascii: "i"): compare(text)
  case UInt8(ascii: "j"): check(try? PolicyTable(name: "x", fileName: "x.json", json: text))
  default: check(try? PolicyTable(name: "x", fileName: "x.md", markdown: text))
  }
  return 0
}

/// Checks and compiles a readable table, and compares the two ways to decide in every state.
private func check(_ table: PolicyTable?) {
  guard let table, let space = try? table.space(), space.count < 5000 else { return }
  let report = try? PolicyReport(table)
  guard let policy = try? CompiledPolicy(table) else {
    precondition(report?.findings.contains { $0.code == .gap } ?? true, "rejected without a gap")
    return
  }
  for state in 0..<space.count where space.isPossible(state) {
    let situation = space.situation(at: state)
    precondition(space.state(of: situation) == state, "the situation of a state belongs to another state")
    precondition(
      policy.decide(situation) == table.rule(in: situation)?.decision(in: situation),
      "two different decisions"
    )
  }
}

/// Reads items as a whole and in pieces, and compares the results.
private func compare(_ text: [UInt8]) {
  let whole = try? FeedItem.items(json: text)
  var reader = FeedItemReader()
  var items: [FeedItem]? = []
  var rest = text[...]
  repeat {
    let piece = rest.prefix(32)
    rest = rest.dropFirst(32)
    guard let read = try? reader.read(piece, isLast: rest.isEmpty) else {
      items = nil
      break
    }
    items?.append(contentsOf: read)
  } while !rest.isEmpty
  precondition(items == whole, "two different results")
}
