// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg.h`.

import CFeedimg
import Feedimg
import FeedimgAdmin
import FeedimgModel
import FeedimgPipeline

@c @implementation
public func feedimg_loader_setting(
  _ out: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ loader: OpaquePointer?,
  _ name: UnsafePointer<CChar>?
) -> CInt {
  attempt { () throws(CallError) in
    let (out, name) = (try given(out, "out"), try given(text(name), "name"))
    let settings = try given(loader, "loader", as: LoaderHandle.self).settings
    out.pointee = try copy(try configured { () throws(ConfigurationError) in try settings.value(of: name) })
  }
}

@c @implementation
public func feedimg_loader_set_setting(
  _ loader: OpaquePointer?,
  _ name: UnsafePointer<CChar>?,
  _ value: UnsafePointer<CChar>?
) -> CInt {
  attempt { () throws(CallError) in
    let settings = try given(loader, "loader", as: LoaderHandle.self).settings
    let (name, value) = (try given(text(name), "name"), text(value))
    try configured { () throws(ConfigurationError) in
      try settings.change([(name, value)])
    }
  }
}

@c @implementation
public func feedimg_loader_usage_json(
  _ out: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ loader: OpaquePointer?,
  _ days: CInt
) -> CInt {
  attempt { () throws(CallError) in
    let out = try given(out, "out")
    out.pointee = try copy(try report(loader, days: days).json)
  }
}

@c @implementation
public func feedimg_loader_usage(
  _ out: UnsafeMutablePointer<UInt64>?,
  _ loader: OpaquePointer?,
  _ days: CInt
) -> CInt {
  attempt { () throws(CallError) in
    let out = try given(out, "out")
    let report = try report(loader, days: days)
    let count = Int(days)
    out.update(repeating: 0, count: count)
    for usage in report.usage {
      // After a change of the time zone, the report may have days after today, and they count as today.
      let place = min(usage.day.daysSince1970 - report.days.lowerBound.daysSince1970, count - 1)
      out[place] = out[place].addingClamped(UInt64(clamping: usage.received.bytes))
    }
  }
}

/// Reads the usage of the last days, after that of the loader was recorded.
private func report(_ loader: OpaquePointer?, days: CInt) throws(CallError) -> UsageReport {
  let loader = try given(loader, "loader", as: LoaderHandle.self)
  guard days > 0 else { throw CallError(FEEDIMG_ERROR_ARGUMENT, "`days` is \(days); expected at least 1") }
  loader.loader.writeUsage()
  return try configured { () throws(ConfigurationError) in
    try Usage(loader.configuration, sharing: loader.parts).report(days: Int(days))
  }
}
