import CFeedimg
import Glibc

/// A text for C, which lives as long as this object.
final class CText: @unchecked Sendable {
  // Unchecked: the characters never change.
  let pointer: UnsafePointer<CChar>?

  /// - Parameter text: Nil for NULL.
  init(_ text: String?) { pointer = text.flatMap { UnsafePointer(strdup($0)) } }

  deinit { free(UnsafeMutablePointer(mutating: pointer)) }
}

/// Returns a text from C; nil for NULL.
func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }

/// Returns a copy of a text that the program frees.
func copy(_ text: String) throws(Failure) -> UnsafeMutablePointer<CChar> {
  guard let copy = strdup(text) else { throw Failure(FEEDIMG_ERROR_UNAVAILABLE, "no memory is left") }
  return copy
}
