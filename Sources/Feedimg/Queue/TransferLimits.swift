/// How many transfers may run at a time.
struct TransferLimits: Sendable, Hashable {
  /// Over all hosts; at least one.
  ///
  /// For other hosts those whose answer is late do not count, as many again at most (``UnansweredTransfers``).
  var total: Int
  /// To one host; at least one.
  var perHost: Int
  /// Of those less urgent than something that is wanted as well.
  var besideUrgent: Int

  init(total: Int, perHost: Int, besideUrgent: Int) {
    self.total = max(1, total)
    self.perHost = max(1, perHost)
    self.besideUrgent = max(0, besideUrgent)
  }
}
