/// What a place that a policy can come from holds at one time.
package enum PolicyReading: Sendable, Hashable {
  case nothing
  case bytes([UInt8])
  case fault(PolicyFault)

  /// - Throws: ``PolicyFault`` where there is no text.
  package func text() throws(PolicyFault) -> [UInt8] {
    switch self {
    case .nothing: throw PolicyFault(["there is nothing"], isUnreadable: true)
    case .bytes(let bytes): return bytes
    case .fault(let fault): throw fault
    }
  }
}
