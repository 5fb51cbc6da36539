import CCurl
package import FeedimgModel
import Glibc

/// What is known of libcurl before anything is fetched.
package enum CurlVersion {
  /// The versions of libcurl and of what it uses, such as `libcurl/7.88.1 OpenSSL/3.0.17 …`.
  ///
  /// Opens the library, which takes some milliseconds.
  ///
  /// - Throws: ``LoadError`` with `unavailable`, saying what to install.
  package static func text() throws(LoadError) -> String {
    _ = try CurlLibrary.open()
    for name in CurlLibrary.fileNames {
      // It stays open; this counts the use, and the next line takes the count back.
      guard let library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD) else { continue }
      defer { dlclose(library) }
      guard let symbol = dlsym(library, "curl_version") else { continue }
      // The type is that of <curl/curl.h>.
      let version = unsafeBitCast(symbol, to: (@convention(c) () -> UnsafePointer<CChar>?).self)
      if let text = version() { return String(cString: text) }
    }
    return "libcurl"
  }
}
