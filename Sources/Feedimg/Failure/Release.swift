/// Who goes on, as an origin has answered or a trial of it is over.
struct Release: Sendable {
  /// What loads wait for until one of them has tried the origin.
  var trial: TrialEnd?
  /// Who begins anew.
  var woken: [OriginVigil.Entry] = []

  /// Lets them, those first whose need is most urgent.
  func tell() {
    trial?.tell()
    for entry in woken.inOrder { entry.waiter.wake(.return) }
  }
}
