import CFeedimg
import FeedimgModel
import FeedimgPipeline
import Glibc

/// The failure of a function of the C interface.
struct CallError: Error, Sendable {
  let code: CInt
  let message: String
  var url: String?
  var status: Int?
  var retryAfter: Int?

  init(_ code: feedimg_code, _ message: String) { (self.code, self.message) = (code.rawValue, message) }

  init(_ error: ConfigurationError) {
    let code = error.isSystemFailure ? FEEDIMG_ERROR_SYSTEM : FEEDIMG_ERROR_CONFIGURATION
    self.init(code, error.description)
  }

  init(_ error: LoadError) {
    self.init(feedimg_code(error.code), error.message)
    (url, status, retryAfter) = (error.url?.description, error.status, error.retryAfter)
  }
}

/// Runs code that needs valid options.
func configured<Value>(_ body: () throws(ConfigurationError) -> Value) throws(CallError) -> Value {
  do throws(ConfigurationError) { return try body() } catch { throw CallError(error) }
}

extension feedimg_code {
  init(_ code: LoadError.Code) {
    self =
      switch code {
      case .status: FEEDIMG_ERROR_STATUS
      case .truncated: FEEDIMG_ERROR_TRUNCATED
      case .tooLarge: FEEDIMG_ERROR_TOO_LARGE
      case .tooManyRedirects: FEEDIMG_ERROR_TOO_MANY_REDIRECTS
      case .forbiddenRedirect: FEEDIMG_ERROR_FORBIDDEN_REDIRECT
      case .forbiddenAddress: FEEDIMG_ERROR_FORBIDDEN_ADDRESS
      case .notAnImage: FEEDIMG_ERROR_NOT_AN_IMAGE
      case .unknownHost: FEEDIMG_ERROR_UNKNOWN_HOST
      case .connection: FEEDIMG_ERROR_CONNECTION
      case .timeout: FEEDIMG_ERROR_TIMEOUT
      case .security: FEEDIMG_ERROR_SECURITY
      case .cancelled: FEEDIMG_ERROR_CANCELLED
      case .nothingToShow: FEEDIMG_ERROR_NOTHING_TO_SHOW
      case .unavailable: FEEDIMG_ERROR_UNAVAILABLE
      case .malformed: FEEDIMG_ERROR_MALFORMED
      case .invalidPolicy: FEEDIMG_ERROR_POLICY
      }
  }
}

/// A failure as C reads it.
final class ErrorRecord: @unchecked Sendable {
  // Unchecked: the struct never changes, and lives as long as this object.
  let pointer: UnsafePointer<feedimg_error>
  private let message: CText
  private let url: CText

  init(_ failure: CallError) {
    (message, url) = (CText(failure.message), CText(failure.url))
    let error = UnsafeMutablePointer<feedimg_error>.allocate(capacity: 1)
    error.initialize(
      to: feedimg_error(
        size: MemoryLayout<feedimg_error>.stride,
        code: failure.code,
        http_status: CInt(clamping: failure.status ?? 0),
        retry_after: Int64(failure.retryAfter ?? -1),
        message: message.pointer,
        url: url.pointer
      )
    )
    pointer = UnsafePointer(error)
  }

  deinit { pointer.deallocate() }
}

/// Runs the body of a function; a failure becomes its result and the last error of the thread.
func attempt(_ body: () throws(CallError) -> Void) -> CInt {
  attemptCount { () throws(CallError) in
    try body()
    return FEEDIMG_OK.rawValue
  }
}

/// Runs the body of a function that returns a number.
func attemptCount(_ body: () throws(CallError) -> CInt) -> CInt {
  do throws(CallError) {
    return try body()
  } catch {
    let record = ErrorRecord(error)
    withExtendedLifetime(record) { cfeedimg_set_error(record.pointer) }
    return error.code
  }
}
