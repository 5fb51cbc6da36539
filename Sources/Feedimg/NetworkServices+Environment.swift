import FeedimgPipeline
package import FeedimgReachability
import Glibc

extension NetworkServices {
  /// Those that a configuration leads to.
  ///
  /// The buses stand in the variables that D-Bus has for them, or where they usually are. The portal is asked only
  /// from within a sandbox, as it knows less of the network than who may look for himself.
  package init(of configuration: ImageLoader.Configuration) {
    let environment = configuration.environment
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    self.init(system: variable("DBUS_SYSTEM_BUS_ADDRESS").map { .at($0) } ?? .system)
    // Flatpak's mark and that of Snap.
    guard variable("SNAP") != nil || access("/.flatpak-info", F_OK) == 0 else { return }
    let usual = variable("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
    portal = (variable("DBUS_SESSION_BUS_ADDRESS") ?? usual).map { .at($0) } ?? .none
  }
}
