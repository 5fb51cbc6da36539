/// When the transfer thread last looked for what has come, which is taken for the time of all that follows.
///
/// A clock that is read for each line would take a hundredth of the time of a small image. One thread uses it, and
/// ``CurlLoop`` owns the place.
struct StepTime {
  private let place: UnsafeMutablePointer<Moment>

  init(_ place: UnsafeMutablePointer<Moment>) { self.place = place }

  var now: Moment { place.pointee }
}
