/// How many transfers may run at a time.
struct TransferLimits: Sendable, Hashable {
  /// Over all hosts; at least one.
  ///
  /// For other hosts those do not count that bring nothing (``SilentTransfers``), nor those of slow hosts, as
  /// many again at most.
  var total: Int
  /// To one host; at least one.
  var perHost: Int
  /// Of those less urgent than something that is wanted as well.
  var besideUrgent: Int
  /// Those of which it is not known that they fill the link (``HostPaces``): they hold up nobody else.
  var slowHosts: Set<String>

  init(total: Int, perHost: Int, besideUrgent: Int, slowHosts: Set<String> = []) {
    self.total = max(1, total)
    self.perHost = max(1, perHost)
    self.besideUrgent = max(0, besideUrgent)
    self.slowHosts = slowHosts
  }
}
