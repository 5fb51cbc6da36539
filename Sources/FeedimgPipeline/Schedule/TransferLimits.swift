/// The number of downloads that may run at the same time.
struct TransferLimits: Sendable, Hashable {
  /// The limit over all hosts; at least one.
  var total: Int
  /// The limit for one host; at least one.
  var perHost: Int
  /// The limit for downloads below the most urgent priority that runs or could start.
  var besideUrgent: Int

  init(total: Int, perHost: Int, besideUrgent: Int) {
    self.total = max(1, total)
    self.perHost = max(1, perHost)
    self.besideUrgent = max(0, besideUrgent)
  }
}
