/// How many downloads may run at a time.
struct TransferLimits: Sendable, Hashable {
  /// Over all hosts; at least one.
  var total: Int
  /// To one host; at least one.
  var perHost: Int
  /// Of those below the most urgent priority that is wanted.
  var besideUrgent: Int

  init(total: Int, perHost: Int, besideUrgent: Int) {
    self.total = max(1, total)
    self.perHost = max(1, perHost)
    self.besideUrgent = max(0, besideUrgent)
  }
}
