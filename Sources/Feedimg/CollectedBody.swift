import FeedimgCache
import FeedimgModel

/// What has come of an image so far.
struct CollectedBody {
  var requestedAt: Double
  /// Whether the cache has a beginning of the image, which goes when another takes its place.
  var hasBeginning = false
  /// What brings the image, or says that it is still the same.
  var answer: StoredAnswer?
  var bytes: [UInt8] = []
  /// How many of the bytes another transfer has brought.
  var kept = 0
  var mediaType: String?
  /// Why the image is not kept, once that is so.
  var obstacle: String?
  /// Whether the beginning was of no use.
  var startsOver = false
  /// Whether the server has sent less than it was asked for.
  var endsEarly = false
  /// Who has the image as it comes.
  var arrival: Arrival?
  /// Whether the body that comes is none of the image.
  var ignoresBody = false
  var scans = ArrivingScans()
  /// Nil where the cache could not begin to write.
  var writer: (any ImageWriting)?
  var shelter = BodyShelter()
}
