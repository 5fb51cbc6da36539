import CCurl
import FeedimgModel
import Glibc

/// The want of a descriptor for another socket or file, which is the fault of no server and no network.
enum DescriptorShortage: Sendable {
  /// This process has as many as it may.
  case process
  /// All processes together have as many as the system has.
  case system

  /// - Parameter error: An `errno` of socket(2) or open(2); nil for one that says something else.
  init?(_ error: Int32) {
    switch error {
    case EMFILE: self = .process
    case ENFILE: self = .system
    default: return nil
    }
  }

  /// What may be behind a failure of which libcurl gives no `errno`: the look-up of a name, and certificates, take
  /// descriptors as well.
  ///
  /// - Returns: Nil where it is something else, or there are some again.
  static func behind(_ code: CURLcode) -> DescriptorShortage? {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_SSL_CACERT_BADFILE,
      CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT:
      present
    default: nil
    }
  }

  /// The present one; nil where another descriptor can be had.
  private static var present: DescriptorShortage? {
    let probe = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard probe < 0 else {
      close(probe)
      return nil
    }
    return DescriptorShortage(errno)
  }

  var error: LoadError {
    let message =
      switch self {
      case .process: "too many open files: raise the limit of the program (`ulimit -n`)"
      case .system: "too many open files on this machine: raise its limit (`fs.file-max`)"
      }
    var error = LoadError(.unavailable, message: message)
    error.isShortage = true
    return error
  }
}
