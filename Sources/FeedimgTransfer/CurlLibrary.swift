import CCurl
package import FeedimgModel
import Glibc

/// libcurl, opened at run time.
///
/// Opening takes about 5 ms, so the first transfer does it.
final class CurlLibrary: @unchecked Sendable {
  // Unchecked: nothing writes the table after `ccurl_open` returns it.
  let table: UnsafePointer<ccurl_library>

  private init(_ table: UnsafeMutablePointer<ccurl_library>) { self.table = UnsafePointer(table) }

  deinit { free(UnsafeMutablePointer(mutating: table)) }

  /// The file names to try, in order: libcurl over OpenSSL, then over GnuTLS.
  static let fileNames = ["libcurl.so.4", "libcurl-gnutls.so.4"]

  var functions: ccurl_library { table.pointee }

  /// Opens the first library of this list that can be opened.
  ///
  /// - Throws: ``LoadError`` with `unavailable`; the message names the package to install.
  static func open(_ names: [String] = fileNames) throws(LoadError) -> CurlLibrary {
    var reasons: [String] = []
    for name in names {
      var reason = [CChar](repeating: 0, count: 256)
      if let table = ccurl_open(name, &reason, reason.count) { return CurlLibrary(table) }
      reasons.append(String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
    let reason = reasons.first.map { " (\($0))" } ?? ""
    throw LoadError(
      .unavailable,
      message: "cannot open libcurl; install the Debian package libcurl4\(reason)"
    )
  }

  /// libcurl's description of a result, such as `Couldn't connect to server`.
  func text(of code: CURLcode) -> String {
    functions.easy_strerror(code).map { String(cString: $0) } ?? "code \(code.rawValue)"
  }
}

/// The versions of libcurl and its libraries, for display.
package enum CurlVersion {
  /// Returns the versions, such as `libcurl/7.88.1 OpenSSL/3.0.17 …`.
  ///
  /// It opens the library, which takes about 5 ms.
  ///
  /// - Throws: ``LoadError`` with `unavailable`; the message names the package to install.
  package static func text() throws(LoadError) -> String {
    try CurlLibrary.open().functions.version().map { String(cString: $0) } ?? "libcurl"
  }
}
