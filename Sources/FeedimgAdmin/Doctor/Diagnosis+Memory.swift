import Feedimg
import FeedimgModel
import FeedimgSettings

extension Diagnosis {
  /// How much memory images may take, and whether they give way when it is short.
  static func memory(
    _ configuration: ImageLoader.Configuration,
    _ files: SystemFiles = SystemFiles()
  ) -> [Finding] {
    let folder = try? Folders(configuration).configuration
    let limit = folder.flatMap { SettingsStore(folder: $0).currentSettings().cacheMemoryLimit }
    return [budget(limit, MemoryAllowance(files)), pressure(configuration.environment, files)]
  }

  private static func budget(_ limit: ByteCount?, _ allowance: MemoryAllowance) -> Finding {
    let source =
      switch allowance.origin {
      case .machine: "of memory that this machine has"
      case .group(let folder): "that the control group `\(folder)` allows"
      }
    let text =
      if let limit {
        "images take \(limit) at most, as the settings say"
      } else {
        "images take \(allowance.share.rounded) at most, by the \(ByteCount(allowance.memory).rounded) \(source)"
      }
    return Finding(subject: "memory", verdict: .ok, text: text)
  }

  private static func pressure(_ environment: [String: String], _ files: SystemFiles) -> Finding {
    let place = PSIFile.Place(environment: environment) ?? .system(files)
    let groups = MemoryGroups(files).flatMap { GroupEvents($0, files: files) }
    let group = groups == nil ? nil : "limits of the control group are told by its `memory.events`"
    do throws(SystemReason) {
      _ = try PSIFile(place)
      let stalls = "images give way in steps when `\(place.path)` tells that memory is short"
      let text = [stalls, group].compactMap(\.self).joined(separator: "; ")
      return Finding(subject: "pressure", verdict: .ok, text: text)
    } catch {
      let reason =
        place.path.isEmpty ? "the service manager asks not to listen" : "`\(place.path)`: \(error)"
      let loss = group ?? "images give way only to others"
      return Finding(
        subject: "pressure",
        verdict: .no,
        text: "that memory is short cannot be seen (\(reason)): \(loss)"
      )
    }
  }
}
