import Feedimg
import FeedimgModel
import FeedimgSystem

extension Diagnosis {
  /// The memory limit for images, and whether feedimg detects a shortage of memory.
  ///
  /// - Parameters:
  ///   - limit: The limit in the settings, if any.
  ///   - environment: The variables of this process.
  /// - Returns: One finding for each.
  static func memory(_ limit: ByteCount?, _ environment: [String: String]) -> [Finding] {
    let files = SystemFiles()
    return [budget(limit, MemoryAllowance(files)), pressure(environment, files)]
  }

  private static func budget(_ limit: ByteCount?, _ allowance: MemoryAllowance) -> Finding {
    let source =
      switch allowance.origin {
      case .machine: "of memory in this machine"
      case .group(let folder): "that the control group `\(folder)` allows"
      }
    let text =
      if let limit {
        "images use at most \(limit), from the settings"
      } else {
        "images use at most \(allowance.share.rounded), from the \(ByteCount(allowance.memory).rounded) \(source)"
      }
    return Finding("memory", .ok, text)
  }

  private static func pressure(_ environment: [String: String], _ files: SystemFiles) -> Finding {
    let place = PSIFile.Place(environment: environment) ?? .system(files)
    let hasGroups = MemoryGroups(files)?.events(files).isEmpty == false
    let group = hasGroups ? "the limits of the control group are watched in its `memory.events`" : nil
    do throws(FileError) {
      _ = try PSIFile(place)
      let stalls = "images in memory are evicted in steps when `\(place.path)` reports a shortage"
      return Finding("pressure", .ok, [stalls, group].compactMap(\.self).joined(separator: "; "))
    } catch {
      let reason =
        place.path.isEmpty
        ? "the service manager disables it" : "`\(place.path)`: \(FileError.words(for: error.reason))"
      let text =
        if let group {
          "a shortage of the whole system cannot be detected (\(reason)); \(group)"
        } else {
          "a shortage of memory cannot be detected (\(reason)): images in memory are evicted only for other images"
        }
      return Finding("pressure", .no, text)
    }
  }
}
