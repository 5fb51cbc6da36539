import CFeedimg
import Glibc

/// Returns a handle of an object, which retains it until ``release(_:as:)``.
func handle(_ object: some AnyObject & Sendable) -> OpaquePointer {
  OpaquePointer(Unmanaged.passRetained(object).toOpaque())
}

/// Returns the object of a handle; nil for NULL.
func object<Object: AnyObject>(_ handle: OpaquePointer?, as type: Object.Type) -> Object? {
  handle.map { Unmanaged<Object>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
}

/// Frees a handle, and returns its object; nil for NULL.
@discardableResult
func release<Object: AnyObject>(_ handle: OpaquePointer?, as type: Object.Type) -> Object? {
  handle.map { Unmanaged<Object>.fromOpaque(UnsafeRawPointer($0)).takeRetainedValue() }
}

/// Returns an argument of a function; NULL is a failure.
func given<Value>(_ argument: Value?, _ name: StaticString) throws(CallError) -> Value {
  guard let argument else { throw CallError(FEEDIMG_ERROR_ARGUMENT, "`\(name)` is NULL") }
  return argument
}

/// Returns the object of a handle; NULL is a failure.
func given<Object: AnyObject>(
  _ handle: OpaquePointer?,
  _ name: StaticString,
  as type: Object.Type
) throws(CallError) -> Object {
  try given(object(handle, as: type), name)
}

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
func copy(_ text: String) throws(CallError) -> UnsafeMutablePointer<CChar> {
  guard let copy = strdup(text) else { throw CallError(FEEDIMG_ERROR_UNAVAILABLE, "no memory is left") }
  return copy
}
