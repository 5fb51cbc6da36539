package import FeedimgModel

/// What this system lets us know of the network, and what we make of it.
package struct NetworkReport: Sendable {
  /// A source of knowledge.
  package struct Source: Hashable, Sendable {
    package var name: String
    package var isThere: Bool
    /// What it is good for, or what is not known without it, in words.
    package var remark: String
  }

  package var state: NetworkState
  /// What tells this network from others; nil where there is none.
  package var identity: NetworkIdentity?
  package var sources: [Source]
  /// What the sources said, line by line, for a report of a fault; without names of Wi-Fi networks.
  package var evidence: [String]
}
